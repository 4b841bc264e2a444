package acceptance

import (
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func queryOf(ids []string, others string) string {
	return "list \"stream_processors\" \"all\" {\n  provider = stream\n  " + others + "\n  config {\n    stream_ids = " + hclList(ids) + "\n  }\n}\n"
}

// A query writes the configuration of streams as they are. Its apply changes no stream, and the plan after it is empty.
func TestAccQuery(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true},
		streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p2", "p1"}}, streamstest.Stream{ID: "cam-2"},
		streamstest.Stream{ID: `a/"b" ${c}`, ProcessorIDs: []string{"%{x}"}})
	w := newWorkspace(t, url, "provider \"stream\" {}\n")
	w.atLeast("1.14", "")
	w.setenv("STREAM_DETECT_DRIFT", "true")
	w.writeFile("streams.tfquery.hcl", queryOf([]string{"cam-1", "cam-2", `a/"b" ${c}`, "missing"}, ""))
	wantResult(t, w.run("query", "-no-color", "-generate-config-out=adopted.tf"), 0,
		"cam-1 (2 processors)", "cam-2 (0 processors)", `Stream Not Found: stream "missing"`)
	wantResult(t, w.plan("-out=tfplan"), 2, "3 to import, 0 to add, 0 to change, 0 to destroy")
	w.mustApply("tfplan")
	w.wantNoChanges()
	if len(w.state()) != 3 {
		t.Errorf("the state has %v", w.state())
	}
	for _, r := range service.Requests() {
		if r.Method != "GET" {
			t.Errorf("the service has received %s", r)
		}
	}

	service.ForgetRequests()
	w.writeFile("streams.tfquery.hcl", queryOf([]string{"cam-1", "cam-2"}, "limit = 1"))
	if r := w.mustRun("query", "-no-color"); strings.Contains(r.text(), "cam-2") {
		t.Errorf("more than the limit: %v", r)
	}
	service.WantRequests(t, "GET /v2/streams/cam-1")

	service.Inject(streamstest.Fault{Status: 403, Message: "not yours"})
	w.writeFile("streams.tfquery.hcl", queryOf([]string{"cam-1", "cam-2"}, ""))
	wantResult(t, w.run("query", "-no-color"), 1, "Unauthorized Error", "not yours")
	service.ForgetRequests()

	w.setenv("STREAM_DETECT_DRIFT", "false")
	wantResult(t, w.run("query", "-no-color"), 1, "Streams Cannot Be Listed")
	service.WantRequests(t)
}

// An interrupted query fails.
func TestAccQueryInterrupt(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2")...)
	w := newWorkspace(t, url, providerWith(`detect_drift = true`))
	w.atLeast("1.14", "")
	arrived := make(chan struct{})
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if r.StreamID == "cam-2" {
			close(arrived)
			return &streamstest.Fault{Delay: time.Hour}
		}
		return nil
	})
	w.writeFile("streams.tfquery.hcl", queryOf([]string{"cam-1", "cam-2"}, ""))
	wantResult(t, w.runInterrupted(arrived, "query", "-no-color"), 1, "Operation Interrupted")
}

// An import of a group reads each stream once, and an import of a stream that does not exist names it.
func TestAccImportGroup(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true},
		streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p1"}}, streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"p2"}})
	config := groupOf("this", map[string]string{"cam-1": `"p1"`, "cam-2": `"p2"`}, "")
	w := newWorkspace(t, url, config+resourceOf("this", "missing", `"p1"`, ""))
	w.atLeast("1.6", "1.7")
	wantResult(t, w.run("import", "-no-color", group, `["cam-1"]`), 1, "Group Cannot Be Imported", "detect_drift = true")
	w.setenv("STREAM_DETECT_DRIFT", "true")
	wantResult(t, w.run("import", "-no-color", group, "cam-1\nmissing"), 1, "Resource Not Found Error", `there is no stream "missing"`)
	wantResult(t, w.run("import", "-no-color", this, "missing"), 1, "Resource Not Found Error", `there is no stream "missing"`)
	w.wantEmptyState()
	service.ForgetRequests()

	w.writeConfig(config + "import {\n  to = " + group + "\n  id = jsonencode([\"cam-1\", \"cam-2\"])\n}\n")
	wantResult(t, w.plan("-out=tfplan"), 2, "1 to import, 0 to add, 0 to change, 0 to destroy")
	service.WantRequests(t, "GET /v2/streams/cam-1", "GET /v2/streams/cam-2")
	w.mustApply("tfplan")
	w.wantNoChanges()
}
