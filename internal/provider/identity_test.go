package provider

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Every operation returns the identity, also to CLIs that do not show it.
func TestIdentityIsKept(t *testing.T) {
	t.Parallel()
	for _, detect := range []bool{false, true} {
		t.Run(fmt.Sprintf("detect_drift=%t", detect), func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2")...)
			r := newSingleRun(t, coretest.Attributes{"base_url": url, "detect_drift": detect})
			wantIdentity := func(step string, diags coretest.Diagnostics, id string) {
				t.Helper()
				if diags.Failed() {
					t.Fatalf("%s: %s", step, diags)
				}
				if diff := cmp.Diff(map[string]any{"stream_id": id}, decodeIdentity(t, r.state.Identity)); diff != "" {
					t.Errorf("identity after %s (-want +got):\n%s", step, diff)
				}
			}
			config := func(id, onDestroy, processor string) tftypes.Value {
				return resourceValue(coretest.Attributes{"stream_id": id, "processor_ids": []string{processor}, "on_destroy": onDestroy})
			}
			var diags coretest.Diagnostics
			if r.state, diags = startProvider(t, r.provider).ImportState("cam-2"); diags.Failed() {
				t.Fatal(diags)
			}
			wantIdentity("import", r.refresh(), "cam-2")
			wantIdentity("the update after an import", r.apply(config("cam-2", "keep", "p1")), "cam-2")

			r = newSingleRun(t, r.provider)
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
