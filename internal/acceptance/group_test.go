package acceptance

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

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
			Config: config(after),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(group, plancheck.ResourceActionUpdate),
				plancheck.ExpectUnknownValue(group, lastEdited),
			}},
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
	service, url := streamstest.Start(t, streamstest.Options{KnownProcessors: []string{"p1", "p2", "backup"}}, streamstest.Streams("cam-1", "cam-2")...)
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
