package streams

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// byteOrderMark begins a text in UTF-8 that some programs wrote. JSON does not allow it.
var byteOrderMark = []byte("\ufeff")

// decodeStream reads the body of a 2xx response (INTERFACE.md, section 4). It is stricter than encoding/json,
// which accepts null, missing fields and other spellings of a name. Its error lists all problems.
func decodeStream(body []byte) (*Stream, error) {
	if len(body) > maxBody {
		return nil, fmt.Errorf("the response is longer than %d MiB", maxBody>>20)
	}
	body = bytes.TrimPrefix(body, byteOrderMark)
	if !utf8.Valid(body) {
		return nil, errors.New("the response is not UTF-8 text")
	}
	if len(strings.TrimSpace(string(body))) == 0 {
		return nil, errors.New("the response has no body")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return nil, errors.New("the response is not a JSON object")
	}

	var problems []string
	var s Stream
	decode := func(name, typeName string, decoded func(json.RawMessage) bool) {
		switch raw, ok := fields[name]; {
		case !ok:
			problems = append(problems, fmt.Sprintf("%s is missing", name))
		case !decoded(raw):
			problems = append(problems, fmt.Sprintf("%s is not %s", name, typeName))
		}
	}
	decode("id", "a string", into(&s.ID))
	decode("terminal_id", "a string", into(&s.TerminalID))
	decode("fragment_type_id", "a string", into(&s.FragmentTypeID))
	decode("processor_ids", "an array of strings", processorSetInto(&s.ProcessorIDs))
	decode("last_edited", "an integer", into(&s.LastEdited))
	decode("compatible_namespaces", "an array of strings", stringSetInto(&s.CompatibleNamespaces))
	if problems != nil {
		return nil, errors.New("the response is not a stream: " + strings.Join(problems, ", "))
	}
	return &s, nil
}

// into decodes a value of this type. Unlike package json, it refuses null.
func into[T string | int64](to *T) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var value *T
		if json.Unmarshal(raw, &value) != nil || value == nil {
			return false
		}
		*to = *value
		return true
	}
}

func processorSetInto(to *ProcessorSet) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool { return json.Unmarshal(raw, to) == nil }
}

func stringSetInto(to *[]string) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		elements, err := decodeStringArray(raw)
		if err != nil {
			return false
		}
		slices.Sort(elements)
		*to = slices.Compact(elements)
		return true
	}
}

// decodeStringArray refuses null, which package json would decode as a nil slice or an empty string.
func decodeStringArray(data []byte) ([]string, error) {
	var elements []*string
	if err := json.Unmarshal(data, &elements); err != nil {
		return nil, err
	}
	if elements == nil || slices.Contains(elements, nil) {
		return nil, errors.New("must be an array of strings, without null")
	}
	decoded := make([]string, len(elements))
	for i, element := range elements {
		decoded[i] = *element
	}
	return decoded, nil
}
