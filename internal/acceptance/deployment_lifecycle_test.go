package acceptance

import (
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestAccDeployment takes one stream from create to destroy. On a real deployment, of which only the interface document
// is known, the test logs the steps that the service refuses and leaves them out.
func TestAccDeployment(t *testing.T) {
	t.Parallel()
	d, _ := realDeployment()
	if d == nil {
		_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
		d = &deployment{"cam-1", []string{"p1", "p2", "p3"}, false, []string{"STREAM_BASE_URL=" + url}}
	}
	w, all := d.newWorkspace(t), d.processorIDs
	defer func() {
		if t.Failed() && !d.keepProcessors && len(w.state()) > 0 {
			t.Logf("emptying the stream: %v", w.apply("-destroy"))
		}
	}()

	w.writeConfig(d.resource(all, ""))
	r := w.apply()
	switch {
	case strings.Contains(r.text(), "The service reports that the stream now has"):
		t.Skipf("no set of the stream can be confirmed. If the deployment merges sets, detach what else is there.\n%v", r)
	case r.code != 0:
		t.Fatalf("the deployment did not take the first update. Check its address, the credentials, STREAM_ACC_STREAM_ID "+
			"and STREAM_ACC_PROCESSOR_IDS.\n%v", r)
	}
	w.wantNoChanges()
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	w.writeConfig(d.resource(append(reversed, all...), ""))
	w.wantNoChanges()

	if len(all) > 1 && d.accepts(w, "a smaller set", all[:1], "") {
		d.mustAccept(w, all, "")
	}
	const trigger = "triggers = { run = \"1\" }\n"
	d.mustAccept(w, all, trigger)

	other := d.newWorkspace(t)
	other.writeConfig(d.resource(all, trigger))
	other.mustRun("import", "-no-color", "-input=false", this, d.streamID)
	d.mustAccept(other, all, trigger)

	detaches := d.accepts(w, "the empty set, which a destroy sends", nil, trigger)
	if detaches {
		d.mustAccept(w, all, trigger)
	}
	if !detaches || d.keepProcessors {
		d.mustAccept(w, all, trigger+`on_destroy = "keep"`)
		t.Logf("stream %q keeps the processors %q", d.streamID, all)
	}
	w.mustApply("-destroy")
	w.wantEmptyState()
}

// newWorkspace makes an empty root module whose provider talks to the deployment.
func (d *deployment) newWorkspace(t *testing.T) *workspace {
	t.Helper()
	w := newWorkspaceAnywhere(t, "")
	w.setenvs(d.environment...)
	return w
}

// resource is the resource of the stream, with this set and other attributes.
func (d *deployment) resource(set []string, others string) string {
	return resourceOf("this", d.streamID, strings.Trim(hclList(set), "[]"), others)
}

// accepts applies a set and reports whether the deployment accepts it. If not, the next plan sends the set again.
func (d *deployment) accepts(w *workspace, step string, set []string, others string) bool {
	w.t.Helper()
	w.writeConfig(d.resource(set, others))
	if r := w.apply(); r.code != 0 {
		w.t.Logf("the deployment refuses %s: %v", step, r)
		wantResult(w.t, w.plan(), 2, "0 to add, 1 to change, 0 to destroy")
		return false
	}
	w.wantState("processor_ids", map[string]any{this: list(set...)})
	w.wantNoChanges()
	return true
}

func (d *deployment) mustAccept(w *workspace, set []string, others string) {
	w.t.Helper()
	if !d.accepts(w, "a set that it has accepted before", set, others) {
		w.t.FailNow()
	}
}
