// Package moved reads the states of generic HTTP providers. It knows no Terraform, and sends nothing.
package moved

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Stream has the fields of a stream (INTERFACE.md, section 2) that a state has. The others are nil.
type Stream struct {
	ID                   *string               `json:"id"`
	TerminalID           *string               `json:"terminal_id"`
	FragmentTypeID       *string               `json:"fragment_type_id"`
	ProcessorIDs         *streams.ProcessorSet `json:"processor_ids"`
	LastEdited           *int64                `json:"last_edited"`           // epoch milliseconds
	CompatibleNamespaces *streams.ProcessorSet `json:"compatible_namespaces"` // a set of strings, too
}

// CanRead reports whether the states of a resource type of a provider can be read. The provider is given by its
// address, of which some OpenTofu versions know only the last part, or nothing.
func CanRead(typeName, providerAddress string) bool {
	origin, ok := origins[typeName]
	provider := providerAddress[strings.LastIndex(providerAddress, "/")+1:]
	return ok && (provider == "" || provider == origin.provider)
}

// Read reads the state of a resource of a type that [CanRead] accepts. The error says why the resource cannot be moved,
// and contains no secret. With an error, the stream has its id if that is known.
func Read(typeName string, schemaVersion int64, state []byte) (Stream, error) {
	origin := origins[typeName]
	if schemaVersion > origin.newest {
		return Stream{}, fmt.Errorf("its schema version is %d, and only those up to %d are known", schemaVersion, origin.newest)
	}
	var values attributes
	if json.Unmarshal(state, &values) != nil {
		return Stream{}, errors.New("its state does not have the form of a " + typeName)
	}
	return origin.read(values).stream()
}

// stream returns what an exchange attached to a stream. A reported set counts more than the set that was sent. There is
// no set if the service never confirmed one, so that the next apply sends the configured set.
func (x exchange) stream() (Stream, error) {
	id, err := streamIDIn(x.target)
	if err != nil {
		return Stream{}, err
	}
	onlyID := Stream{ID: &id}
	for _, method := range x.methods {
		if !strings.EqualFold(method, http.MethodPatch) {
			return onlyID, fmt.Errorf("its method is %q, not PATCH", method)
		}
	}
	if x.status != "" && x.status[0] != '2' {
		return onlyID, fmt.Errorf("its request failed with status %q", x.status)
	}
	sent, err := x.sent.stream()
	if err == nil && sent.ProcessorIDs == nil {
		err = errors.New("has no processor_ids")
	}
	if err != nil {
		return onlyID, fmt.Errorf("its request body %w", err)
	}
	reported, err := x.received.stream()
	if err != nil {
		return onlyID, fmt.Errorf("its response %w", err)
	}
	if reported.ID != nil && *reported.ID != id {
		return Stream{}, fmt.Errorf("its path names stream %q, and its response does not", id)
	}
	reported.ID = &id
	if !x.unknown {
		reported.ProcessorIDs = cmp.Or(reported.ProcessorIDs, sent.ProcessorIDs)
	}
	return reported, nil
}

// origins are the resource types that a moved block can name.
var origins = map[string]struct {
	provider string // last part of the address: mirrors and forks have other hosts and namespaces
	newest   int64  // known schema version
	read     func(attributes) exchange
}{
	"restful_operation": {"restful", 2, func(s attributes) exchange {
		return exchange{methods: []string{s.Method}, target: s.Path, sent: s.Body, received: cmp.Or(s.Output, s.SensitiveOutput)}
	}},
	"restful_resource": {"restful", 2, readRestfulResource},
	"restapi_object":   {"restapi", 0, readRestapi},
	"terracurl_request": {"terracurl", 1, func(s attributes) exchange {
		return exchange{methods: []string{s.Method}, target: s.URL, sent: s.RequestBody, status: s.StatusCode, received: s.Response}
	}},
}

// attributes are those of all types. They may contain secrets, so errors name attributes and quote no values.
type attributes struct {
	Method, Path, URL, ID string

	Body, Output    body // restful_operation, restful_resource
	SensitiveOutput body `json:"sensitive_output"`

	CreateMethod      string `json:"create_method"` // restful_resource, restapi_object
	UpdateMethod      string `json:"update_method"`
	UpdateBodyPatches body   `json:"update_body_patches"`

	CreatePath  string `json:"create_path"` // restapi_object
	UpdatePath  string `json:"update_path"`
	Data        body
	UpdateData  body `json:"update_data"`
	APIResponse body `json:"api_response"`

	RequestBody body   `json:"request_body"` // terracurl_request
	StatusCode  string `json:"status_code"`
	Response    body
}

// exchange is the request that a resource of a generic provider describes, and its response.
type exchange struct {
	methods  []string // as far as the state has them
	target   string   // URL, or path below a base address that the state does not have
	sent     body
	status   string // of the response; "" if the state does not have it
	received body
	unknown  bool // the outcome: the service may not have accepted what was sent
}

// readRestfulResource reads a restful_resource, whose default method is not PATCH. Its output is what it read last.
func readRestfulResource(s attributes) exchange {
	return exchange{
		methods:  []string{s.CreateMethod, cmp.Or(s.UpdateMethod, s.CreateMethod)},
		target:   s.Path,
		sent:     s.Body,
		received: cmp.Or(s.Output, s.SensitiveOutput),
		unknown:  s.UpdateBodyPatches != "", // which the body does not have
	}
}

// readRestapi reads a restapi_object. Its methods are mostly set on the provider, which no state has.
func readRestapi(s attributes) exchange {
	target := cmp.Or(s.UpdatePath, s.CreatePath, s.Path)
	if collection := strings.TrimRight(target, "/"); strings.HasSuffix(collection, "streams") {
		target = collection + "/{id}"
	}
	return exchange{
		methods:  slices.DeleteFunc([]string{s.CreateMethod, s.UpdateMethod}, func(m string) bool { return m == "" }),
		target:   strings.ReplaceAll(target, "{id}", s.ID),
		sent:     s.Data,
		received: s.APIResponse,
		// A failed update leaves its data and no response. With update_data, either may be the last that was sent.
		unknown: s.APIResponse == "" || s.UpdateData != "",
	}
}

// body is a body in JSON; "" if there is none.
type body string

// UnmarshalJSON reads a body that was saved as a text, or as a dynamic value, which has its type beside it.
func (b *body) UnmarshalJSON(raw []byte) error {
	var typed struct{ Value, Type json.RawMessage }
	if json.Unmarshal(raw, &typed) == nil && typed.Type != nil {
		raw = typed.Value
	}
	var text string // "" also for null
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	*b = body(strings.TrimSpace(text))
	return nil
}

// stream reads a body, which may also be missing or empty.
func (b body) stream() (s Stream, err error) {
	if b == "" || b == "{}" {
		return s, nil
	}
	if json.Unmarshal([]byte(b), &s) != nil || s == (Stream{}) {
		return s, errors.New("is not a JSON object with fields of a stream, each of its type")
	}
	for _, id := range cmp.Or(s.ProcessorIDs, new(streams.ProcessorSet)).IDs() {
		if err := streams.CheckProcessorID(id); err != nil {
			return s, fmt.Errorf("has a processor id that is not one: it %w", err)
		}
	}
	return s, nil
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
