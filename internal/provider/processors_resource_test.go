package provider_test

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/server"
	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// A state makes a complete new state. Terraform moves states before it configures the provider. Even a configured provider
// sends nothing, and does not take its own deployment for that of the state.
func TestMove(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	for _, test := range []struct {
		typeName, provider, state string
		want                      coretest.Attributes
	}{
		{"terracurl_request", "registry.terraform.io/devops-rob/terracurl", `{
			"url": "https://h/v2/streams/cam-1", "method": "PATCH", "status_code": "200",
			"request_body": "{\"processor_ids\":[\"p2\",\"p1\"]}",
			"response": "{\"terminal_id\":\"t\",\"fragment_type_id\":\"f\",\"compatible_namespaces\":[\"core\"],\"last_edited\":5}"
		}`, coretest.Attributes{
			"id": "cam-1", "stream_id": "cam-1", "processor_ids": []string{"p1", "p2"}, "on_destroy": "detach",
			"terminal_id": "t", "fragment_type_id": "f", "compatible_namespaces": []string{"core"}, "last_edited": int64(5),
		}},
		{"restapi_object", "registry.terraform.io/mastercard/restapi", // after a failed update
			`{"id": "cam-5", "path": "/v2/streams", "create_path": "/v2/streams/{id}", "data": "{\"processor_ids\":[]}", "api_response": ""}`,
			coretest.Attributes{"id": "cam-5", "stream_id": "cam-5", "on_destroy": "detach"}},
	} {
		for _, server := range []tfprotov6.ProviderServer{
			server.New("test", nil)(), startProvider(t, coretest.Attributes{"base_url": url}).Server,
		} {
			resp, problem := move(t, server, test.typeName, test.provider, 0, test.state)
			got := coretest.DecodeAs(t, resourceSchema().ValueType(), resp.TargetState)
			wantEqual(t, test.typeName+" "+problem, coretest.FromTerraform(resourceValue(test.want)), coretest.FromTerraform(got))
			wantEqual(t, "identity", map[string]any{"stream_id": test.want["stream_id"]}, decodeIdentity(t, resp.TargetIdentity))
		}
		_, problem := move(t, server.New("test", nil)(), test.typeName, test.provider, 9, test.state)
		streamstest.WantText(t, problem, ": its schema version is 9, ", "from = "+test.typeName+".example\n")
	}
	service.WantRequests(t)
}

// The error has blocks to import the stream, with its id if that is known.
func TestMoveErrorNamesImport(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"a%22b":               `id = "a\"b"`,
		"$%7Bx%7D%25%7By%7D":  `id = "$${x}%%{y}"`,
		"kamera-%C3%A9":       `id = "kamera-é"`,
		"%E2%80%8Bzero-width": `id = "\u200bzero-width"`,
		"..":                  `id = "STREAM_ID"`,
	} {
		_, problem := move(t, server.New("test", nil)(), "terracurl_request", "", 1, `{"url":"https://h/v2/streams/`+id+`","method":"POST"}`)
		streamstest.WantText(t, problem,
			"ERROR: Resource Cannot Be Moved: ", "This resource cannot be moved: its ",
			"\n  removed {\n    from = terracurl_request.example\n", "\n  import {\n", "\n    "+want+"\n",
		)
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
