package acceptance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// A group whose streams leave and are detached warns in the plan, whatever is the reason: a line of a file that is missing, or all of
// them. The test needs clitest for the output. Without a loss, nothing is new.
func TestAccStreamsLeaveAGroup(t *testing.T) {
	t.Parallel()
	const warning = "Streams Leave the Group"
	ids := fleetIDs(40)
	s := startService(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, s.url, "")
	all := sets(ids, `"p1", "p2"`)
	without := func(ids ...string) map[string]string {
		rest := maps.Clone(all)
		maps.DeleteFunc(rest, func(id, _ string) bool { return slices.Contains(ids, id) })
		return rest
	}
	plan := func(config string) string {
		t.Helper()
		w.Configure(config)
		r := w.Plan()
		if r.Code == 1 {
			t.Fatal(r)
		}
		return r.Text()
	}
	wantSilent := func(what, config string) {
		t.Helper()
		if text := plan(config); strings.Contains(text, warning) {
			t.Errorf("%s: %s", what, text)
		}
	}
	w.Configure(groupOf(without("cam-40"), ""))
	w.MustApply()
	wantSilent("no change", groupOf(without("cam-40"), ""))
	wantSilent("another set, an empty set, and one more stream", groupOf(with(with(all, "cam-1", `"p3"`), "cam-2", ""), ""))
	w.Configure(groupOf(all, ""))
	w.MustApply()

	for lost, want := range map[int]string{1: "leaves the group (1 of 40)", 20: "leave the group (20 of 40)", 40: "(40 of 40)"} {
		text := plan(groupOf(without(ids[:lost]...), ""))
		streamstest.WantText(t, text, warning, want, `: ["p1", "p2"]`, `on_destroy = "keep"`)
		if n := strings.Count(text, warning); n != 1 {
			t.Errorf("%d warnings: %s", n, text)
		}
		_, text, _ = strings.Cut(text, " of 40)")
		if lost == 1 {
			continue
		}
		if named := strings.Count(text, `"cam-`); named != min(lost, 20) || strings.Contains(text, "and 20 more") != (lost == 40) {
			t.Errorf("%d streams leave, and %d are named: %s", lost, named, text)
		}
	}
	wantSilent("keep", groupOf(without("cam-1"), `on_destroy = "keep"`))
	wantSilent("the group is removed", "")
	wantSilent("another resource has the stream", groupOf(without("cam-1"), "")+resourceOf("other", "cam-1", `"p1", "p2"`, ""))
	text := plan(groupOf(without("cam-1", "cam-2"), "") + resourceOf("other", "cam-1", `"p1", "p2"`, ""))
	streamstest.WantText(t, text, `"cam-2" leaves the group (1 of 40)`, `: ["p1", "p2"]`)

	late := "resource \"terraform_data\" \"id\" {\n  input = \"cam-1\"\n}\n\nresource \"stream_processors_group\" \"this\" {\n" +
		"  streams = { (terraform_data.id.output) = [\"p1\"] }\n}\n"
	w.Configure(late)
	w.MustRun("init")
	text = plan(late)
	streamstest.WantText(t, text, warning, "known only after apply")
	if strings.Contains(text, "of 40") {
		t.Errorf("nobody knows how many: %s", text)
	}
	if text := w.Run("plan", "-destroy").Text(); strings.Contains(text, warning) {
		t.Errorf("a destroy: %s", text)
	}
	s.ForgetRequests()
	w.Configure(groupOf(nil, ""))
	w.Apply().Want(0, "leave the group (40 of 40)")
	for _, id := range ids {
		s.WantAttached(t, id)
	}
}

// with gives a stream another set.
func with(streams map[string]string, id, set string) map[string]string {
	streams = maps.Clone(streams)
	streams[id] = set
	return streams
}

// Each group that loses streams says so, although Terraform shows one of several warnings with equal summaries.
func TestAccStreamsLeaveGroups(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(6)
	s := startService(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	config := func(last int) string {
		return fmt.Sprintf("resource \"stream_processors_group\" \"this\" {\n  for_each = toset([\"0\", \"2\", \"4\"])\n"+
			"  streams  = { for i in range(1, %d) : \"cam-${each.key + i}\" => [\"p1\"] }\n}\n", last)
	}
	w := newWorkspace(t, s.url, config(3))
	w.MustApply()
	w.Configure(config(2))
	w.Plan().Want(2, `"cam-2" leaves the group`, `"cam-4" leaves the group`, `"cam-6" leaves the group`)
}
