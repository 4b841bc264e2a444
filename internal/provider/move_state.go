package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// origins are the resource types that a moved block can come from.
var origins = map[string]struct {
	provider string // last part of its address: hosts and namespaces differ with mirrors and forks
	newest   int64  // schema version
	read     func(*originState) exchange
}{
	"restful_operation": {"restful", 2, readRestful},
	"restapi_object":    {"restapi", 0, readRestapi},
	"terracurl_request": {"terracurl", 1, readTerracurl},
}

// MoveState takes streams over from generic HTTP providers. It sends nothing.
func (r *processorsResource) MoveState(context.Context) []resource.StateMover {
	return []resource.StateMover{{StateMover: moveState}}
}

func moveState(ctx context.Context, req resource.MoveStateRequest, resp *resource.MoveStateResponse) {
	origin, ok := origins[req.SourceTypeName]
	// Some OpenTofu versions pass the last part of the address alone.
	provider := req.SourceProviderAddress[strings.LastIndex(req.SourceProviderAddress, "/")+1:]
	if !ok || provider != "" && provider != origin.provider {
		return // the framework says that it cannot be moved
	}
	var moved processorsModel
	state, err := readOrigin(req.SourceRawState.JSON)
	if version := req.SourceSchemaVersion; version < 0 || version > origin.newest {
		err = fmt.Errorf("its schema version is %d, and only those up to %d are known", version, origin.newest)
	}
	if err == nil {
		x := origin.read(state)
		if err = state.wrong; err == nil {
			moved, err = x.attachment()
		}
	}
	if err != nil {
		resp.Diagnostics.Append(cannotMove(req.SourceTypeName, moved.StreamID.ValueString(), err))
		return
	}
	for name, value := range map[string]attr.Value{
		"stream_id":             moved.StreamID,
		"processor_ids":         moved.ProcessorIDs,
		"on_destroy":            types.StringValue(onDestroyDetach), // as by default, so that no change is planned
		"id":                    moved.StreamID,
		"terminal_id":           moved.TerminalID,
		"fragment_type_id":      moved.FragmentTypeID,
		"compatible_namespaces": moved.CompatibleNamespaces,
		"last_edited":           moved.LastEdited,
	} {
		resp.Diagnostics.Append(resp.TargetState.SetAttribute(ctx, path.Root(name), value)...)
	}
	resp.Diagnostics.Append(resp.TargetIdentity.Set(ctx, identityOf(moved.StreamID))...)
}

// exchange is what a resource of a generic provider stands for: a request, and what came back.
type exchange struct {
	methods  []string        // as far as the state has them
	target   string          // URL, or path below a base address that the state does not have
	sent     json.RawMessage // body of the request
	status   string          // of the answer, "" if the state does not have it
	received json.RawMessage // body of the answer
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
		// A failed update leaves its data and no answer. With update_data, either may be the last that was sent.
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

// originState is the state of a resource of another provider. It may hold secrets, so that errors name
// attributes and quote no values.
type originState struct {
	attributes map[string]json.RawMessage
	wrong      error // what text was asked for in vain
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
	text := optional[string](raw)
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
	if typed := optional[struct{ Value, Type json.RawMessage }](raw); typed != nil && typed.Type != nil {
		raw = typed.Value
	}
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// streamFields are the fields of a stream (interface document, section 2). Some states keep only a few.
var streamFields = []string{"id", "terminal_id", "fragment_type_id", "processor_ids", "last_edited", "compatible_namespaces"}

// attachment judges whether an exchange attached processors to a stream. An error comes with the id of
// the stream if that is known. What the service reported counts more than what it was sent; a set that
// it never confirmed stays null, so that the next apply sends the configured one.
func (x exchange) attachment() (processorsModel, error) {
	m := processorsModel{ProcessorIDs: types.SetNull(types.StringType), CompatibleNamespaces: types.SetNull(types.StringType)}
	id, err := streamIDIn(x.target)
	if err != nil {
		return m, err
	}
	m.StreamID = types.StringValue(id)
	for _, method := range x.methods {
		if !strings.EqualFold(method, http.MethodPatch) {
			return m, fmt.Errorf("its method is %q, not PATCH", method)
		}
	}
	if x.status != "" && x.status[0] != '2' {
		return m, fmt.Errorf("its request was answered with status %q", x.status)
	}
	body, err := jsonObject(x.sent)
	if err == nil {
		m.ProcessorIDs, err = processorIDsIn(body)
	}
	if err != nil {
		return m, fmt.Errorf("its request body %w", err)
	}
	if x.inDoubt {
		m.ProcessorIDs = types.SetNull(types.StringType)
	}
	answer, err := jsonObject(x.received)
	if err == nil && answer["processor_ids"] != nil {
		m.ProcessorIDs, err = processorIDsIn(answer)
	}
	if err == nil && len(answer) > 0 && !slices.ContainsFunc(streamFields, func(name string) bool { return answer[name] != nil }) {
		err = errors.New("is not a stream")
	}
	if err != nil {
		return m, fmt.Errorf("its response %w", err)
	}
	if raw := answer["id"]; raw != nil {
		if reported := optional[string](raw); reported == nil || *reported != id {
			m.StreamID = types.StringNull()
			return m, fmt.Errorf("its path names stream %q, and its response does not", id)
		}
	}
	m.TerminalID = types.StringPointerValue(optional[string](answer["terminal_id"]))
	m.FragmentTypeID = types.StringPointerValue(optional[string](answer["fragment_type_id"]))
	if namespaces, ok := texts(answer["compatible_namespaces"]); ok {
		m.CompatibleNamespaces = setOf(namespaces)
	}
	if at := optional[float64](answer["last_edited"]); at != nil && *at == math.Trunc(*at) && math.Abs(*at) <= 1<<53 {
		m.LastEdited = types.Int64Value(int64(*at))
	}
	return m, nil
}

// streamIDIn finds the id in …/v2/streams/{id}. Its errors show the path alone: the rest of a URL may
// hold a password or a token.
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

func processorIDsIn(body map[string]json.RawMessage) (types.Set, error) {
	none := types.SetNull(types.StringType)
	if body["processor_ids"] == nil {
		return none, errors.New("has no processor_ids")
	}
	ids, ok := texts(body["processor_ids"])
	if !ok {
		return none, errors.New("has processor_ids that are not an array of strings")
	}
	for _, id := range ids {
		if err := streams.CheckProcessorID(id); err != nil {
			return none, fmt.Errorf("has a processor id that is not one: it %w", err)
		}
	}
	return setOf(ids), nil
}

// jsonObject reads a JSON object, also one in a JSON string, as some bodies are. No text has no fields.
func jsonObject(raw json.RawMessage) (map[string]json.RawMessage, error) {
	for text := optional[string](raw); text != nil; text = optional[string](raw) {
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

// texts reads an array of strings as a set.
func texts(raw json.RawMessage) ([]string, bool) {
	array := optional[[]*string](raw)
	if array == nil || slices.Contains(*array, nil) {
		return nil, false
	}
	set := make([]string, 0, len(*array))
	for _, text := range *array {
		set = append(set, *text)
	}
	slices.Sort(set)
	return slices.Compact(set), true
}

// optional reads a JSON value, or nil where there is none of that type.
func optional[T any](raw json.RawMessage) *T {
	var value *T
	if json.Unmarshal(raw, &value) != nil {
		return nil
	}
	return value
}

// cannotMove says what is in the way, and how to bring the stream over without a moved block.
func cannotMove(from, id string, err error) diag.Diagnostic {
	quoted := strconv.Quote(cmp.Or(id, "STREAM_ID"))
	quoted = strings.NewReplacer("${", "$${", "%{", "%%{").Replace(quoted)
	return diag.NewErrorDiagnostic("Resource Cannot Be Moved", fmt.Sprintf(`A %[1]s can be moved if it is a PATCH of /v2/streams/{id} with processor_ids. This one cannot: %[3]s.

Import the stream instead. Replace the moved block with these two, with your own resource names, and keep the old provider configured until they are applied:

  removed {
    from = %[1]s.example
    lifecycle {
      destroy = false
    }
  }

  import {
    to = stream_processors.example
    id = %[2]s
  }

Nothing was sent, and nothing was changed in the state.`, from, quoted, err))
}
