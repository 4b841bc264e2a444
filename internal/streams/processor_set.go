package streams

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// ProcessorSet is a set of processor ids (INTERFACE.md, section 2: processor_ids). The zero value
// is the empty set. A set never changes, so copies may be shared.
type ProcessorSet struct {
	ids []string // sorted, each once
}

// NewProcessorSet returns the set of the given ids. Order and repetition do not matter.
func NewProcessorSet(ids ...string) ProcessorSet {
	return ProcessorSet{ids: slices.Compact(slices.Sorted(slices.Values(ids)))}
}

// IDs returns the ids in ascending order, as a copy that is never nil.
func (s ProcessorSet) IDs() []string { return append([]string{}, s.ids...) }

// Len returns the number of ids.
func (s ProcessorSet) Len() int { return len(s.ids) }

// Equal reports whether both sets have the same ids.
func (s ProcessorSet) Equal(other ProcessorSet) bool { return slices.Equal(s.ids, other.ids) }

// Minus returns the ids of s that are not in other.
func (s ProcessorSet) Minus(other ProcessorSet) ProcessorSet {
	return ProcessorSet{slices.DeleteFunc(s.IDs(), other.contains)}
}

func (s ProcessorSet) contains(id string) bool {
	_, found := slices.BinarySearch(s.ids, id)
	return found
}

// nfc returns the set with ids in NFC, the normal form in which Terraform stores texts.
func (s ProcessorSet) nfc() ProcessorSet {
	ids := s.IDs()
	for i, id := range ids {
		ids[i] = norm.NFC.String(id)
	}
	return NewProcessorSet(ids...)
}

// String returns the set as Terraform writes a list of strings: ["a", "b"].
func (s ProcessorSet) String() string {
	quoted := make([]string, len(s.ids))
	for i, id := range s.ids {
		quoted[i] = strconv.Quote(id)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// MarshalJSON returns an array, [] for the empty set.
func (s ProcessorSet) MarshalJSON() ([]byte, error) { return json.Marshal(s.IDs()) }

// UnmarshalJSON accepts an array of strings. Unlike a []string, it refuses null, for the array and for each element.
func (s *ProcessorSet) UnmarshalJSON(data []byte) error {
	var elements []*string
	if err := json.Unmarshal(data, &elements); err != nil {
		return err
	}
	if elements == nil || slices.Contains(elements, nil) {
		return errors.New("must be an array of strings, without null")
	}
	ids := make([]string, len(elements))
	for i, element := range elements {
		ids[i] = *element
	}
	*s = NewProcessorSet(ids...)
	return nil
}

// marshalUnescaped encodes v without the HTML escapes of [json.Marshal], so that ids are sent as they were written.
func marshalUnescaped(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
