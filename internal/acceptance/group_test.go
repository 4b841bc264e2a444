package acceptance

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// An update of a group sends what differs, and a reordered configuration nothing. The state has what succeeded.
func TestAccGroup(t *testing.T) {
	t.Parallel()
	skipOnRealDeployment(t)
	ids := fleetIDs(4)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	config := func(streams map[string]string, others string) string {
		return fmt.Sprintf("provider \"stream\" {\n  base_url = %q\n}\n", url) + groupOf("this", streams, others)
	}
	created := sets(ids, `"p1", "p2"`)
	changed := maps.Clone(created)
	changed["cam-2"] = `"p3"`
	delete(changed, "cam-3")
	kept := maps.Clone(changed)
	delete(kept, "cam-2")
	keep, trigger := `on_destroy = "keep"`, `triggers = { run = "1" }`
	sent := func(want map[string]string) resource.TestCheckFunc {
		return func(*terraform.State) error { service.WantRequests(t, updatesOf(want)...); return nil }
	}
	runSteps(t,
		resource.TestStep{Config: config(created, ""), Check: sent(created)},
		resource.TestStep{Config: config(sets(ids, `"p2", "p1", "p2"`), ""), ConfigPlanChecks: beforeApply(plancheck.ExpectEmptyPlan())},
		resource.TestStep{
			PreConfig:   func() { service.InjectFunc(faultsByStream(map[string]streamstest.Fault{"cam-3": {Status: 403}})) },
			Config:      config(changed, ""),
			ExpectError: regexp.MustCompile(`(?s)stream\s+"cam-3".*Streams Failed`),
		},
		resource.TestStep{
			PreConfig: func() {
				service.WantRequests(t, updateOf("cam-2", `"p3"`), updateOf("cam-3", ""))
				service.InjectFunc(nil)
			},
			Config: config(changed, ""), Check: sent(map[string]string{"cam-3": ""}),
		},
		resource.TestStep{Config: config(kept, keep), Check: sent(nil)},
		resource.TestStep{Config: config(kept, trigger), Check: sent(kept)},
	)
	service.WantRequests(t, updateOf("cam-1", ""), updateOf("cam-4", ""))
	service.WantAttached(t, "cam-2", "p3")
}

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
