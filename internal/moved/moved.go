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

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Stream has the fields of a stream (INTERFACE.md, section 2) that a state has. The others are nil.
type Stream struct {
	ID                   *string               `json:"id"`
	TerminalID           *string               `json:"terminal_id"`
	FragmentTypeID       *string               `json:"fragment_type_id"`
	ProcessorIDs         *streams.ProcessorSet `json:"processor_ids"`
	LastEdited           *streams.Integer      `json:"last_edited"`           // epoch milliseconds
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
	var values map[string]json.RawMessage
	_ = json.Unmarshal(state, &values) // what is no state has no path
	attributes := map[string]string{}
	for name, value := range values {
		attributes[name] = textOf(value)
	}
	return origin.read(attributes).stream()
}

// textOf returns a text, or a body in JSON, which is saved as a text or as a dynamic value, with its type beside it.
func textOf(raw json.RawMessage) string {
	var typed struct{ Value, Type json.RawMessage }
	if json.Unmarshal(raw, &typed) == nil && typed.Type != nil {
		raw = typed.Value
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text // "" also for null
}

// stream returns what an exchange attached to a stream. A reported set counts more than the set that was sent. There is
// no set if the service never confirmed one, so that the next apply sends the configured set. Errors quote no bodies.
func (x exchange) stream() (Stream, error) {
	id, err := streamIDIn(x.target)
	if err != nil {
		return Stream{}, err
	}
	onlyID := Stream{ID: &id}
	other := slices.IndexFunc(x.methods, func(method string) bool { return !strings.EqualFold(method, http.MethodPatch) })
	sent, sentOK := streamIn(x.sent)
	reported, reportedOK := streamIn(x.received)
	switch {
	case other >= 0:
		return onlyID, fmt.Errorf("its method is %q, not PATCH", x.methods[other])
	case x.status != "" && x.status[0] != '2':
		return onlyID, fmt.Errorf("its request failed with status %q", x.status)
	case !sentOK || sent.ProcessorIDs == nil:
		return onlyID, errors.New("its request body has no set of processor_ids")
	case !reportedOK:
		return onlyID, errors.New("its response is not a JSON object with fields of a stream, each of its type")
	case reported.ID != nil && *reported.ID != id:
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
	read     func(attributes map[string]string) exchange
}{
	"restful_operation": {"restful", 2, readRestful},
	"restful_resource":  {"restful", 2, readRestful},
	"restapi_object":    {"restapi", 0, readRestapi},
	"terracurl_request": {"terracurl", 1, func(s map[string]string) exchange {
		return exchange{
			methods:  []string{s["method"]},
			target:   s["url"],
			sent:     s["request_body"],
			status:   s["status_code"],
			received: s["response"],
		}
	}},
}

// readRestful reads a restful_operation, or a restful_resource, whose default method is not PATCH.
func readRestful(s map[string]string) exchange {
	method := cmp.Or(s["method"], s["create_method"])
	return exchange{
		methods:  []string{method, cmp.Or(s["update_method"], method)},
		target:   s["path"],
		sent:     s["body"],
		received: cmp.Or(s["output"], s["sensitive_output"]), // what a restful_resource read last
		unknown:  s["update_body_patches"] != "",             // which the body does not have
	}
}

// readRestapi reads a restapi_object. Its methods are mostly set on the provider, which no state has.
func readRestapi(s map[string]string) exchange {
	target := cmp.Or(s["update_path"], s["create_path"], s["path"])
	if collection := strings.TrimRight(target, "/"); strings.HasSuffix(collection, "streams") {
		target = collection + "/{id}"
	}
	return exchange{
		methods:  []string{cmp.Or(s["create_method"], http.MethodPatch), cmp.Or(s["update_method"], http.MethodPatch)},
		target:   strings.ReplaceAll(target, "{id}", s["id"]),
		sent:     s["data"],
		received: s["api_response"],
		// A failed update leaves its data and no response. With update_data, either may be the last that was sent.
		unknown: s["api_response"] == "" || s["update_data"] != "",
	}
}

// exchange is the request that a resource of a generic provider describes, and its response.
type exchange struct {
	methods  []string
	target   string // URL, or path below a base address that the state does not have
	sent     string
	status   string // of the response; "" if the state does not have it
	received string
	unknown  bool // the outcome: the service may not have accepted what was sent
}

// streamIn reads a body, which may also be missing or empty. It reports false if the body has another form.
func streamIn(body string) (s Stream, ok bool) {
	body = strings.TrimSpace(body)
	if body == "" || body == "{}" {
		return s, true
	}
	err := json.Unmarshal([]byte(body), &s)
	return s, err == nil && s != (Stream{})
}

// streamIDIn finds the id in …/v2/streams/{id}. Its errors show only the path: the rest of a URL may contain a secret.
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
	id, _ := url.PathUnescape(segments[n-1]) // url.Parse has found no error in it
	if err := streams.CheckStreamID(id); err != nil {
		return "", fmt.Errorf("its path names stream %q, and a stream id %w", segments[n-1], err)
	}
	return id, nil
}
