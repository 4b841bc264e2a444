package streams

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// byteOrderMark begins a text in UTF-8 that some programs wrote. JSON does not allow it.
var byteOrderMark = []byte("\ufeff")

// decode reads the stream in a 2xx response (INTERFACE.md, section 4). It is stricter than encoding/json, which accepts
// null, missing fields and other spellings of a name. Its error lists all problems. All texts are in NFC, in which
// Terraform stores them.
func decode(resp *http.Response, body []byte, id string, secrets *redactor) (*Stream, error) {
	coding, text := resp.Header.Get("Content-Encoding"), bytes.TrimPrefix(body, byteOrderMark)
	var fields map[string]json.RawMessage
	switch {
	case coding != "" && coding != "identity":
		coding = secrets.mask(coding, maxText)
		return nil, fmt.Errorf("the response has the Content-Encoding %q, which the request does not allow", coding)
	case len(body) > maxBody:
		return nil, fmt.Errorf("the response is longer than %d MiB", maxBody>>20)
	case !utf8.Valid(text):
		return nil, errors.New("the response is not UTF-8 text")
	case len(bytes.TrimSpace(text)) == 0:
		return nil, errors.New("the response has no body")
	case json.Unmarshal(text, &fields) != nil || fields == nil:
		return nil, errors.New("the response is not a JSON object")
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
	field("last_edited", "an integer", &s.LastEdited)
	field("compatible_namespaces", "an array of strings", &namespaces)
	if problems != nil {
		return nil, errors.New("the response is not a stream: " + strings.Join(problems, ", "))
	}
	if s.ID = norm.NFC.String(s.ID); s.ID != norm.NFC.String(id) {
		return nil, fmt.Errorf("the response describes another stream, %q", secrets.mask(s.ID, maxText))
	}
	s.TerminalID, s.FragmentTypeID = norm.NFC.String(s.TerminalID), norm.NFC.String(s.FragmentTypeID)
	s.ProcessorIDs, s.CompatibleNamespaces = s.ProcessorIDs.nfc(), namespaces.nfc().IDs()
	return &s, nil
}

// decodeValue reports whether raw was of the type of to. Unlike package json, it refuses null.
func decodeValue(raw json.RawMessage, to any) bool {
	return string(raw) != "null" && json.Unmarshal(raw, to) == nil
}

// readMessage returns the message of an error body, and whether the body has the documented form
// (INTERFACE.md, section 2). For any other body it returns the text.
func readMessage(body []byte, secrets *redactor) (message string, documented bool) {
	body = bytes.TrimPrefix(body, byteOrderMark)
	// Not a struct: that would accept "Message", which web frameworks send for an unknown route.
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) == nil && decodeValue(fields["message"], &message) {
		return secrets.printable(message, maxMessage), true
	}
	text := secrets.mask(string(body), maxShown)
	if strings.HasPrefix(http.DetectContentType(body), "text/html") {
		text = "HTML page: " + html.UnescapeString(markup.ReplaceAllString(text, " "))
	}
	return secrets.printable(strings.Join(strings.Fields(text), " "), maxText), false
}

// markup is what a browser does not show of a web page. The first characters of a page are markup, and say nothing.
var markup = regexp.MustCompile(`(?is)<!--.*?-->|<(script|style|svg|noscript|template)\b.*?` +
	`(</(script|style|svg|noscript|template)\s*>|$)|<[^>]*>`)
