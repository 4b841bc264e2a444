package acceptance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// An import by command or block sends nothing and knows nothing but the id. The next apply sends the configured set in
// place.
func TestAccImport(t *testing.T) {
	service, url := streamstest.Start(t, streamstest.Options{},
		streamstest.Stream{ID: "a/b c", TerminalID: "t-5", ProcessorIDs: []string{"p9"}}, streamstest.Stream{ID: "cam-2"})
	config := providerAt(url, "") + resourceOf("this", "a/b c", `"p1"`, `on_destroy = "keep"`)
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config:             config,
			ResourceName:       this,
			ImportState:        true,
			ImportStateId:      "a/b c",
			ImportStatePersist: true,
			ImportStateCheck: func(states []*terraform.InstanceState) error {
				got := states[0].Attributes
				if len(states) != 1 || got["stream_id"] != "a/b c" || got["terminal_id"] != "" || got["processor_ids.#"] != "" {
					return fmt.Errorf("the state has %v", got)
				}
				return nil
			},
		}, {
			Config:           config + resourceOf("block", "cam-2", `"p2"`, "") + "import {\n  to = stream_processors.block\n  id = \"cam-2\"\n}\n",
			ConfigPlanChecks: preApply(updated, plancheck.ExpectResourceAction("stream_processors.block", plancheck.ResourceActionUpdate)),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(this, tfjsonpath.New("terminal_id"), knownvalue.StringExact("t-5")),
				statecheck.ExpectKnownValue(this, tfjsonpath.New("on_destroy"), knownvalue.StringExact("keep")),
			},
			PostApplyFunc: func() { service.WantRequests(t, updateOf("a%2Fb%20c", `"p1"`), updateOf("cam-2", `"p2"`)) },
		}, {
			ResourceName:       this,
			ImportState:        true,
			ImportStateKind:    resource.ImportBlockWithID,
			ExpectNonEmptyPlan: true,
			ImportPlanChecks:   resource.ImportPlanChecks{PreApply: []plancheck.PlanCheck{updated}},
		},
	}})
	service.WantRequests(t, updateOf("cam-2", "")) // the end of the test
}

// With detect_drift, an import only reads the stream. It can also write the configuration.
func TestAccImportReads(t *testing.T) {
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
	reads := slices.Repeat([]string{"GET /v2/streams/cam-1"}, 2) // of the imported resource, and of the one in the state
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config:        providerAt(url, "detect_drift = true") + resourceOf("this", "cam-1", `"p1", "p2"`, ""),
			PostApplyFunc: service.ForgetRequests,
		}, {
			ResourceName:      this,
			ImportState:       true,
			ImportStateVerify: true,
		}, {
			PreConfig:       func() { service.WantRequests(t, reads[:1]...) },
			ResourceName:    this,
			ImportState:     true,
			ImportStateKind: resource.ImportBlockWithID,
			ImportPlanChecks: resource.ImportPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectKnownValue(this, processorIDs, setOf("p1", "p2")),
			}},
		}, {
			PreConfig:       func() { service.WantRequests(t, reads[:1]...) },
			ResourceName:    this,
			ImportState:     true,
			ImportStateKind: resource.ImportBlockWithID,
			GenerateConfig:  true, // of stream_processors.generated
		},
	}})
	service.WantRequests(t, append(reads, updateOf("cam-1", ""))...) // the end of the test
}

// The identity is the stream id, also after an update, and imports the stream.
func TestAccIdentity(t *testing.T) {
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	identity := []statecheck.StateCheck{
		statecheck.ExpectIdentity(this, map[string]knownvalue.Check{"stream_id": knownvalue.StringExact("cam-1")}),
		statecheck.ExpectIdentityValueMatchesState(this, tfjsonpath.New("stream_id")),
	}
	config := func(set string) string { return providerAt(url, "") + resourceOf("this", "cam-1", set, "") }
	parallelTest(t, resource.TestCase{
		TerraformVersionChecks: []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_12_0)},
		Steps: []resource.TestStep{
			{Config: config(`"p1"`), ConfigStateChecks: identity},
			{Config: config(`"p2"`), ConfigStateChecks: identity, PostApplyFunc: service.ForgetRequests},
			{
				ResourceName:       this,
				ImportState:        true,
				ImportStateKind:    resource.ImportBlockWithResourceIdentity,
				ExpectNonEmptyPlan: true,
				ImportPlanChecks:   resource.ImportPlanChecks{PreApply: []plancheck.PlanCheck{updated}},
			},
		},
	})
	service.WantRequests(t, updateOf("cam-1", "")) // the end of the test
}
