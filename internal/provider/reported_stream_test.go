package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

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
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
			r := newSingleRun(t, coretest.Attributes{"base_url": url})
			wantError := func(diags coretest.Diagnostics) {
				t.Helper()
				text := diags.String()
				for _, part := range append(test.want, "Unexpected Answer") {
					if !strings.Contains(text, part) {
						t.Errorf("no %q in %s", part, text)
					}
				}
				if end := `The service reports that the stream now has ` + streams.NewProcessorSet(test.reported...).String() + `.`; !diags.Failed() || !strings.HasSuffix(text, end) {
					t.Errorf("the error does not end with %q: %s", end, text)
				}
			}
			service.Inject(streamstest.Fault{Edit: test.edit})
			wantError(r.apply(cam1("p2", "p3")))
			if !r.state.Value.IsNull() {
				t.Fatalf("a failed create leaves a state: %v", r.state.Value)
			}
			r.mustApply(cam1("p1"))
			service.Inject(streamstest.Fault{Edit: test.edit})
			wantError(r.apply(cam1("p2", "p3")))
			if diff := cmp.Diff(any(test.reported), r.attribute("processor_ids")); diff != "" {
				t.Errorf("processor_ids in the state (-want +got):\n%s", diff)
			}
			service.DrainRequests()
			r.mustApply(cam1("p2", "p3"))
			service.WantRequests(t, patches(map[string][]string{"cam-1": {"p2", "p3"}})...)
		})
	}
}

// A stream that has moved to another terminal is an error once. The state has the new values.
func TestRelocatedStream(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	r := newSingleRun(t, coretest.Attributes{"base_url": url})
	r.mustApply(cam1("p1"))
	service.Seed(streamstest.Stream{ID: "cam-1", TerminalID: "terminal-2", FragmentTypeID: "video", ProcessorIDs: []string{"p1"}})
	diags := r.apply(cam1("p2"))
	if len(diags) != 2 {
		t.Fatalf("want an error for each value, got %s", diags)
	}
	for _, d := range diags {
		if d.Summary != "Unexpected Change of the Stream" || !strings.Contains(d.Detail, `stream "cam-1"`) || !strings.HasSuffix(d.Detail, "\n\nThe stream was changed.") {
			t.Errorf("diagnostic: %s: %s", d.Summary, d.Detail)
		}
	}
	for name, want := range map[string]any{"terminal_id": "terminal-2", "fragment_type_id": "video", "processor_ids": []string{"p2"}} {
		if diff := cmp.Diff(want, r.attribute(name)); diff != "" {
			t.Errorf("%s in the state (-want +got):\n%s", name, diff)
		}
	}
	r.mustApply(cam1("p3"))
}
