package acceptance

import (
	"encoding/json"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Streams move between single resources and groups in one apply each. None is emptied unless the plan has warned about it.
func TestAccGroupHandover(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("a", "b", "c")...)
	w := newWorkspace(t, url, "")
	single := func(id, set string) string { return resourceOf(id, id, set, "") }
	for i, step := range []struct{ config, a, b string }{
		{groupOf("x", map[string]string{"a": `"p1"`}, "") + groupOf("y", map[string]string{"b": `"p2"`, "c": `"p1"`}, ""), "p1", "p2"},
		{groupOf("x", map[string]string{"b": `"p3"`}, "") + groupOf("y", map[string]string{"a": `"p1"`, "c": `"p1"`}, ""), "p1", "p3"},
		{groupOf("y", map[string]string{"c": `"p1"`}, "") + single("a", `"p4"`) + single("b", `"p3"`), "p4", "p3"},
		{groupOf("z", map[string]string{"a": `"p4"`, "b": `"p3"`, "c": `"p1"`}, ""), "p4", "p3"},
	} {
		w.writeConfig(step.config)
		service.ForgetRequests()
		r := w.mustApply() // prints the plan
		if emptied := emptiedWithoutWarning(service, r); len(emptied) > 0 {
			t.Errorf("step %d: %q were emptied, and the plan did not warn: %v", i, emptied, r)
		}
		service.WantAttached(t, "a", step.a)
		service.WantAttached(t, "b", step.b)
		service.WantAttached(t, "c", "p1")
	}
	w.wantNoChanges()
}

// One group of 2,000 streams: a change of one stream sends one request.
func TestAccLargeGroup(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(2000)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, "resource \"stream_processors_group\" \"this\" {\n  streams = jsondecode(file(\"streams.json\"))\n}\n")
	streams := map[string][]string{}
	for _, id := range ids {
		streams[id] = []string{"p1"}
	}
	apply := func() {
		t.Helper()
		content, err := json.Marshal(streams)
		if err != nil {
			t.Fatal(err)
		}
		w.writeFile("streams.json", string(content))
		w.mustApply()
	}
	apply()
	service.WantRequests(t, updatesOf(sets(ids, `"p1"`))...)
	streams["cam-500"] = []string{"p2"}
	apply()
	service.WantRequests(t, updateOf("cam-500", `"p2"`))
}
