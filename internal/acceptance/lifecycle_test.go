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

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

var processorIDs, lastEdited, namespaces = tfjsonpath.New("processor_ids"), tfjsonpath.New("last_edited"), tfjsonpath.New("compatible_namespaces")

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
		plancheck.ExpectResourceAction(this, plancheck.ResourceActionUpdate),
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
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: resent},
			PostApplyFunc:    func() { service.WantRequests(t, sent(`"p3"`)) },
		}, {
			Config: config(`"p3"`, "on_destroy = \"keep\"\n timeouts = { update = \"4m\" }"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(this, plancheck.ResourceActionUpdate),
				plancheck.ExpectKnownValue(this, lastEdited, knownvalue.NotNull()),
			}},
			PostApplyFunc: func() { service.WantRequests(t) },
		}, {
			Config:           config(`"p3"`, trigger),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: resent},
			PostApplyFunc:    func() { service.WantRequests(t, sent(`"p3"`)) },
		}, {
			RefreshState: true,
		}, {
			Config:           config("", trigger),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: resent},
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
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: replaced},
			PostApplyFunc:    func() { service.WantRequests(t, updateOf("a", `"p1"`), updateOf("c", `"p1"`)) },
		}, {
			Config: config("2"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: append(replaced,
				plancheck.ExpectResourceAction(keep, plancheck.ResourceActionDestroyBeforeCreate))},
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
