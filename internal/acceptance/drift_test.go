package acceptance

import (
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// With detect_drift, a plan reads each stream once, shows what changed outside Terraform, and an apply mends it.
func TestAccDrift(t *testing.T) {
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2", "cam-3")...)
	config := func(ids ...string) string {
		return providerAt(url, "detect_drift = true") + resourceOf("this", "cam-1", `"p1"`, "") + groupOf("this", sets(ids, `"p1"`), "")
	}
	reads := []string{"GET /v2/streams/cam-1", "GET /v2/streams/cam-2", "GET /v2/streams/cam-3"}
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config: config("cam-2", "cam-3"),
		}, {
			PreConfig: func() { // only computed values
				service.Seed(streamstest.Stream{
					ID: "cam-1", TerminalID: "terminal-9", ProcessorIDs: []string{"p1"}, CompatibleNamespaces: []string{"new"},
				})
				service.ForgetRequests()
			},
			Config:        config("cam-2", "cam-3"),
			PlanOnly:      true,
			PostApplyFunc: func() { service.WantRequests(t, reads...) },
		}, {
			PreConfig: func() {
				service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"stranger"}}, streamstest.Stream{ID: "cam-2"})
				service.Remove("cam-3")
			},
			RefreshState: true,
			Check: resource.ComposeAggregateTestCheckFunc(
				resource.TestCheckTypeSetElemAttr(this, "processor_ids.*", "stranger"),
				resource.TestCheckResourceAttr(this, "terminal_id", "terminal-9"),
				resource.TestCheckResourceAttr(group, "streams.%", "1"),
				resource.TestCheckResourceAttr(group, "streams.cam-2.#", "0"),
			),
			ExpectError: says("Resource Not Found Error", `Stream "cam-3" could not be read`), // of a plan
		}, {
			// Both commands of the refresh read everything, and "terraform refresh" plans to add cam-3.
			PreConfig:        func() { service.WantRequests(t, slices.Concat(reads, reads, reads[2:])...) },
			Config:           config("cam-2"),
			ConfigPlanChecks: preApply(updated, groupUpdated),
			PostApplyFunc: func() {
				service.WantAttached(t, "cam-1", "p1")
				service.WantAttached(t, "cam-2", "p1")
			},
		}, {
			PreConfig:          func() { service.Remove("cam-1") },
			Config:             config("cam-2"),
			PlanOnly:           true,
			ExpectNonEmptyPlan: true,
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(this, plancheck.ResourceActionCreate),
			}},
		}, {
			Config:  config("cam-2"),
			Destroy: true, // blocked by no stream that is gone
		},
	}})
}
