package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// At another address, both resources are updated in place, with all of their sets, also from a saved plan. Until then, no
// destroy sends anything or forgets a resource. The former address gets no request. A saved plan of a create goes to the
// address of the apply. It needs clitest for the saved plans.
func TestAccDeploymentChanges(t *testing.T) {
	t.Parallel()
	const changed = "The Deployment Has Changed"
	ids := fleetIDs(3)
	former, formerURL := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	config := resourceOf("this", "cam-1", `"p1"`, "") + groupOf(sets(ids[1:], `"p1"`), "")
	w := newWorkspace(t, url, config)
	w.Plan("-out=tfplan").Want(2, "2 to add")
	w.Setenv("STREAM_BASE_URL=" + formerURL)
	w.MustApply("tfplan")
	before := w.MustRun("show").Stdout
	former.ForgetRequests()

	w.Setenv("STREAM_BASE_URL="+url, "STREAM_DEPLOYMENT="+formerURL)
	w.Plan().Want(0)
	w.Setenv("STREAM_DEPLOYMENT=")
	w.Plan("-destroy").Want(1, "Error: "+changed, "Nothing was sent")
	// Terraform asks for no plan of these destroys.
	replaced := w.Apply("-replace="+this, "-replace="+group).Want(1, "Nothing was sent")
	if strings.Count(replaced.Text(), "Error: "+changed) != 2 {
		t.Errorf("not two errors: %v", replaced)
	}
	if diff := cmp.Diff(before, w.MustRun("show").Stdout); diff != "" || strings.Count(before, formerURL) != 2 {
		t.Errorf("the state has changed (-before +after):\n%s", diff)
	}

	r := w.Plan("-out=tfplan").Want(2, "0 to add, 2 to change, 0 to destroy", fmt.Sprintf("%q -> %q", formerURL, url),
		fmt.Sprintf("sends the sets to %q", url), "keep their processors", fmt.Sprintf("set deployment = %q", formerURL))
	if strings.Count(r.Text(), "Warning: "+changed) != 1 {
		t.Errorf("not one warning: %v", r)
	}
	service.WantRequests(t)
	w.MustApply("tfplan")
	service.WantRequests(t, updatesOf(sets(ids, `"p1"`))...)
	if after := w.MustRun("show").Stdout; strings.Count(after, url) != 2 || strings.Contains(after, formerURL) {
		t.Errorf("the state has another deployment: %s", after)
	}
	w.Plan().Want(0)
	former.WantRequests(t)
}
