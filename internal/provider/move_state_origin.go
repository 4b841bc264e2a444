package provider

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// origins are the resource types that a moved block can name.
var origins = map[string]struct {
	provider string // last part of the address: mirrors and forks have other hosts and namespaces
	newest   int64  // known schema version
	read     func(*originState) exchange
}{
	"restful_operation": {"restful", 2, readRestful},
	"restapi_object":    {"restapi", 0, readRestapi},
	"terracurl_request": {"terracurl", 1, readTerracurl},
}

// exchange is the request that a resource of a generic provider describes, and its response.
type exchange struct {
	methods  []string        // as far as the state has them
	target   string          // URL, or path below a base address that the state does not have
	sent     json.RawMessage // body of the request
	status   string          // status of the response; "" if the state does not have it
	received json.RawMessage // body of the response
	inDoubt  bool            // the service may not have accepted what was sent
}

// readRestful reads a restful_operation. Bodies are texts in schema 0 and dynamic values since.
func readRestful(s *originState) exchange {
	x := exchange{methods: []string{s.text("method")}, target: s.text("path"), sent: s.dynamic("body"), received: s.dynamic("output")}
	if x.received == nil {
		x.received = s.dynamic("sensitive_output")
	}
	return x
}

// readRestapi reads a restapi_object. Its methods are mostly set on the provider, which no state has.
func readRestapi(s *originState) exchange {
	target := cmp.Or(s.text("update_path"), s.text("create_path"), s.text("path"))
	if collection := strings.TrimRight(target, "/"); strings.HasSuffix(collection, "streams") {
		target = collection + "/{id}"
	}
	return exchange{
		methods:  slices.DeleteFunc([]string{s.text("create_method"), s.text("update_method")}, func(m string) bool { return m == "" }),
		target:   strings.ReplaceAll(target, "{id}", s.text("id")),
		sent:     s.attributes["data"],
		received: s.attributes["api_response"],
		// A failed update leaves its data and no response. With update_data, either may be the last that was sent.
		inDoubt: s.text("api_response") == "" || s.text("update_data") != "",
	}
}

// readTerracurl reads a terracurl_request.
func readTerracurl(s *originState) exchange {
	return exchange{
		methods:  []string{s.text("method")},
		target:   s.text("url"),
		sent:     s.attributes["request_body"],
		status:   s.text("status_code"),
		received: s.attributes["response"],
	}
}

// originState is the state of a resource of another provider. It may contain secrets, so errors name
// attributes and quote no values.
type originState struct {
	attributes map[string]json.RawMessage
	wrong      error // the last attribute that text could not return
}

func readOrigin(raw []byte) (*originState, error) {
	var s originState
	if json.Unmarshal(raw, &s.attributes) != nil || s.attributes == nil {
		return nil, errors.New("its state is not a JSON object")
	}
	return &s, nil
}

// text returns an attribute that is a string; "" if it is null.
func (s *originState) text(name string) string {
	raw := s.attributes[name]
	text := decodeJSON[string](raw)
	switch {
	case text != nil:
		return *text
	case raw != nil && string(raw) != "null":
		s.wrong = fmt.Errorf("its %s is not a string", name)
	}
	return ""
}

// dynamic returns an attribute, without the type if it was saved with one; nil if it is null.
func (s *originState) dynamic(name string) json.RawMessage {
	raw := s.attributes[name]
	if typed := decodeJSON[struct{ Value, Type json.RawMessage }](raw); typed != nil && typed.Type != nil {
		raw = typed.Value
	}
	if string(raw) == "null" {
		return nil
	}
	return raw
}

func processorIDsIn(body map[string]json.RawMessage) (types.Set, error) {
	none := types.SetNull(types.StringType)
	if body["processor_ids"] == nil {
		return none, errors.New("has no processor_ids")
	}
	ids := decodeJSON[streams.ProcessorSet](body["processor_ids"])
	if ids == nil {
		return none, errors.New("has processor_ids that are not an array of strings")
	}
	for _, id := range ids.IDs() {
		if err := streams.CheckProcessorID(id); err != nil {
			return none, fmt.Errorf("has a processor id that is not one: it %w", err)
		}
	}
	return stringSet(ids.IDs()), nil
}

// jsonObject reads a JSON object, also one in a JSON string, as some bodies are. No text has no fields.
func jsonObject(raw json.RawMessage) (map[string]json.RawMessage, error) {
	for text := decodeJSON[string](raw); text != nil; text = decodeJSON[string](raw) {
		raw = json.RawMessage(*text)
	}
	if strings.TrimSpace(string(raw)) == "" {
		return nil, nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil, errors.New("is not a JSON object")
	}
	return fields, nil
}

// decodeJSON reads a JSON value, or nil where there is none of that type.
func decodeJSON[T any](raw json.RawMessage) *T {
	var value *T
	if json.Unmarshal(raw, &value) != nil {
		return nil
	}
	return value
}

// streamIDIn finds the id in …/v2/streams/{id}. Its errors show only the path: the rest of a URL may
// contain a password or a token.
func streamIDIn(target string) (string, error) {
	u, err := url.Parse(target)
	if err != nil {
		return "", errors.New("its path is malformed")
	}
	segments := strings.FieldsFunc(u.EscapedPath(), func(r rune) bool { return r == '/' })
	if len(segments) == 2 && u.Scheme+u.Host == "" {
		segments = append([]string{"v2"}, segments...) // which the base address has then
	}
	n := len(segments)
	if n < 3 || segments[n-3] != "v2" || segments[n-2] != "streams" {
		return "", fmt.Errorf("its path is %q, not /v2/streams/{id}", u.EscapedPath())
	}
	id, err := url.PathUnescape(segments[n-1])
	if err == nil {
		err = streams.CheckStreamID(id)
	}
	if err == nil && !utf8.ValidString(id) {
		err = errors.New("must be UTF-8 text")
	}
	if err != nil {
		return "", fmt.Errorf("its path names stream %q, and a stream id %w", segments[n-1], err)
	}
	return id, nil
}
