package streams

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// byteOrderMark begins a text in UTF-8 that some programs wrote. JSON does not allow it.
var byteOrderMark = []byte("\ufeff")

// decode reads the stream in a 2xx response (INTERFACE.md, section 4). It is stricter than encoding/json, which accepts
// null, missing fields and other spellings of a name. Its error lists all problems. Bodies are read one at a time,
// because a set in JSON needs many times its size. All texts are in NFC, in which Terraform stores them.
func (c *Client) decode(resp *http.Response, body []byte, id string) (*Stream, error) {
	c.decoding.Lock()
	defer c.decoding.Unlock()
	if coding := resp.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return nil, fmt.Errorf("the response has the Content-Encoding %q, which the request does not allow", c.redactor.mask(coding))
	}
	if len(body) > maxBody {
		return nil, fmt.Errorf("the response is longer than %d MiB", maxBody>>20)
	}
	body = bytes.TrimPrefix(body, byteOrderMark)
	if !utf8.Valid(body) {
		return nil, errors.New("the response is not UTF-8 text")
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, errors.New("the response has no body")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return nil, errors.New("the response is not a JSON object")
	}

	var problems []string
	var s Stream
	decode := func(name, typeName string, to any) {
		switch raw, ok := fields[name]; {
		case !ok:
			problems = append(problems, name+" is missing")
		case !decodeValue(raw, to):
			problems = append(problems, name+" is not "+typeName)
		}
	}
	var namespaces ProcessorSet // a set of strings, too
	decode("id", "a string", &s.ID)
	decode("terminal_id", "a string", &s.TerminalID)
	decode("fragment_type_id", "a string", &s.FragmentTypeID)
	decode("processor_ids", "an array of strings", &s.ProcessorIDs)
	decode("last_edited", "an integer", &s.LastEdited)
	decode("compatible_namespaces", "an array of strings", &namespaces)
	if problems != nil {
		return nil, errors.New("the response is not a stream: " + strings.Join(problems, ", "))
	}
	if s.ID = norm.NFC.String(s.ID); s.ID != norm.NFC.String(id) {
		return nil, fmt.Errorf("the response describes another stream, %q", c.redactor.mask(s.ID))
	}
	s.TerminalID, s.FragmentTypeID = norm.NFC.String(s.TerminalID), norm.NFC.String(s.FragmentTypeID)
	s.ProcessorIDs, s.CompatibleNamespaces = s.ProcessorIDs.nfc(), namespaces.nfc().IDs()
	return &s, nil
}

// decodeValue reports whether raw was of the type of to. Unlike package json, it refuses null.
func decodeValue(raw json.RawMessage, to any) bool {
	return string(raw) != "null" && json.Unmarshal(raw, to) == nil
}
