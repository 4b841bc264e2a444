package acceptance

import (
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// An import by command or block sends nothing and knows nothing but the id. The next apply sends the configured set in
// place.
func TestAccImport(t *testing.T) {
	s := startService(t, streamstest.Options{}, streamstest.Stream{ID: "a/b c", ProcessorIDs: []string{"p9"}})
	config := s.provider("") + resourceOf("this", "a/b c", `"p1"`, `on_destroy = "keep"`)
	imported := []plancheck.PlanCheck{updated, plancheck.ExpectUnknownValue(this, tfjsonpath.New("terminal_id"))}
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config:             config,
			ResourceName:       this,
			ImportState:        true,
			ImportStateId:      "a/b c",
			ImportStatePersist: true,
		},
		s.apply(config, imported, updateOf("a%2Fb%20c", `"p1"`)),
		{
			ResourceName:       this,
			ImportState:        true,
			ImportStateKind:    resource.ImportBlockWithID,
			ExpectNonEmptyPlan: true,
			ImportPlanChecks:   resource.ImportPlanChecks{PreApply: imported},
		},
	}})
	s.WantRequests(t) // the end of the test keeps the processors
}

// The identity is the stream id, and imports the stream. With detect_drift, an import only reads the stream, and can write
// the configuration.
func TestAccIdentity(t *testing.T) {
	s := startService(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
	reads := slices.Repeat([]string{"GET /v2/streams/cam-1"}, 2) // of the imported resource, and of the one in the state
	parallelTest(t, resource.TestCase{
		TerraformVersionChecks: []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_12_0)},
		Steps: []resource.TestStep{
			{
				Config: s.provider("detect_drift = true") + resourceOf("this", "cam-1", `"p1", "p2"`, ""),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectIdentity(this, map[string]knownvalue.Check{"stream_id": knownvalue.StringExact("cam-1")}),
					statecheck.ExpectIdentityValueMatchesState(this, tfjsonpath.New("stream_id")),
				},
				PostApplyFunc: s.ForgetRequests,
			}, {
				ResourceName:      this,
				ImportState:       true,
				ImportStateVerify: true,
			}, {
				PreConfig:       s.received(reads[0]),
				ResourceName:    this,
				ImportState:     true,
				ImportStateKind: resource.ImportBlockWithResourceIdentity,
				GenerateConfig:  true,
				ImportPlanChecks: resource.ImportPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectKnownValue("stream_processors.generated", processorIDs, setOf("p1", "p2")),
				}},
			},
		},
	})
	s.WantRequests(t, append(reads, updateOf("cam-1", ""))...) // the end of the test
}
