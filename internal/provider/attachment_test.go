package provider_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/server"
	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// Every call returns the identity, also to CLIs that do not show it, and for the state of a version without identities.
func TestIdentityIsKept(t *testing.T) {
	t.Parallel()
	_, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1")...)
	apply := func(onDestroy, processor string) func() coretest.Diagnostics {
		config := coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{processor}, "on_destroy": onDestroy}
		return func() coretest.Diagnostics { return r.apply(resourceValue(config)) }
	}
	r.state, _ = startProvider(t, r.provider).ImportState(coretest.SingleName, "cam-1")
	for _, step := range []struct {
		what  string
		call  func() coretest.Diagnostics
		state func() // before
	}{
		{"the read of an import", r.refresh, func() {}},
		{"the update after an import", apply("keep", "p1"), func() {}},
		{"a create", apply("detach", "p1"), func() { r.state = coretest.Managed{Value: r.null()} }},
		{"an update that sends nothing", apply("keep", "p1"), func() {}},
		{"a read without an identity", r.refresh, func() { r.state.Identity = nil }},
		{"an update without an identity", apply("keep", "p2"), func() { r.state.Identity = nil }},
	} {
		step.state()
		if diags := step.call(); diags.Failed() {
			t.Fatalf("%s: %s", step.what, diags)
		}
		wantEqual(t, "identity after "+step.what, map[string]any{"stream_id": "cam-1"}, decodeIdentity(t, r.state.Identity))
	}
}

// The attribute timeouts bounds each call, and each by its own value, also if nothing was sent in time. Without it, the
// service would respond. The data sources and the action have one, too.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	provider := coretest.Attributes{"detect_drift": true, "request_timeout": "5m"}
	service, r := startRun(t, nullResource(), provider, streamstest.Streams("cam-1")...)
	limited := func(name, processor string) tftypes.Value {
		return resourceValue(coretest.Attributes{
			"stream_id": "cam-1", "processor_ids": []string{processor}, "timeouts": coretest.Attributes{name: "20ms"},
		})
	}
	wantTimeout := func(name, method string, call func() coretest.Diagnostics) {
		t.Helper()
		service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
			if r.Method != method {
				return nil
			}
			return &streamstest.Fault{Delay: patience}
		})
		if diags := call(); !diags.Failed() || !strings.Contains(diags.String(), "Timeout Error") {
			t.Fatalf("%s: %s", name, diags)
		}
		service.InjectFunc(nil)
	}
	wantTimeout("create", "PATCH", func() coretest.Diagnostics { return r.apply(limited("create", "p1")) })
	r.mustApply(cam1("p1"))
	wantTimeout("update", "PATCH", func() coretest.Diagnostics { return r.apply(limited("update", "p2")) })
	r.mustApply(limited("delete", "p2"))
	wantTimeout("delete", "PATCH", func() coretest.Diagnostics { return r.apply(r.null()) })
	r.mustApply(limited("read", "p2"))
	wantTimeout("read", "GET", r.refresh)

	p := startProvider(t, r.provider)
	for typeName, config := range map[string]coretest.Attributes{
		coretest.SingleName: {"stream_id": "cam-1"}, coretest.GroupName: {"stream_ids": []string{"cam-1"}},
	} {
		config["timeouts"] = coretest.Attributes{"read": "20ms"}
		wantTimeout("data source "+typeName, "GET", func() coretest.Diagnostics {
			_, diags := p.ReadData(typeName, config)
			return diags
		})
	}
	wantTimeout("action", "PATCH", func() coretest.Diagnostics {
		limit := coretest.Attributes{"invoke": "20ms"}
		_, diags := p.Invoke(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}, "timeouts": limit})
		return diags
	})
}

// A provider with an unknown configuration can plan and refresh, and refuses the rest.
func TestUnknownConfiguration(t *testing.T) {
	t.Parallel()
	config := resourceValue(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}, "on_destroy": "detach"})
	for _, p := range []*coretest.Process{
		startProvider(t, coretest.Attributes{"base_url": tftypes.UnknownValue, "detect_drift": true}),
		newProcess(t, server.New("test", nil)()),
	} {
		wantRefused := func(diags coretest.Diagnostics) {
			t.Helper()
			wantDiagnostics(t, diags, "ERROR: Provider Configuration Not Known")
			streamstest.WantText(t, diags.String(), "Nothing was sent by this operation. The stream was not changed by this resource.")
		}
		_, diags := p.Invoke(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}})
		wantRefused(diags)

		planned, _, diags := p.Plan(coretest.Managed{Value: nullResource()}, config)
		if diags.Failed() {
			t.Fatal(diags)
		}
		_, diags = p.Apply(nullResource(), planned, config)
		wantRefused(diags)

		all := coretest.AttributesOf(config)
		all["last_edited"] = tftypes.NewValue(tftypes.Number, tftypes.UnknownValue)
		update := tftypes.NewValue(resourceSchema().ValueType(), all)
		_, diags = p.Apply(config, coretest.Managed{Value: update}, config)
		wantRefused(diags)
		_, diags = p.Apply(config, coretest.Managed{Value: nullResource()}, nullResource())
		wantRefused(diags)
		if _, diags := p.Read(coretest.Managed{Value: config}); diags.Failed() {
			t.Error(diags)
		}
	}
}

// A 304 to an update says that nothing changes: it is an error, the state is kept, and no mark makes a later plan send the set.
func TestNotModifiedByAnUpdate(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1")...)
	r.mustApply(cam1("p1"))
	service.Inject(streamstest.Fault{Status: 304})
	failed := r.mustFail(cam1("p2"))
	wantDiagnostic(t, failed, "ERROR: Unexpected Answer", "The response says that nothing changes, and does not show the stream.")
	streamstest.WantText(t, failed.String(), "The stream was not changed.")
	wantAttribute(t, r.state, "processor_ids", []string{"p1"})
	r.wantNoChanges(cam1("p1"))
}

// A response with another set is an error. A failed create leaves no state, and after an update the state has the set that
// the service reported. A stream that has moved to another terminal is an error once, and the state has the new values.
func TestReportedStream(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1")...)
	merges := streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ProcessorIDs = append(s.ProcessorIDs, "p9") }}
	const reported = `The service reports that the stream now has ["p2", "p9"].`
	service.Inject(merges)
	failed := r.mustFail(cam1("p2"))
	wantDiagnostic(t, failed, "ERROR: Unexpected Answer", reported)
	streamstest.WantText(t, failed.String(), notSaved) // nobody owns what the create has attached
	wantState(t, r.null(), r.state)
	r.mustApply(cam1("p1"))
	service.Inject(merges)
	wantDiagnostic(t, r.mustFail(cam1("p2")), "ERROR: Unexpected Answer", "run the command again.\n\n"+reported)
	wantAttribute(t, r.state, "processor_ids", []string{"p2", "p9"})
	service.ForgetRequests()
	r.mustApply(cam1("p2"))
	service.WantRequests(t, patches(map[string][]string{"cam-1": {"p2"}})...)

	service.Seed(streamstest.Stream{ID: "cam-1", TerminalID: "t-2", FragmentTypeID: "video", ProcessorIDs: []string{"p2"}})
	diags := r.apply(cam1("p3"))
	wantDiagnostics(t, diags, "ERROR: Unexpected Change of the Stream", "ERROR: Unexpected Change of the Stream") // for each value
	for name, want := range map[string]any{"terminal_id": "t-2", "fragment_type_id": "video", "processor_ids": []string{"p3"}} {
		wantAttribute(t, r.state, name, want)
	}
	r.mustApply(cam1("p4"))

	service.Seed(streamstest.Stream{ID: "cam-1", TerminalID: "t-3"})
	service.Inject(merges)
	wantDiagnostics(t, r.mustFail(cam1("p5")), "ERROR: Unexpected Answer")
}

// The state of a resource moves as it is from the same type of any provider address, with its identity and its marks.
// Nothing is sent, not even by a configured provider.
func TestMoveOwn(t *testing.T) {
	t.Parallel()
	for typeName, test := range map[string]struct {
		null          tftypes.Value
		before, after tftypes.Value
		identity      any
	}{
		coretest.SingleName: {nullResource(), cam1("p1"), cam1("p2"), map[string]any{"stream_id": "cam-1"}},
		coretest.GroupName: {
			nullGroup().Value, group(sameSet(3, "p1"), nil), group(with(sameSet(3, "p1"), "s001", "p2"), nil), nil,
		},
	} {
		service, r := startRun(t, test.null, nil, append(streamstest.Streams("cam-1"), seeds(sameSet(3))...)...)
		r.mustApply(test.before)
		service.Inject(streamstest.Fault{ResetAfter: true})
		r.mustFail(test.after)
		if coretest.Marks(r.state.Private) == "" {
			t.Fatalf("%s: no marks", typeName)
		}
		service.DrainRequests()
		for _, address := range []string{
			"registry.terraform.io/acme/stream", "registry.opentofu.org/stream-management/stream", "mirror.example:8443/a/b", "stream", "",
		} {
			for _, provider := range []tfprotov6.ProviderServer{server.New("test", nil)(), startProvider(t, r.provider).Server} {
				resp, diags := moveTo(t, provider, typeName, address, typeName, 0, r.state)
				if len(diags) > 0 {
					t.Fatalf("%s of %s: %s", typeName, address, diags)
				}
				moved := coretest.Managed{
					Value: coretest.DecodeAs(t, test.null.Type(), resp.TargetState), Private: resp.TargetPrivate, Identity: resp.TargetIdentity,
				}
				wantState(t, r.state.Value, moved)
				wantEqual(t, "marks", coretest.Marks(r.state.Private), coretest.Marks(moved.Private))
				wantEqual(t, "identity", test.identity, decodeIdentity(t, resp.TargetIdentity))
			}
		}
		service.WantRequests(t)
		values := coretest.AttributesOf(r.state.Value)
		for _, name := range []string{"stream_id", "streams"} {
			if v, has := values[name]; has {
				values[name] = tftypes.NewValue(v.Type(), nil)
			}
		}
		_, diags := r.plan(test.before) // which the state has
		wantDiagnostic(t, diags, "WARNING: Outcome of an Earlier Operation Unknown", "")
		for what, refused := range map[string]struct {
			typeName string
			version  int64
			state    coretest.Managed
		}{
			"a newer version": {typeName, 1, r.state}, "another type": {typeName + "s", 0, r.state},
			"no streams": {typeName, 0, coretest.Managed{Value: tftypes.NewValue(r.state.Value.Type(), values)}},
			"another provider's type": {typeName, 0, coretest.Managed{Value: tftypes.NewValue(
				tftypes.Object{AttributeTypes: map[string]tftypes.Type{"id": tftypes.String, "streams": tftypes.String}},
				map[string]tftypes.Value{"id": tftypes.NewValue(tftypes.String, "a"), "streams": tftypes.NewValue(tftypes.String, nil)},
			)}},
		} {
			_, diags := moveTo(t, server.New("test", nil)(), typeName, "registry.terraform.io/acme/stream", refused.typeName, refused.version,
				refused.state)
			t.Log(what)
			wantError(t, diags, "Resource Cannot Be Moved")
		}
	}
}

// The error of a type whose state does not fit names the guide with the way: the other type of this provider, and those of others.
func TestTypesThatCannotBeMoved(t *testing.T) {
	t.Parallel()
	pages, _ := filepath.Glob("../../templates/guides/*.md.tmpl")
	for _, test := range [][4]string{
		{coretest.SingleName, coretest.GroupName, "registry.terraform.io/stream-management/stream", "Large Fleets"},
		{coretest.GroupName, coretest.SingleName, "registry.terraform.io/stream-management/stream", "Large Fleets"},
		{"terraform_data", coretest.GroupName, "terraform.io/builtin/terraform", "Bring Existing Streams Under Terraform"},
		{"restapi_object", coretest.GroupName, "registry.terraform.io/mastercard/restapi", "Bring Existing Streams Under Terraform"},
	} {
		source := coretest.Managed{Value: cam1("p1")}
		if test[0] == coretest.GroupName {
			source.Value = group(sameSet(2, "p1"), coretest.Attributes{"on_destroy": "detach"})
		}
		_, diags := moveTo(t, server.New("test", nil)(), test[1], test[2], test[0], 0, source)
		wantError(t, diags, "The guide "+test[3]+" has an example")
		if !slices.ContainsFunc(pages, func(page string) bool {
			text, _ := os.ReadFile(page)
			return strings.Contains(string(text), "page_title: \""+test[3]+"\"")
		}) {
			t.Errorf("there is no guide %q", test[3])
		}
	}
}

// moveTo does what Terraform does for a moved block, with all that it knows of the source.
func moveTo(t *testing.T, server tfprotov6.ProviderServer, target, address, typeName string, version int64, state coretest.Managed) (
	*tfprotov6.MoveResourceStateResponse, coretest.Diagnostics,
) {
	t.Helper()
	attributes, _ := coretest.FromTerraform(state.Value).(map[string]any)
	if edited, ok := attributes["last_edited"].(string); ok {
		attributes["last_edited"] = json.Number(edited)
	}
	inJSON, encodeErr := json.Marshal(attributes)
	resp, err := server.MoveResourceState(context.Background(), &tfprotov6.MoveResourceStateRequest{
		SourceProviderAddress: address, SourceTypeName: typeName, SourceSchemaVersion: version,
		SourceState: &tfprotov6.RawState{JSON: inJSON}, SourcePrivate: state.Private, TargetTypeName: target,
	})
	if encodeErr != nil || err != nil {
		t.Fatal(encodeErr, err)
	}
	return resp, resp.Diagnostics
}
