package acceptance

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

var (
	processorIDs = tfjsonpath.New("processor_ids")
	lastEdited   = tfjsonpath.New("last_edited")
	namespaces   = tfjsonpath.New("compatible_namespaces")

	updated      = plancheck.ExpectResourceAction(this, plancheck.ResourceActionUpdate)
	groupUpdated = plancheck.ExpectResourceAction(group, plancheck.ResourceActionUpdate)
)

// Each change that a user can make, one after the other. The ids are a set, a change of them never passes through the
// empty set, and the values that no update changes stay known. Plan and refresh send nothing.
func TestAccLifecycle(t *testing.T) {
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Stream{
		ID: "a/b ü", TerminalID: "t-1", FragmentTypeID: "image/jpg", LastEdited: 4e12, CompatibleNamespaces: []string{"b", "a", "b"},
	})
	config := func(set, others string) string {
		return providerAt(url, "") + resourceOf("this", "a/b ü", set, others)
	}
	sent := func(set string) string { return updateOf("a%2Fb%20%C3%BC", set) }
	resent := []plancheck.PlanCheck{
		updated,
		plancheck.ExpectUnknownValue(this, lastEdited),
		plancheck.ExpectUnknownValue(this, namespaces),
		plancheck.ExpectKnownValue(this, tfjsonpath.New("terminal_id"), knownvalue.StringExact("t-1")),
		plancheck.ExpectKnownValue(this, tfjsonpath.New("fragment_type_id"), knownvalue.StringExact("image/jpg")),
	}
	const trigger = "triggers = { run = \"1\" }\n"
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config: config(`"p2", "p1"`, ""),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(this, tfjsonpath.Path{}, knownvalue.ObjectExact(map[string]knownvalue.Check{
					"id": knownvalue.StringExact("a/b ü"), "stream_id": knownvalue.StringExact("a/b ü"), "processor_ids": setOf("p1", "p2"),
					"on_destroy": knownvalue.StringExact("detach"), "triggers": knownvalue.Null(),
					"timeouts": knownvalue.Null(), "terminal_id": knownvalue.StringExact("t-1"),
					"fragment_type_id": knownvalue.StringExact("image/jpg"), "compatible_namespaces": setOf("a", "b"),
					"last_edited": knownvalue.Int64Exact(4e12 + 1), "deployment": knownvalue.StringExact(url),
				})),
			},
			PostApplyFunc: func() { service.WantRequests(t, sent(`"p1", "p2"`)) },
		}, {
			Config:   config(`"p1", "p2", "p1"`, "on_destroy = \"detach\"\n triggers = null\n timeouts = null"),
			PlanOnly: true,
		}, {
			Config:           config(`"p3"`, ""),
			ConfigPlanChecks: preApply(resent...),
			PostApplyFunc:    func() { service.WantRequests(t, sent(`"p3"`)) },
		}, {
			Config:           config(`"p3"`, "on_destroy = \"keep\"\n timeouts = { update = \"4m\" }"),
			ConfigPlanChecks: preApply(updated, plancheck.ExpectKnownValue(this, lastEdited, knownvalue.NotNull())),
			PostApplyFunc:    func() { service.WantRequests(t) },
		}, {
			Config:           config(`"p3"`, trigger),
			ConfigPlanChecks: preApply(resent...),
			PostApplyFunc:    func() { service.WantRequests(t, sent(`"p3"`)) },
		}, {
			RefreshState: true,
		}, {
			Config:           config("", trigger),
			ConfigPlanChecks: preApply(resent...),
			PostApplyFunc:    func() { service.WantRequests(t, sent("")) },
		}, {
			Config:        config("", trigger),
			Destroy:       true,
			PostApplyFunc: func() { service.WantRequests(t, sent("")) },
		},
	}})
}

// A change of stream_id leaves the old stream as on_destroy says, and then updates the new one. A replacement on the same
// stream never detaches.
func TestAccReplace(t *testing.T) {
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("a", "a2", "b", "b2", "c", "c2")...)
	config := func(suffix string) string {
		return providerAt(url, "") + resourceOf("detach", "a"+suffix, `"p1"`, "") +
			resourceOf("keep", "b"+suffix, `"p1"`, `on_destroy = "keep"`) +
			resourceOf("early", "c"+suffix, `"p1"`, "lifecycle {\n    create_before_destroy = true\n  }")
	}
	const detach, keep, early = "stream_processors.detach", "stream_processors.keep", "stream_processors.early"
	replaced := []plancheck.PlanCheck{
		plancheck.ExpectResourceAction(detach, plancheck.ResourceActionDestroyBeforeCreate),
		plancheck.ExpectResourceAction(early, plancheck.ResourceActionCreateBeforeDestroy),
	}
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config:        config(""),
			PostApplyFunc: service.ForgetRequests,
		}, {
			Config:           config(""),
			Taint:            []string{detach, early},
			ConfigPlanChecks: preApply(replaced...),
			PostApplyFunc:    func() { service.WantRequests(t, updateOf("a", `"p1"`), updateOf("c", `"p1"`)) },
		}, {
			Config:           config("2"),
			ConfigPlanChecks: preApply(append(replaced, plancheck.ExpectResourceAction(keep, plancheck.ResourceActionDestroyBeforeCreate))...),
			PostApplyFunc: func() {
				inOrder := map[string]string{} // of the streams with the same first letter
				for _, r := range service.Requests() {
					inOrder[r.StreamID[:1]] += fmt.Sprintln(r.StreamID, r.Body)
				}
				const set, empty = ` {"processor_ids":["p1"]}` + "\n", ` {"processor_ids":[]}` + "\n"
				want := map[string]string{"a": "a" + empty + "a2" + set, "b": "b2" + set, "c": "c2" + set + "c" + empty}
				if diff := cmp.Diff(want, inOrder); diff != "" {
					t.Errorf("requests in order (-want +got):\n%s", diff)
				}
			},
		},
	}})
}

// A group sends only the sets that change, and detaches what it drops. Another resource with another set for one of the
// streams is an error in the plan.
func TestAccGroup(t *testing.T) {
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("a", "b", "c", "d")...)
	config := func(streams map[string]string) string { return providerAt(url, "") + groupOf("this", streams, "") }
	before, after := map[string]string{"a": `"p1"`, "b": `"p1"`, "c": ""}, map[string]string{"a": `"p1"`, "b": `"p2"`, "d": `"p1"`}
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config:        config(before),
			PostApplyFunc: func() { service.WantRequests(t, updatesOf(before)...) },
		}, {
			Config:           config(after),
			ConfigPlanChecks: preApply(groupUpdated, plancheck.ExpectUnknownValue(group, lastEdited)),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(group, tfjsonpath.New("streams"), knownvalue.MapExact(map[string]knownvalue.Check{
					"a": setOf("p1"), "b": setOf("p2"), "d": setOf("p1"),
				})),
			},
			PostApplyFunc: func() { service.WantRequests(t, updateOf("b", `"p2"`), updateOf("c", ""), updateOf("d", `"p1"`)) },
		}, {
			Config:      config(after) + resourceOf("this", "b", `"p3"`, ""),
			ExpectError: says("Conflicting Processor Sets"),
		}, {
			Config:        config(after),
			Destroy:       true,
			PostApplyFunc: func() { service.WantRequests(t, updatesOf(sets([]string{"a", "b", "d"}, ""))...) },
		},
	}})
}

// An action that a resource triggers sends its set before or after that of the resource. If the service refuses it, the
// error says so, and the resource is not changed.
func TestAccAction(t *testing.T) {
	service, url := streamstest.Start(t, streamstest.Options{KnownProcessors: []string{"p1", "p2", "backup"}},
		streamstest.Streams("cam-1", "cam-2")...)
	config := func(set, ofAction string) string {
		return providerAt(url, "") + resourceOf("this", "cam-1", set, `
  lifecycle {
    action_trigger {
      events  = [before_update]
      actions = [action.stream_set_processors.backup]
    }
  }`) + `
action "stream_set_processors" "backup" {
  config {
    stream_id     = "cam-2"
    processor_ids = [` + ofAction + `]
  }
}
`
	}
	parallelTest(t, resource.TestCase{
		TerraformVersionChecks: []tfversion.TerraformVersionCheck{terraformOnly{"actions"}, tfversion.SkipBelow(tfversion.Version1_14_0)},
		Steps: []resource.TestStep{
			{
				Config:        config(`"p1"`, `"backup"`),
				PostApplyFunc: func() { service.WantRequests(t, updateOf("cam-1", `"p1"`)) },
			}, {
				Config:        config(`"p2"`, `"backup"`),
				PostApplyFunc: func() { service.WantRequests(t, updateOf("cam-2", `"backup"`), updateOf("cam-1", `"p2"`)) },
			}, {
				Config:      config(`"p1"`, `"stranger"`),
				ExpectError: says("Bad Request Error", "unknown processors"),
			}, {
				PreConfig:     func() { service.WantRequests(t, updateOf("cam-2", `"stranger"`)) },
				Config:        config(`"p2"`, `"stranger"`),
				PlanOnly:      true,
				PostApplyFunc: func() { service.WantRequests(t) },
			},
		},
	})
}
