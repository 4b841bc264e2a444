package acceptance

import (
	"fmt"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// The advice of "Stream May Be Without Processors", followed to its end: the stream keeps its processors, or gets them again, and no
// plan is left with changes. It needs clitest for -target.
func TestAccAdviceForALateID(t *testing.T) {
	t.Parallel()
	config := func(others string) string {
		return "variable \"generation\" { default = 1 }\n" +
			"resource \"terraform_data\" \"stream\" {\n  input            = \"cam-1\"\n  triggers_replace = var.generation\n}\n" +
			"resource \"stream_processors\" \"this\" {\n  stream_id     = terraform_data.stream.output\n  processor_ids = [\"p1\"]\n  " +
			others + "\n}\n"
	}
	const second = "-var=generation=2"
	update := updateOf("cam-1", `"p1"`)
	for name, follow := range map[string]func(w *lateRun){
		"triggers and -target": func(w *lateRun) {
			w.Configure(config("triggers      = { created = terraform_data.stream.id }"))
			w.MustApply(second, "-target=terraform_data.stream")
			w.service.WantRequests(w.t)
			w.service.Seed(streamstest.Stream{ID: "cam-1"}) // as the other provider creates it again
			w.Plan(second).Want(2, "1 to change")
		},
		"create_before_destroy": func(w *lateRun) { w.Configure(config("lifecycle { create_before_destroy = true }")) },
		"keep": func(w *lateRun) {
			w.Configure(config("on_destroy    = \"keep\""))
			w.MustApply()
			w.service.WantRequests(w.t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
			w := &lateRun{newWorkspace(t, url, config("")), service, t}
			w.MustApply()
			service.WantRequests(t, update)
			w.Plan(second).Want(2, "Warning: Stream May Be Without Processors")
			follow(w)
			w.MustApply(second)
			service.WantRequests(t, update) // never the empty set
			service.WantAttached(t, "cam-1", "p1")
			w.Plan(second).Want(0)
		})
	}
}

// lateRun is a workspace with one stream.
type lateRun struct {
	*clitest.Workspace
	service *streamstest.Service
	t       *testing.T
}

// The advice of "Processors Were Detached for a Moment", followed to its end: a renamed key of for_each detaches nothing. It needs
// clitest for the runs of one folder.
func TestAccAdviceForARenamedKey(t *testing.T) {
	t.Parallel()
	config := func(key, others string) string {
		return "resource \"terraform_data\" \"stream\" {\n  for_each = toset([\"" + key + "\"])\n  input    = \"cam-1\"\n}\n" +
			"resource \"stream_processors\" \"this\" {\n  for_each      = toset([\"" + key + "\"])\n" +
			"  stream_id     = terraform_data.stream[each.key].output\n  processor_ids = [\"p1\"]\n" + others + "}\n"
	}
	const keep = "  on_destroy    = \"keep\"\n"
	const moved = "moved {\n  from = %[1]s[\"a\"]\n  to   = %[1]s[\"b\"]\n}\n"
	update := updateOf("cam-1", `"p1"`)
	for name, test := range map[string]struct {
		first, then string
		sent        []string
	}{
		"keep":  {config("a", keep), config("b", keep), []string{update}},
		"moved": {"", config("b", "") + fmt.Sprintf(moved, "terraform_data.stream") + fmt.Sprintf(moved, "stream_processors.this"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
			w := newWorkspace(t, url, config("a", ""))
			w.MustApply()
			service.WantRequests(t, update)
			if test.first != "" {
				w.Configure(test.first)
				w.MustApply()
				service.WantRequests(t)
			}
			w.Configure(test.then)
			w.MustApply()
			service.WantRequests(t, test.sent...)
			service.WantAttached(t, "cam-1", "p1")
			w.Plan().Want(0)
		})
	}
}
