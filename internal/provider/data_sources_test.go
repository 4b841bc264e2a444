package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// read reads streams with one data source; stream_processors has only one.
func read(p *coretest.Process, typeName string, ids ...string) (map[string]any, coretest.Diagnostics) {
	p.T.Helper()
	config := coretest.Attributes{"stream_id": ids[0]}
	if typeName == coretest.GroupName {
		config = coretest.Attributes{"stream_ids": ids}
	}
	got, diags := p.ReadData(typeName, config)
	attributes, _ := got.(map[string]any)
	return attributes, diags
}

// A data source has what an import and a refresh read into the state of the resource: one request for each stream.
func TestDataSources(t *testing.T) {
	t.Parallel()
	service, p := startQuery(t, coretest.Attributes{"deployment": "north"}, streamstest.Stream{
		ID: "a/b c", TerminalID: "t-1", FragmentTypeID: "image/jpg", ProcessorIDs: []string{"p2", "p1"},
		LastEdited: 1700000000123, CompatibleNamespaces: []string{"acme.ptz", "acme.camera"},
	}, streamstest.Stream{ID: "cam-2"})
	wantRead := func(typeName string, config coretest.Attributes, want map[string]any, requests ...string) {
		t.Helper()
		got, diags := p.ReadData(typeName, config)
		wantDiagnostics(t, diags)
		wantEqual(t, typeName, any(want), got)
		service.WantRequests(t, requests...)
	}
	wantRead(coretest.SingleName, coretest.Attributes{"stream_id": "a/b c", "timeouts": coretest.Attributes{"read": "30s"}}, map[string]any{
		"stream_id": "a/b c", "id": "a/b c", "terminal_id": "t-1", "fragment_type_id": "image/jpg",
		"processor_ids": []string{"p1", "p2"}, "compatible_namespaces": []string{"acme.camera", "acme.ptz"},
		"last_edited": "1700000000123", "deployment": "north", "timeouts": map[string]any{"read": "30s"},
	}, "GET /v2/streams/a%2Fb%20c")

	imported, _ := p.ImportState(coretest.GroupName, `["a/b c", "cam-2"]`)
	imported, _ = p.Read(imported)
	service.ForgetRequests()
	wantRead(coretest.GroupName, coretest.Attributes{"stream_ids": []string{"cam-2", "a/b c"}}, map[string]any{
		"stream_ids": []string{"a/b c", "cam-2"}, "deployment": "north", "timeouts": nil,
		"streams": coretest.FromTerraform(coretest.AttributesOf(imported.Value)["streams"]),
	}, "GET /v2/streams/a%2Fb%20c", "GET /v2/streams/cam-2")
	wantRead(coretest.GroupName, coretest.Attributes{"stream_ids": []string{}}, map[string]any{
		"stream_ids": []string{}, "streams": map[string]any{}, "deployment": "north", "timeouts": nil,
	})
}

// Without detect_drift, or while the configuration is not known, a data source is one error and sends nothing.
func TestDataSourcesRefuse(t *testing.T) {
	t.Parallel()
	for want, provider := range map[string]coretest.Attributes{
		"Streams Cannot Be Read: The interface specifies no read": {"detect_drift": false},
		"Provider Configuration Not Known: The streams could not": {"base_url": tftypes.UnknownValue},
	} {
		service, p := startQuery(t, provider, streamstest.Streams("cam-1", "cam-2")...)
		for _, typeName := range []string{coretest.SingleName, coretest.GroupName} {
			_, diags := read(p, typeName, "cam-1", "cam-2")
			wantError(t, diags, want)
			wantDiagnostic(t, diags, "ERROR", "Nothing was changed by this read.") // the apply around it may have changed streams
		}
		service.WantRequests(t)
	}
}

// In a plan whose client allows it, a read waits for an address that is known after apply.
func TestDataSourcesAreDeferred(t *testing.T) {
	t.Parallel()
	p := startProvider(t, coretest.Attributes{"base_url": tftypes.UnknownValue, "detect_drift": true})
	for typeName, config := range map[string]coretest.Attributes{
		coretest.SingleName: {"stream_id": "cam-1"}, coretest.GroupName: {"stream_ids": []string{"cam-1"}},
	} {
		resp, err := p.Server.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{
			TypeName:           typeName,
			Config:             coretest.DynamicValue(coretest.ToTerraform(schemas().DataSourceSchemas[typeName].ValueType(), config)),
			ClientCapabilities: &tfprotov6.ReadDataSourceClientCapabilities{DeferralAllowed: true},
		})
		if err != nil || len(resp.Diagnostics) > 0 || resp.Deferred == nil ||
			resp.Deferred.Reason != tfprotov6.DeferredReasonProviderConfigUnknown {
			t.Errorf("%s: %v %v", typeName, err, resp)
		}
	}
}

// The error of streams that do not exist names all of them.
func TestDataSourcesOfMissingStreams(t *testing.T) {
	t.Parallel()
	_, p := startQuery(t, nil, streamstest.Streams("cam-1")...)
	_, diags := read(p, coretest.GroupName, idsOf(sameSet(50))...)
	wantError(t, diags, "50 streams could not be read.")
	wantEqual(t, "streams", 50, len(errorsAt(diags)))
	if len(diags) != 1 || diags[0].Attribute != nil {
		t.Errorf("Terraform would print all ids for each error: %s", diags)
	}
}

// A data source claims nothing: in the same session, a resource gives the stream another set, or leaves the stream.
func TestDataSourcesClaimNothing(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), detectDrift, streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p9"}})
	afterReads := func() *coretest.Process {
		p := startProvider(t, r.provider)
		for _, typeName := range []string{coretest.SingleName, coretest.GroupName} {
			_, diags := read(p, typeName, "cam-1")
			wantDiagnostics(t, diags)
		}
		return p
	}
	for _, config := range []tftypes.Value{cam1("p1"), nullResource()} {
		planned, _, _ := afterReads().Plan(r.state, config)
		var diags coretest.Diagnostics
		r.state, diags = afterReads().Apply(r.state.Value, planned, config)
		wantDiagnostics(t, diags)
		attached, _ := coretest.FromTerraform(coretest.AttributesOf(config)["processor_ids"]).([]string)
		service.WantAttached(t, "cam-1", attached...)
	}
}
