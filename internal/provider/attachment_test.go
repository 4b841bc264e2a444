package provider

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Every call returns the identity, also to CLIs that do not show it.
func TestIdentityIsKept(t *testing.T) {
	t.Parallel()
	for _, detect := range []bool{false, true} {
		t.Run(fmt.Sprintf("detect_drift=%t", detect), func(t *testing.T) {
			t.Parallel()
			drift := coretest.Attributes{"detect_drift": detect}
			service, r := startRun(t, nullResource(), drift, streamstest.Streams("cam-1", "cam-2")...)
			wantIdentity := func(step string, diags coretest.Diagnostics, id string) {
				t.Helper()
				if diags.Failed() {
					t.Fatalf("%s: %s", step, diags)
				}
				wantEqual(t, "identity after "+step, map[string]any{"stream_id": id}, decodeIdentity(t, r.state.Identity))
			}
			config := func(id, onDestroy, processor string) tftypes.Value {
				return resourceValue(coretest.Attributes{"stream_id": id, "processor_ids": []string{processor}, "on_destroy": onDestroy})
			}
			r.state, _ = startProvider(t, r.provider).ImportState(coretest.SingleName, "cam-2")
			wantIdentity("import", r.refresh(), "cam-2")
			wantIdentity("the update after an import", r.apply(config("cam-2", "keep", "p1")), "cam-2")

			r.state = coretest.Managed{Value: nullResource()}
			wantIdentity("create", r.apply(config("cam-1", "detach", "p1")), "cam-1")
			wantIdentity("read", r.refresh(), "cam-1")
			wantIdentity("update", r.apply(config("cam-1", "detach", "p2")), "cam-1")
			wantIdentity("an update that sends nothing", r.apply(config("cam-1", "keep", "p2")), "cam-1")

			// The state of a version without identities.
			old := r.state
			old.Identity = nil
			for step, change := range map[string]func() coretest.Diagnostics{
				"a read":                       r.refresh,
				"an update":                    func() coretest.Diagnostics { return r.apply(config("cam-1", "keep", "p3")) },
				"an update that sends nothing": func() coretest.Diagnostics { return r.apply(config("cam-1", "detach", "p2")) },
			} {
				r.state = old
				service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p2"}})
				wantIdentity(step+" of an old state", change(), "cam-1")
			}
		})
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
		newProcess(t, NewServer("test", nil)()),
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
// the service reported.
func TestReportedSet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit     func(*streamstest.Stream)
		want     []string
		reported []string
	}{
		"more": {func(s *streamstest.Stream) { s.ProcessorIDs = append(s.ProcessorIDs, "p9") },
			[]string{`additional processors ["p9"]`, "merged the set instead of replacing it"}, []string{"p2", "p3", "p9"}},
		"ignored": {func(s *streamstest.Stream) { s.ProcessorIDs = []string{"p1"} },
			[]string{`did not attach ["p2", "p3"]`, `additional processors ["p1"]`}, []string{"p1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1")...)
			wantError := func(diags coretest.Diagnostics) {
				t.Helper()
				streamstest.WantText(t, diags.String(), test.want...)
				wantDiagnostic(t, diags, "ERROR: Unexpected Answer",
					"\n\nThe service reports that the stream now has "+streams.NewProcessorSet(test.reported...).String()+".")
			}
			service.Inject(streamstest.Fault{Edit: test.edit})
			failed := r.apply(cam1("p2", "p3"))
			wantError(failed)
			streamstest.WantText(t, failed.String(), notSaved) // nobody owns what the create has attached
			wantState(t, r.null(), r.state)
			r.mustApply(cam1("p1"))
			service.Inject(streamstest.Fault{Edit: test.edit})
			wantError(r.apply(cam1("p2", "p3")))
			wantAttribute(t, r.state, "processor_ids", test.reported)
			service.DrainRequests()
			r.mustApply(cam1("p2", "p3"))
			service.WantRequests(t, patches(map[string][]string{"cam-1": {"p2", "p3"}})...)
		})
	}
}

// A stream that has moved to another terminal is an error once. The state has the new values.
func TestRelocatedStream(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), nil, streamstest.Streams("cam-1")...)
	r.mustApply(cam1("p1"))
	service.Seed(streamstest.Stream{ID: "cam-1", TerminalID: "terminal-2", FragmentTypeID: "video", ProcessorIDs: []string{"p1"}})
	diags := r.apply(cam1("p2"))
	wantDiagnostics(t, diags, "ERROR: Unexpected Change of the Stream", "ERROR: Unexpected Change of the Stream") // for each value
	for _, d := range diags {
		streamstest.WantText(t, d.Detail, `stream "cam-1"`, "\n\nThe stream was changed.")
	}
	for name, want := range map[string]any{"terminal_id": "terminal-2", "fragment_type_id": "video", "processor_ids": []string{"p2"}} {
		wantAttribute(t, r.state, name, want)
	}
	r.mustApply(cam1("p3"))
}
