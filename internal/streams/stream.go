package streams

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Stream is a stream as the service reports it (interface document, section 2).
type Stream struct {
	ID                   string
	TerminalID           string
	FragmentTypeID       string
	ProcessorIDs         ProcessorSet
	LastEdited           int64    // epoch milliseconds
	CompatibleNamespaces []string // sorted, each once
}

// CheckStreamID says why id cannot address a stream, or returns nil. The interface document gives
// no format (section 2), so only what a URL path cannot carry safely is refused.
func CheckStreamID(id string) error {
	// Servers and proxies resolve dot segments, escaped or not: the request would miss the stream.
	if id == "." || id == ".." {
		return fmt.Errorf("must not be %q: a URL path cannot carry it as a name", id)
	}
	if strings.ContainsFunc(id, unicode.IsControl) {
		return errors.New("must not contain control characters")
	}
	return CheckProcessorID(id)
}

// CheckProcessorID says why id cannot be a processor's id, or returns nil.
func CheckProcessorID(id string) error {
	switch {
	case id == "":
		return errors.New("must not be empty")
	case strings.TrimSpace(id) != id:
		return errors.New("must not begin or end with white space")
	}
	return nil
}

// decodeStream reads a success body. It is stricter than encoding/json, which takes null, other
// spellings of a key and missing fields for zero values; all that is wrong is reported at once.
func decodeStream(body []byte) (*Stream, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("the answer is not UTF-8 text")
	}
	if len(strings.TrimSpace(string(body))) == 0 {
		return nil, errors.New("the answer has no body")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return nil, errors.New("the answer is not a JSON object")
	}

	var wrong []string
	var s Stream
	decode := func(name, kind string, read func(json.RawMessage) bool) {
		switch raw, ok := fields[name]; {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("%s is missing", name))
		case !read(raw):
			wrong = append(wrong, fmt.Sprintf("%s is not %s", name, kind))
		}
	}
	decode("id", "a string", stringInto(&s.ID))
	decode("terminal_id", "a string", stringInto(&s.TerminalID))
	decode("fragment_type_id", "a string", stringInto(&s.FragmentTypeID))
	decode("processor_ids", "an array of strings", processorSetInto(&s.ProcessorIDs))
	decode("last_edited", "an integer", integerInto(&s.LastEdited))
	decode("compatible_namespaces", "an array of strings", stringSetInto(&s.CompatibleNamespaces))
	if wrong != nil {
		return nil, errors.New("the answer is not a stream: " + strings.Join(wrong, ", "))
	}
	return &s, nil
}

func stringInto(to *string) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var v *string
		if json.Unmarshal(raw, &v) != nil || v == nil {
			return false
		}
		*to = *v
		return true
	}
}

func processorSetInto(to *ProcessorSet) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool { return json.Unmarshal(raw, to) == nil }
}

func stringSetInto(to *[]string) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		values, err := decodeStringArray(raw)
		if err != nil {
			return false
		}
		slices.Sort(values)
		*to = slices.Compact(values)
		return true
	}
}

// integerInto takes 1.718e12 for the integer it is: some services encode every number that way.
func integerInto(to *int64) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var err error
		if *to, err = strconv.ParseInt(string(raw), 10, 64); err == nil {
			return true
		}
		var f *float64
		if json.Unmarshal(raw, &f) != nil || f == nil || math.Trunc(*f) != *f || math.Abs(*f) >= 1<<53 {
			return false
		}
		*to = int64(*f)
		return true
	}
}
