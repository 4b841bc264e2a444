package provider

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Every operation returns the identity, also to CLIs that do not show it.
func TestIdentityIsKept(t *testing.T) {
	t.Parallel()
	for _, detect := range []bool{false, true} {
		t.Run(fmt.Sprintf("detect_drift=%t", detect), func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2")...)
			p := startProvider(t, attributes{"base_url": url, "detect_drift": detect})
			wantIdentity := func(step string, got managed, diags diagnostics, id string) {
				t.Helper()
				if diags.failed() {
					t.Fatalf("%s: %s", step, diags)
				}
				if diff := cmp.Diff(map[string]any{"stream_id": id}, decodeIdentity(t, got.identity)); diff != "" {
					t.Errorf("identity after %s (-want +got):\n%s", step, diff)
				}
			}
			config := func(id, onDestroy string, set ...string) tftypes.Value {
				return resourceValue(attributes{"stream_id": id, "processor_ids": set, "on_destroy": onDestroy})
			}
			planAndApply := func(step string, prior managed, config tftypes.Value, id string) managed {
				t.Helper()
				planned, _, diags := p.plan(prior, config, proposedState(prior.value, config))
				if diags.failed() {
					t.Fatalf("%s: %s", step, diags)
				}
				got, diags := p.apply(prior.value, planned, config)
				wantIdentity(step, got, diags, id)
				return got
			}

			imported, diags := p.importState("cam-2")
			if diags.failed() {
				t.Fatal(diags)
			}
			imported, diags = p.read(imported)
			wantIdentity("import", imported, diags, "cam-2")
			planAndApply("the update after an import", imported, config("cam-2", "keep", "p1"), "cam-2")

			p = startProvider(t, attributes{"base_url": url, "detect_drift": detect})
			created := planAndApply("create", managed{value: nullResource()}, config("cam-1", "detach", "p1"), "cam-1")
			p = startProvider(t, attributes{"base_url": url, "detect_drift": detect})
			read, diags := p.read(created)
			wantIdentity("read", read, diags, "cam-1")
			updated := planAndApply("update", read, config("cam-1", "detach", "p2"), "cam-1")
			unsent := planAndApply("an update that sends nothing", updated, config("cam-1", "keep", "p2"), "cam-1")

			// The state of a version without identities.
			old := unsent
			old.identity = nil
			p = startProvider(t, attributes{"base_url": url, "detect_drift": detect})
			read, diags = p.read(old)
			wantIdentity("a read of an old state", read, diags, "cam-1")
			planAndApply("an update of an old state", old, config("cam-1", "keep", "p3"), "cam-1")
			planAndApply("an update of an old state that sends nothing", old, config("cam-1", "detach", "p3"), "cam-1")
			service.WantAttached(t, "cam-1", "p3")
		})
	}
}
