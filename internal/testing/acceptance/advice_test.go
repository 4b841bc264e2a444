package acceptance

import (
	"fmt"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

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
