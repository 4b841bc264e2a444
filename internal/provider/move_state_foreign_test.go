package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// The files in testdata/moved are states as current and older releases of the three providers wrote them, each after an
// apply on a stand-in service. The name of a file says what is special.

// foreignState is the state of a resource of another provider.
type foreignState struct {
	typeName string
	provider string // its address
	version  int64
	state    string // the attributes, as JSON
}

// readForeignStates returns the resource instances in a state file.
func readForeignStates(tb testing.TB, file string) []foreignState {
	tb.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var state struct {
		Resources []struct {
			Type      string
			Provider  string
			Instances []struct {
				SchemaVersion int64 `json:"schema_version"`
				Attributes    json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(content, &state); err != nil {
		tb.Fatal(err)
	}
	var found []foreignState
	for _, r := range state.Resources {
		for _, i := range r.Instances {
			address := strings.TrimSuffix(strings.TrimPrefix(r.Provider, `provider["`), `"]`)
			found = append(found, foreignState{r.Type, address, i.SchemaVersion, string(i.Attributes)})
		}
	}
	return found
}

// move does what Terraform does for a moved block, and returns either the new state or the error.
func (s foreignState) move(tb testing.TB) (state tftypes.Value, problem string) {
	tb.Helper()
	resp, err := NewServer("test")().MoveResourceState(context.Background(), &tfprotov6.MoveResourceStateRequest{
		SourceProviderAddress: s.provider,
		SourceTypeName:        s.typeName,
		SourceSchemaVersion:   s.version,
		SourceState:           &tfprotov6.RawState{JSON: []byte(s.state)},
		TargetTypeName:        coretest.SingleName,
	})
	if err != nil {
		tb.Fatal(err)
	}
	for _, d := range resp.Diagnostics {
		problem += d.Summary + ": " + d.Detail + "\n"
	}
	if problem != "" {
		if resp.TargetState != nil {
			tb.Errorf("a state in spite of: %s", problem)
		}
		return state, problem
	}
	state = coretest.DecodeAs(tb, resourceSchema().ValueType(), resp.TargetState)
	identity, texts := decodeIdentity(tb, resp.TargetIdentity), attributeTexts(state)
	want := map[string]any{"stream_id": texts["stream_id"]}
	if diff := cmp.Diff(want, identity); diff != "" || texts["stream_id"] != texts["id"] {
		tb.Errorf("id %q, identity (-want +got):\n%s", texts["id"], diff)
	}
	if texts["on_destroy"] != "detach" || texts["triggers"] != "-" || texts["timeouts"] != "-" {
		tb.Errorf("the state has no defaults: %v", texts)
	}
	return state, ""
}

// moveToText is move with the new state as one line.
func (s foreignState) moveToText(tb testing.TB) string {
	tb.Helper()
	state, problem := s.move(tb)
	if problem != "" {
		return problem
	}
	texts := attributeTexts(state)
	return strings.Join([]string{
		texts["stream_id"], texts["processor_ids"], texts["terminal_id"], texts["fragment_type_id"],
		texts["compatible_namespaces"], texts["last_edited"],
	}, " ")
}

// attributeTexts returns the attributes of an object as texts, "-" for null.
func attributeTexts(object tftypes.Value) map[string]string {
	texts := map[string]string{}
	for name, value := range coretest.AttributesOf(object) {
		texts[name] = "-"
		if !value.IsNull() {
			texts[name] = fmt.Sprint(coretest.FromTerraform(value))
		}
	}
	return texts
}

// streamJSON is a response of the service.
const streamJSON = `{"id":"cam-1","terminal_id":"t","fragment_type_id":"f","processor_ids":["p1"],"last_edited":5,"compatible_namespaces":["n"]}`

// foreignStates returns states that the providers write for the same request and response. The arguments are JSON.
func foreignStates(target, method, body, response string) map[string]foreignState {
	inText := func(json string) string {
		if json == "null" {
			return `""`
		}
		return quoteJSON(json)
	}
	typed := func(json string) string { return `{"value":` + json + `,"type":"dynamic"}` }
	return map[string]foreignState{
		"restful": {"restful_operation", "registry.terraform.io/magodo/restful", 2, fmt.Sprintf(
			`{"path":%s,"method":%s,"body":%s,"output":%s}`, target, method, typed(body), typed(response))},
		"restful 0": {"restful_operation", "registry.terraform.io/magodo/restful", 0, fmt.Sprintf(
			`{"path":%s,"method":%s,"body":%s,"output":%s}`, target, method, inText(body), inText(response))},
		"restapi": {"restapi_object", "registry.terraform.io/mastercard/restapi", 0, fmt.Sprintf(
			`{"id":"cam-1","path":%s,"update_method":%s,"data":%s,"api_response":%s}`, target, method, inText(body), inText(response))},
		"terracurl": {"terracurl_request", "registry.terraform.io/devops-rob/terracurl", 1, fmt.Sprintf(
			`{"url":%s,"method":%s,"request_body":%s,"status_code":"200","response":%s}`, target, method, inText(body), inText(response))},
	}
}

func quoteJSON(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// FuzzMoveState checks that no state makes the provider panic, and that each new state is valid.
func FuzzMoveState(f *testing.F) {
	files, err := filepath.Glob("testdata/moved/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		for _, s := range readForeignStates(f, file) {
			var compact bytes.Buffer
			if err := json.Compact(&compact, []byte(s.state)); err != nil {
				f.Fatal(err)
			}
			f.Add(s.typeName, s.version, compact.Bytes())
		}
	}
	f.Fuzz(func(t *testing.T, typeName string, version int64, state []byte) {
		moved, problem := foreignState{typeName, "", version, string(state)}.move(t)
		if problem != "" {
			return
		}
		var attributes map[string]tftypes.Value
		if err := moved.As(&attributes); err != nil {
			t.Fatal(err)
		}
		var id string
		if err := attributes["stream_id"].As(&id); err != nil || streams.CheckStreamID(id) != nil || !utf8.ValidString(id) {
			t.Errorf("stream id %q (%v)", id, err)
		}
		var ids []tftypes.Value
		if err := attributes["processor_ids"].As(&ids); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, element := range ids {
			if err := element.As(&id); err != nil || streams.CheckProcessorID(id) != nil || seen[id] {
				t.Errorf("processor id %q (%v)", id, err)
			}
			seen[id] = true
		}
	})
}
