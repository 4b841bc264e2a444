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
			p := startProvider(t, coretest.Attributes{"base_url": url, "detect_drift": detect})
			wantIdentity := func(step string, got coretest.Managed, diags coretest.Diagnostics, id string) {
				t.Helper()
				if diags.Failed() {
					t.Fatalf("%s: %s", step, diags)
				}
				if diff := cmp.Diff(map[string]any{"stream_id": id}, decodeIdentity(t, got.Identity)); diff != "" {
					t.Errorf("identity after %s (-want +got):\n%s", step, diff)
				}
			}
			config := func(id, onDestroy string, set ...string) tftypes.Value {
				return resourceValue(coretest.Attributes{"stream_id": id, "processor_ids": set, "on_destroy": onDestroy})
			}
			planAndApply := func(step string, prior coretest.Managed, config tftypes.Value, id string) coretest.Managed {
				t.Helper()
				planned, _, diags := p.Plan(prior, config)
				if diags.Failed() {
					t.Fatalf("%s: %s", step, diags)
				}
				got, diags := p.Apply(prior.Value, planned, config)
				wantIdentity(step, got, diags, id)
				return got
			}

			imported, diags := p.ImportState("cam-2")
			if diags.Failed() {
				t.Fatal(diags)
			}
			imported, diags = p.Read(imported)
			wantIdentity("import", imported, diags, "cam-2")
			planAndApply("the update after an import", imported, config("cam-2", "keep", "p1"), "cam-2")

			p = startProvider(t, coretest.Attributes{"base_url": url, "detect_drift": detect})
			created := planAndApply("create", coretest.Managed{Value: nullResource()}, config("cam-1", "detach", "p1"), "cam-1")
			p = startProvider(t, coretest.Attributes{"base_url": url, "detect_drift": detect})
			read, diags := p.Read(created)
			wantIdentity("read", read, diags, "cam-1")
			updated := planAndApply("update", read, config("cam-1", "detach", "p2"), "cam-1")
			unsent := planAndApply("an update that sends nothing", updated, config("cam-1", "keep", "p2"), "cam-1")

			// The state of a version without identities.
			old := unsent
			old.Identity = nil
			p = startProvider(t, coretest.Attributes{"base_url": url, "detect_drift": detect})
			read, diags = p.Read(old)
			wantIdentity("a read of an old state", read, diags, "cam-1")
			planAndApply("an update of an old state", old, config("cam-1", "keep", "p3"), "cam-1")
			planAndApply("an update of an old state that sends nothing", old, config("cam-1", "detach", "p3"), "cam-1")
			service.WantAttached(t, "cam-1", "p3")
		})
	}
}
