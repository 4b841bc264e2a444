package acceptance

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// changedAttribute is an attribute of a resource that a plan changes.
var changedAttribute = regexp.MustCompile(`(?m)^ {6}[~+-] (\w+) `)

// Each change that a user can make, one after the other. The ids are a set, a change of them never passes through the
// empty set, and the values that no update changes stay known. No other command sends anything.
func TestAccLifecycle(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Stream{
		ID: "a/b ü", TerminalID: "t-1", FragmentTypeID: "image/jpg", LastEdited: 4e12, CompatibleNamespaces: []string{"b", "a", "b"},
	})
	w := newWorkspace(t, url, "")
	configure := func(set, others string) { w.Configure(resourceOf("this", "a/b ü", set, others)) }
	configure(`"p2", "p1"`, "")
	w.MustApply()
	want := map[string]any{
		"id": "a/b ü", "stream_id": "a/b ü", "processor_ids": clitest.List("p1", "p2"), "on_destroy": "detach",
		"triggers": nil, "timeouts": nil, "terminal_id": "t-1", "fragment_type_id": "image/jpg",
		"compatible_namespaces": clitest.List("a", "b"), "last_edited": 4e12 + 1, "deployment": url,
	}
	if diff := cmp.Diff(want, w.State()[this].Attributes); diff != "" {
		t.Errorf("the state (-want +got):\n%s", diff)
	}
	service.WantRequests(t, updateOf("a%2Fb%20%C3%BC", `"p1", "p2"`))

	trigger := "triggers = { run = \"1\" }\n"
	const reported = "compatible_namespaces last_edited"
	for _, step := range []struct{ name, set, others, changed string }{
		{"order, duplicates and defaults", `"p1", "p2", "p1"`, "on_destroy = \"detach\"\n triggers = null\n timeouts = null", ""},
		{"set", `"p3"`, "", reported + " processor_ids"},
		{"options", `"p3"`, "on_destroy = \"keep\"\n timeouts = { update = \"4m\" }", "on_destroy timeouts"},
		{"trigger", `"p3"`, trigger, reported + " on_destroy timeouts triggers"},
		{"empty set", "", trigger, reported + " processor_ids"},
	} {
		configure(step.set, step.others)
		var changed []string
		for _, line := range changedAttribute.FindAllStringSubmatch(w.Run("plan", "-out=tfplan").Want(0).Stdout, -1) {
			changed = append(changed, line[1])
		}
		if got := strings.Join(changed, " "); got != step.changed {
			t.Errorf("%s: the plan changes %q, want %q", step.name, got, step.changed)
		}
		service.WantRequests(t)
		w.MustRun("apply", "tfplan")
		if strings.HasPrefix(step.changed, reported) {
			service.WantRequests(t, updateOf("a%2Fb%20%C3%BC", step.set))
		} else {
			service.WantRequests(t)
		}
	}
	for _, args := range [][]string{
		{"validate"}, {"apply", "-auto-approve"}, {"apply", "-auto-approve", "-refresh-only"}, {"plan", "-destroy"}, {"plan", "-replace=" + this},
		{"state", "show", this}, {"taint", this}, {"untaint", this}, {"state", "rm", this}, {"import", this, "a/b ü"}, {"plan"},
	} {
		w.MustRun(args...)
		service.WantRequests(t)
	}
	w.MustApply("-destroy")
	service.WantRequests(t, updateOf("a%2Fb%20%C3%BC", ""))
	w.WantEmptyState()
}

// A change of stream_id leaves the old stream as on_destroy says, and then updates the new one. A replacement on the same
// stream never detaches.
func TestAccReplace(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("a", "a2", "b", "b2", "c", "c2")...)
	config := func(suffix string) string {
		return resourceOf("detach", "a"+suffix, `"p1"`, "") + resourceOf("keep", "b"+suffix, `"p1"`, `on_destroy = "keep"`) +
			resourceOf("early", "c"+suffix, `"p1"`, "lifecycle {\n    create_before_destroy = true\n  }")
	}
	w := newWorkspace(t, url, config(""))
	w.MustApply()
	service.ForgetRequests()

	w.MustApply("-replace=stream_processors.detach", "-replace=stream_processors.early")
	service.WantRequests(t, updateOf("a", `"p1"`), updateOf("c", `"p1"`))

	w.Configure(config("2"))
	w.Apply().Want(0, "3 added, 0 changed, 3 destroyed")
	inOrder := map[string]string{} // of the streams with the same first letter
	for _, r := range service.Requests() {
		inOrder[r.StreamID[:1]] += fmt.Sprintln(r.StreamID, r.Body)
	}
	const set, empty = ` {"processor_ids":["p1"]}` + "\n", ` {"processor_ids":[]}` + "\n"
	want := map[string]string{"a": "a" + empty + "a2" + set, "b": "b2" + set, "c": "c2" + set + "c" + empty}
	if diff := cmp.Diff(want, inOrder); diff != "" {
		t.Errorf("requests in order (-want +got):\n%s", diff)
	}
	w.WantNoChanges()
}
