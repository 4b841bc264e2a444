package acceptance

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"
	"github.com/hashicorp/terraform-plugin-testing/querycheck/queryfilter"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A data source reads in the plan; if it depends on a change or its id is known after apply, then after the change.
func TestAccDataSources(t *testing.T) {
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2")...)
	config := func(processor string) string {
		return providerAt(url, "detect_drift = true") + resourceOf("this", "cam-1", fmt.Sprintf("%q", processor), "") + `
resource "terraform_data" "id" {
  input = "cam-2"
}

data "stream_processors" "changed" {
  stream_id  = "cam-1"
  depends_on = [stream_processors.this]
}

data "stream_processors_group" "all" {
  stream_ids = ["cam-1", terraform_data.id.output]
  depends_on = [stream_processors.this]
}

check "stranger" {
  data "stream_processors" "now" {
    stream_id = "cam-2"
  }
  assert {
    condition     = !contains(data.stream_processors.now.processor_ids, "stranger")
    error_message = "cam-2 has a stranger."
  }
}

output "streams" {
  value = data.stream_processors_group.all.streams
}
`
	}
	const changed, all, now = "data.stream_processors.changed", "data.stream_processors_group.all", "data.stream_processors.now"
	readLater := []plancheck.PlanCheck{
		plancheck.ExpectResourceAction(changed, plancheck.ResourceActionRead),
		plancheck.ExpectUnknownOutputValue("streams"),
	}
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config:           config("p1"),
			ConfigPlanChecks: preApply(append(readLater, plancheck.ExpectResourceAction(all, plancheck.ResourceActionRead))...),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(changed, processorIDs, setOf("p1")),
				statecheck.ExpectKnownOutputValue("streams", knownvalue.MapExact(map[string]knownvalue.Check{
					"cam-1": setOf("p1"), "cam-2": setOf(),
				})),
			},
			ExpectNonEmptyPlan: true, // each plan has the data source of a check
		}, {
			PreConfig:        func() { service.Seed(streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"stranger"}}) },
			Config:           config("p2"),
			ConfigPlanChecks: preApply(readLater...),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(changed, processorIDs, setOf("p2")),
				statecheck.ExpectKnownValue(now, processorIDs, setOf("stranger")), // the check only warns
				statecheck.ExpectKnownOutputValue("streams", knownvalue.MapExact(map[string]knownvalue.Check{
					"cam-1": setOf("p2"), "cam-2": setOf("stranger"),
				})),
			},
			ExpectNonEmptyPlan: true,
		},
	}})
}

// A query reads each stream once. It finds the streams that exist, with identity and values.
func TestAccQuery(t *testing.T) {
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true},
		streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p1"}}, streamstest.Stream{ID: "cam-2"})
	query := func(provider string) string {
		return provider + `
list "stream_processors" "all" {
  provider         = stream
  include_resource = true
  config {
    stream_ids = ["cam-1", "cam-2", "gone"]
  }
}
`
	}
	const all = "stream_processors.all"
	identity := func(id string) map[string]knownvalue.Check {
		return map[string]knownvalue.Check{"stream_id": knownvalue.StringExact(id)}
	}
	parallelTest(t, resource.TestCase{
		TerraformVersionChecks: []tfversion.TerraformVersionCheck{terraformOnly{"queries"}, tfversion.SkipBelow(tfversion.Version1_14_0)},
		Steps: []resource.TestStep{
			{
				Query:  true,
				Config: query(providerAt(url, "detect_drift = true")),
				QueryResultChecks: []querycheck.QueryResultCheck{
					querycheck.ExpectLength(all, 2),
					querycheck.ExpectIdentity(all, identity("cam-2")),
					querycheck.ExpectResourceKnownValues(all, queryfilter.ByResourceIdentity(identity("cam-1")), []querycheck.KnownValueCheck{
						{Path: processorIDs, KnownValue: setOf("p1")},
						{Path: tfjsonpath.New("terminal_id"), KnownValue: knownvalue.StringExact("terminal-1")},
					}),
				},
			}, {
				PreConfig: func() {
					service.WantRequests(t, "GET /v2/streams/cam-1", "GET /v2/streams/cam-2", "GET /v2/streams/gone")
				},
				Query:       true,
				Config:      query(providerAt(url, "")),
				ExpectError: says("detect_drift"),
			},
		},
	})
	service.WantRequests(t)
}
