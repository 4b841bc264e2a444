package acceptance

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestAccLifecycle uses terraform-plugin-testing, as the tests of most providers do.
func TestAccLifecycle(t *testing.T) {
	t.Parallel()
	skipOnRealDeployment(t)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam", TerminalID: "t-1"})
	config := func(ids string) string {
		return fmt.Sprintf("provider \"stream\" {\n  base_url = %q\n}\n", url) + `
resource "stream_processors" "this" {
  stream_id     = "cam"
  processor_ids = ` + ids + `
}
`
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"stream": func() (tfprotov6.ProviderServer, error) { return provider.NewServer("test")(), nil },
		},
		Steps: []resource.TestStep{
			{
				Config: config(`["p2", "p1"]`),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(this, tfjsonpath.New("id"), knownvalue.StringExact("cam")),
					statecheck.ExpectKnownValue(this, tfjsonpath.New("terminal_id"), knownvalue.StringExact("t-1")),
					statecheck.ExpectKnownValue(this, tfjsonpath.New("on_destroy"), knownvalue.StringExact("detach")),
					statecheck.ExpectKnownValue(this, tfjsonpath.New("processor_ids"), knownvalue.SetExact([]knownvalue.Check{
						knownvalue.StringExact("p1"), knownvalue.StringExact("p2"),
					})),
				},
			},
			{
				Config: config(`["p1", "p2"]`),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
			},
			{
				Config: config(`["p3"]`),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply: []plancheck.PlanCheck{
						plancheck.ExpectResourceAction(this, plancheck.ResourceActionUpdate),
						plancheck.ExpectKnownValue(this, tfjsonpath.New("terminal_id"), knownvalue.StringExact("t-1")),
						plancheck.ExpectUnknownValue(this, tfjsonpath.New("last_edited")),
					},
				},
			},
			{
				ResourceName:  this,
				ImportState:   true,
				ImportStateId: "cam",
				// Without a read, an import knows nothing but the id.
				ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{
					"processor_ids", "terminal_id", "fragment_type_id", "compatible_namespaces", "last_edited",
				},
			},
		},
	})
	service.WantRequests(t,
		`PATCH /v2/streams/cam {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/cam {"processor_ids":["p3"]}`,
		`PATCH /v2/streams/cam {"processor_ids":[]}`,
	)
}
