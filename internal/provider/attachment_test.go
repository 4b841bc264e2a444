package provider_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/server"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
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
			streamstest.WantText(t, diags.String(), "Nothing was sent by this operation. The stream was not changed.")
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
	wantDiagnostic(t, r.mustFail(cam1("p2")), "ERROR: Unexpected Answer", "processors in the service.\n\n"+reported)
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
