package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const deploymentChanged = "The Deployment Has Changed"

// At another address, both resources are updated in place, with all of their sets, also from a saved plan. With a name, the
// deployment is still the same. The former address gets no request.
func TestAccDeploymentChanges(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(3)
	former, formerURL := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service, url := streamstest.Start(t, streamstest.Options{})
	for _, id := range ids {
		service.Seed(streamstest.Stream{ID: id, TerminalID: "terminal-2"})
	}
	config := resourceOf("this", "cam-1", `"p1"`, "") + groupOf("this", sets(ids[1:], `"p1"`), "")
	w := newWorkspace(t, formerURL, config)
	deployments := func(want string) {
		t.Helper()
		w.wantState("deployment", map[string]any{this: want, group: want})
	}
	w.mustApply()
	deployments(formerURL)
	former.ForgetRequests()

	w.setenv("STREAM_BASE_URL", url)
	w.setenv("STREAM_DEPLOYMENT", formerURL)
	w.wantNoChanges()
	w.setenv("STREAM_DEPLOYMENT", "")
	wantResult(t, w.plan("-destroy"), 1, "Error: "+deploymentChanged, "Nothing was sent")
	r := w.plan("-out=tfplan")
	wantResult(t, r, 2, "0 to add, 2 to change, 0 to destroy", fmt.Sprintf("%q -> %q", formerURL, url), `"terminal-1" -> (known after apply)`)
	if strings.Count(r.text(), "Warning: "+deploymentChanged) != 1 {
		t.Errorf("not one warning: %v", r)
	}
	service.WantRequests(t)
	w.mustApply("tfplan")
	service.WantRequests(t, updatesOf(sets(ids, `"p1"`))...)
	deployments(url)
	w.wantState("terminal_id", map[string]any{this: "terminal-2", group: nil})
	w.wantNoChanges()

	// A name is a change, too.
	w.writeConfig(providerWith(`deployment = "eu"`) + config)
	w.mustApply()
	service.WantRequests(t, updatesOf(sets(ids, `"p1"`))...)
	deployments("eu")
	w.mustApply("-destroy")
	service.WantRequests(t, updatesOf(sets(ids, ""))...)
	former.WantRequests(t)
}

// The resources get another provider block, whose address is known after apply at first. After a partial failure of the
// group, the next plan shows the rest.
func TestAccDeploymentOfAlias(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(4)
	former, formerURL := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	config := func(addressOfAlt, others string) string {
		return fmt.Sprintf(`
			provider "stream" { base_url = %q }
			provider "stream" {
			  alias    = "alt"
			  base_url = terraform_data.alt.output
			}
			resource "terraform_data" "alt" { input = %q }
		`, formerURL, addressOfAlt) + resourceOf("this", "cam-1", `"p1"`, others) + groupOf("this", sets(ids[1:], `"p1"`), others)
	}
	w := newWorkspace(t, "", config(formerURL, ""))
	w.mustApply()
	former.ForgetRequests()

	// An address that is known after apply plans no change. An update that happens anyway fills the deployment in.
	w.writeConfig(config(formerURL, "provider = stream.alt"))
	w.wantNoChanges()
	w.writeConfig(config(formerURL+"/v2", "provider = stream.alt"))
	wantResult(t, w.apply(), 0, "0 added, 1 changed")
	w.writeConfig(config(formerURL, "provider = stream.alt\n on_destroy = \"keep\""))
	wantResult(t, w.apply(), 0, "0 added, 3 changed")
	former.WantRequests(t)
	w.wantState("deployment", map[string]any{this: formerURL, group: formerURL, "terraform_data.alt": nil})

	service.InjectFunc(faultsByStream(map[string]streamstest.Fault{"cam-3": {Status: 403}}))
	w.writeConfig(config(url, "provider = stream.alt\n on_destroy = \"detach\""))
	wantResult(t, w.apply(), 1, `stream "cam-3"`, "Streams Failed", "The next plan shows the rest.")
	service.WantRequests(t, updatesOf(sets(ids, `"p1"`))...)
	w.wantState("deployment", map[string]any{this: url, group: url, "terraform_data.alt": nil})
	service.InjectFunc(nil)
	wantResult(t, w.plan(), 2, "0 to add, 1 to change, 0 to destroy", `+ "cam-3"`)
	w.mustApply()
	service.WantRequests(t, updateOf("cam-3", `"p1"`))
	w.wantNoChanges()
	former.WantRequests(t)
}

// Whatever is destroyed before it was applied at the configured deployment, nothing is sent to either deployment, and
// nothing is forgotten, also with detect_drift. With keep, the state forgets the resource.
func TestAccDeploymentChangesBeforeDestroy(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(4)
	former, formerURL := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true})
	keep := `on_destroy = "keep"`
	config := resourceOf("this", "cam-1", `"p1"`, "") + groupOf("this", sets(ids[1:2], `"p1"`), "")
	w := newWorkspace(t, formerURL, config+resourceOf("kept", "cam-3", `"p1"`, keep)+groupOf("kept", sets(ids[3:], `"p1"`), keep))
	w.mustApply()
	former.ForgetRequests()
	before := w.state()
	wantUnchanged := func() {
		t.Helper()
		if diff := cmp.Diff(before, w.state()); diff != "" {
			t.Errorf("the state has changed (-before +after):\n%s", diff)
		}
	}

	// The service at the new address knows no stream.
	w.setenv("STREAM_BASE_URL", url)
	w.setenv("STREAM_DETECT_DRIFT", "true")
	w.mustApply("-refresh-only")
	wantResult(t, w.apply("-destroy"), 1, "Error: "+deploymentChanged)
	wantResult(t, w.plan(), 2, "0 to add, 4 to change, 0 to destroy", "Warning: "+deploymentChanged)
	wantUnchanged()
	service.WantRequests(t)
	w.setenv("STREAM_DETECT_DRIFT", "")

	// Terraform asks for no plan of the destroy.
	service.Seed(streamstest.Streams(ids...)...)
	for _, address := range []string{this, group} {
		wantResult(t, w.apply("-replace="+address, "-target="+address), 1, "Error: "+deploymentChanged, "Nothing was sent")
		wantUnchanged()
		w.mustRun("taint", "-no-color", address)
		wantResult(t, w.apply("-target="+address), 1, "Error: "+deploymentChanged, "terraform untaint")
		w.mustRun("untaint", "-no-color", address)
		wantUnchanged()
	}
	w.writeConfig(config)
	w.mustApply("-target=stream_processors.kept", "-target=stream_processors_group.kept")
	service.WantRequests(t)
	former.WantRequests(t)
	w.wantState("deployment", map[string]any{this: formerURL, group: formerURL})

	// A way out: the former address again.
	w.setenv("STREAM_BASE_URL", formerURL)
	w.mustApply("-destroy")
	former.WantRequests(t, updatesOf(sets(ids[:2], ""))...)
	service.WantRequests(t)
}
