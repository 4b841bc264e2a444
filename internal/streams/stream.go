package streams

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
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

// ShownProcessors returns the set after an update for a person: known secrets are masked in ids that the user did not write.
func (s *Stream) ShownProcessors() string { return cmp.Or(s.shown, s.ProcessorIDs.String()) }

// CheckStreamID returns an error, such as "must not be empty", if a URL path cannot contain the id.
func CheckStreamID(id string) error {
	// Servers and proxies resolve dot segments, escaped or not, and the request would miss the stream.
	if id == "." || id == ".." {
		return fmt.Errorf("must not be %q, which has a special meaning in a URL path", id)
	}
	return cmp.Or(CheckLine(id), CheckProcessorID(id))
}

// CheckLine returns an error, such as "must not have control characters", if a text cannot be a value of one line. Texts often come from
// files, with what these have at their ends, and a terminal shows none of it.
func CheckLine(text string) error {
	switch {
	case strings.Contains(text, "\ufeff"):
		return errors.New("must not have a byte order mark (U+FEFF), with which some editors begin a file")
	case strings.TrimSpace(text) != text:
		return errWhiteSpace
	case strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("must not have control characters, such as a line break")
	}
	return nil
}

// CheckProcessorID returns an error, such as "must not be empty", if id cannot be a processor id.
func CheckProcessorID(id string) error {
	switch {
	case id == "":
		return errors.New("must not be empty")
	case strings.HasPrefix(id, "\ufeff"): // that of a file: a plan does not show it, and the service may accept any id
		return errors.New("must not begin with a byte order mark (U+FEFF)")
	case strings.TrimSpace(id) != id:
		return errWhiteSpace
	}
	return nil
}

var errWhiteSpace = errors.New("must not begin or end with white space, such as the line break of a file")

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

// nfc returns the set in NFC, the normal form in which Terraform stores texts.
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

// Integer is an integer in JSON, which may be written as 5, 5.0 or 0.5e1.
type Integer int64

// UnmarshalJSON judges a number by its value. It refuses a fraction, a text, and what int64 does not have.
func (i *Integer) UnmarshalJSON(data []byte) error {
	const longest = 150 // package big takes long for a text of a megabyte
	var n big.Rat
	_, isNumber := n.SetString(string(data[:min(len(data), longest)]))
	if len(data) > longest || !isNumber || !n.IsInt() || !n.Num().IsInt64() {
		return errors.New("must be an integer of 64 bits")
	}
	*i = Integer(n.Num().Int64())
	return nil
}

// fieldsOf returns the fields of the JSON object in a response.
func fieldsOf(body []byte) (fields map[string]json.RawMessage, err error) {
	switch {
	case len(body) > transport.MaxBody:
		return nil, fmt.Errorf("the response is longer than %d MiB", transport.MaxBody>>20)
	case !utf8.Valid(body):
		return nil, errors.New("the response is not UTF-8 text")
	case len(bytes.TrimSpace(body)) == 0:
		return nil, errors.New("the response has no body")
	case json.Unmarshal(body, &fields) != nil || fields == nil:
		return nil, errors.New("the response is not a JSON object")
	}
	return fields, nil
}

// decode reads the stream in a 2xx response. It is stricter than encoding/json, which accepts null, missing fields and
// other spellings of a name. All texts are in NFC, in which Terraform stores them.
func decode(body []byte, id string, secrets *masking.Redactor) (*Stream, error) {
	fields, err := fieldsOf(body)
	if err != nil {
		return nil, err
	}
	var problems []string
	var s Stream
	field := func(name, typeName string, to any) {
		switch raw, ok := fields[name]; {
		case !ok:
			problems = append(problems, name+" is missing")
		case !decodeValue(raw, to):
			problems = append(problems, name+" is not "+typeName)
		}
	}
	var namespaces ProcessorSet // a set of strings, too
	field("id", "a string", &s.ID)
	field("terminal_id", "a string", &s.TerminalID)
	field("fragment_type_id", "a string", &s.FragmentTypeID)
	field("processor_ids", "an array of strings", &s.ProcessorIDs)
	field("last_edited", "an integer", (*Integer)(&s.LastEdited))
	field("compatible_namespaces", "an array of strings", &namespaces)
	s.ID = norm.NFC.String(s.ID)
	switch {
	case problems != nil:
		return nil, fmt.Errorf("%w: %s", ErrInvalidStream, strings.Join(problems, ", "))
	case s.ID != norm.NFC.String(id):
		return nil, fmt.Errorf("%w, %q", ErrOtherStream, secrets.Mask(s.ID, masking.MaxText))
	}
	s.TerminalID, s.FragmentTypeID = norm.NFC.String(s.TerminalID), norm.NFC.String(s.FragmentTypeID)
	s.ProcessorIDs, s.CompatibleNamespaces = s.ProcessorIDs.nfc(), namespaces.nfc().IDs()
	return &s, nil
}

// Causes of an error about a 2xx response.
var (
	ErrInvalidStream = errors.New("the response is not a valid stream")
	ErrOtherStream   = errors.New("the response describes another stream")
)

// decodeValue reports whether raw was of the type of to. Unlike package json, it refuses null.
func decodeValue(raw json.RawMessage, to any) bool {
	return string(raw) != "null" && json.Unmarshal(raw, to) == nil
}
