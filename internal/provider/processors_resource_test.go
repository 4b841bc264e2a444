package provider

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A real state makes a complete new state. Terraform moves states before it configures the provider. Even a configured
// provider sends nothing, and does not take its own deployment for that of the state.
func TestMoveRealStates(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	for file, want := range map[string]coretest.Attributes{
		"restful-simple": {
			"id": "cam-1", "stream_id": "cam-1", "processor_ids": []string{"p1", "p2"}, "on_destroy": "detach", "terminal_id": "term-cam-1",
			"fragment_type_id": "image/jpg", "compatible_namespaces": []string{"core", "ptz.acme"}, "last_edited": int64(1718000001124),
		},
		"restapi-failedupdate-norefresh": {"id": "cam-5", "stream_id": "cam-5", "on_destroy": "detach"},
		"terracurl-redirect": {
			"id": "cam-301", "stream_id": "cam-301", "processor_ids": []string{"old"}, "on_destroy": "detach", "terminal_id": "term-cam-301",
			"fragment_type_id": "image/jpg", "compatible_namespaces": []string{"core", "ptz.acme"}, "last_edited": int64(1718000001123),
		},
	} {
		content, err := os.ReadFile("../moved/testdata/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var saved struct {
			Resources [1]struct {
				Type, Provider string
				Instances      [1]struct {
					Version    int64 `json:"schema_version"`
					Attributes json.RawMessage
				}
			}
		}
		if err := json.Unmarshal(content, &saved); err != nil {
			t.Fatal(err)
		}
		r := saved.Resources[0]
		address, state := strings.Split(r.Provider, `"`)[1], string(r.Instances[0].Attributes)
		for _, server := range []tfprotov6.ProviderServer{NewServer("test", nil)(), startProvider(t, coretest.Attributes{"base_url": url}).Server} {
			resp, problem := move(t, server, r.Type, address, r.Instances[0].Version, state)
			got := coretest.DecodeAs(t, resourceSchema().ValueType(), resp.TargetState)
			wantEqual(t, file+" "+problem, coretest.FromTerraform(resourceValue(want)), coretest.FromTerraform(got))
			wantEqual(t, file+": identity", map[string]any{"stream_id": want["stream_id"]}, decodeIdentity(t, resp.TargetIdentity))
		}
		_, problem := move(t, NewServer("test", nil)(), r.Type, address, 9, state)
		if !strings.Contains(problem, ": its schema version is 9, ") || !strings.Contains(problem, "from = "+r.Type+".example\n") {
			t.Errorf("%s of a newer release: %s", file, problem)
		}
	}
	service.WantRequests(t)
}

// The error has blocks to import the stream, with its id if that is known. The framework reports unknown types and providers.
func TestMoveErrorNamesImport(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"a%22b":               `id = "a\"b"`,
		"$%7Bx%7D%25%7By%7D":  `id = "$${x}%%{y}"`,
		"kamera-%C3%A9":       `id = "kamera-é"`,
		"%E2%80%8Bzero-width": `id = "\u200bzero-width"`,
		"..":                  `id = "STREAM_ID"`,
	} {
		_, problem := move(t, NewServer("test", nil)(), "terracurl_request", "", 1, `{"url":"https://h/v2/streams/`+id+`","method":"POST"}`)
		wantText(t, problem,
			"ERROR: Resource Cannot Be Moved: ", "This resource cannot be moved: its ",
			"\n  removed {\n    from = terracurl_request.example\n", "\n  import {\n", "\n    "+want+"\n",
		)
	}
	for typeName, provider := range map[string]string{"restful_operation": "magodo/other", "restful_resource": "magodo/restful"} {
		if _, problem := move(t, NewServer("test", nil)(), typeName, "registry.terraform.io/"+provider, 0, "{}"); !strings.HasPrefix(problem, "ERROR: Unable to Move Resource State: ") {
			t.Errorf("%s: %s", typeName, problem)
		}
	}
}

// move does what Terraform does for a moved block.
func move(t *testing.T, server tfprotov6.ProviderServer, typeName, provider string, version int64, state string) (
	*tfprotov6.MoveResourceStateResponse, string,
) {
	t.Helper()
	resp, err := server.MoveResourceState(context.Background(), &tfprotov6.MoveResourceStateRequest{
		SourceProviderAddress: provider,
		SourceTypeName:        typeName,
		SourceSchemaVersion:   version,
		SourceState:           &tfprotov6.RawState{JSON: []byte(state)},
		TargetTypeName:        coretest.SingleName,
	})
	if err != nil {
		t.Fatal(err)
	}
	problem := coretest.Diagnostics(resp.Diagnostics).String()
	if problem != "" && resp.TargetState != nil {
		t.Errorf("a state in spite of: %s", problem)
	}
	return resp, problem
}
