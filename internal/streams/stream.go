package streams

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Stream is a stream as the service reports it (INTERFACE.md, section 2).
type Stream struct {
	ID                   string
	TerminalID           string
	FragmentTypeID       string
	ProcessorIDs         ProcessorSet
	LastEdited           int64    // epoch milliseconds
	CompatibleNamespaces []string // sorted, each once, never nil

	shown string // see ShownProcessors
}

// ShownProcessors returns the set for errors and warnings: known secrets are masked in the ids that the user did not
// write, because the service may repeat a secret. The fields are what it reported, so that a state is truthful.
func (s *Stream) ShownProcessors() string { return cmp.Or(s.shown, s.ProcessorIDs.String()) }

// CheckStreamID returns an error, such as "must not be empty", if id cannot address a stream. The
// format of ids is not shown (INTERFACE.md, section 2), so any id is valid that a URL path can contain.
func CheckStreamID(id string) error {
	// Servers and proxies resolve dot segments, escaped or not, and the request would miss the stream.
	if id == "." || id == ".." {
		return fmt.Errorf("must not be %q, which has a special meaning in a URL path", id)
	}
	for _, c := range id { // a terminal shows none of these
		switch {
		case c == '\ufeff':
			return errors.New("must not contain a byte order mark (U+FEFF)")
		case unicode.IsControl(c):
			return fmt.Errorf("must not contain the control character %U", c)
		}
	}
	return CheckProcessorID(id)
}

// CheckProcessorID returns an error, such as "must not be empty", if id cannot be a processor id.
func CheckProcessorID(id string) error {
	switch {
	case id == "":
		return errors.New("must not be empty")
	case strings.TrimSpace(id) != id:
		return errors.New("must not begin or end with white space")
	}
	return nil
}

// ProcessorSet is a set of processor ids. The zero value is the empty set. A set never changes: copies may be shared.
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
	if json.Unmarshal(data, &elements) != nil || elements == nil || slices.Contains(elements, nil) {
		return errors.New("must be an array of strings, without null")
	}
	ids := make([]string, len(elements))
	for i, element := range elements {
		ids[i] = *element
	}
	*s = NewProcessorSet(ids...)
	return nil
}
