package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"
	"github.com/hashicorp/terraform-plugin-testing/querycheck/queryfilter"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// With detect_drift, a plan reads each stream once, shows what changed outside Terraform, and an apply mends it.
func TestAccDrift(t *testing.T) {
	s := startService(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2", "gone-3", "gone-4")...)
	config := func(ids ...string) string {
		return s.provider("detect_drift = true") + resourceOf("this", "cam-1", `"p1"`, "") + groupOf(sets(ids, `"p1"`), "")
	}
	before := config("cam-2", "gone-3") + resourceOf("gone", "gone-4", `"p1"`, "")
	reads := []string{"GET /v2/streams/cam-1", "GET /v2/streams/cam-2", "GET /v2/streams/gone-3", "GET /v2/streams/gone-4"}
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config: before,
		}, {
			PreConfig: func() { // only a computed value
				s.Seed(streamstest.Stream{ID: "cam-1", TerminalID: "terminal-9", ProcessorIDs: []string{"p1"}})
				s.ForgetRequests()
			},
			Config:        before,
			PlanOnly:      true,
			PostApplyFunc: s.received(reads...),
		}, {
			PreConfig: func() {
				s.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"stranger"}}, streamstest.Stream{ID: "cam-2"})
				s.Remove("gone-3")
				s.Remove("gone-4")
			},
			RefreshState: true,
			Check: resource.ComposeAggregateTestCheckFunc(
				resource.TestCheckTypeSetElemAttr(this, "processor_ids.*", "stranger"),
				resource.TestCheckResourceAttr(this, "terminal_id", "terminal-9"),
				resource.TestCheckResourceAttr(group, "streams.%", "1"),
				resource.TestCheckResourceAttr(group, "streams.cam-2.#", "0"),
			),
			ExpectError: says(`Stream "gone-3" could not be read`, `Stream "gone-4" could not be read`), // of a plan
		}, {
			// Both commands of the refresh read everything, and "terraform refresh" plans to add the streams that are gone.
			PreConfig:        s.received(slices.Concat(reads, reads, reads[2:])...),
			Config:           config("cam-2"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{updated, groupUpdated}},
			PostApplyFunc: func() {
				s.WantAttached(t, "cam-1", "p1")
				s.WantAttached(t, "cam-2", "p1")
			},
		},
	}})
}

// With deployment set, a wrong path whose gateway answers as the service would drops nothing from the state: each address has to
// show a stream before its 404s count. A right one then shows that a stream is gone.
func TestAccReadsAtAnotherAddress(t *testing.T) {
	s := startService(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2", "gone-3")...)
	config := func(address string) string {
		return providerWith(fmt.Sprintf("base_url = %q\n  deployment = \"prod\"\n  detect_drift = true", address)) +
			resourceOf("this", "cam-1", `"p1"`, "") + groupOf(sets([]string{"cam-2", "gone-3"}, `"p1"`), "")
	}
	wrong := func() string { return config(s.url + "/streams") }
	notFound := says("Resource Not Found Error", "there is no route at this path", "The state keeps the stream")
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		{Config: config(s.url)},
		{RefreshState: true},
		{PreConfig: s.ForgetRequests, Config: wrong(), ExpectError: notFound},
		{Config: wrong(), ExpectError: notFound, Destroy: true},
		{
			PreConfig: func() {
				for _, request := range s.DrainRequests() {
					if !strings.HasPrefix(request, "GET /streams/v2/streams/") {
						t.Errorf("sent %s", request)
					}
				}
			},
			Config:   config(s.url),
			PlanOnly: true,
		}, {
			PreConfig:    func() { s.Remove("gone-3") },
			RefreshState: true,
			Check:        resource.TestCheckResourceAttr(group, "streams.%", "1"),
			ExpectError:  says(`Stream "gone-3" could not be read`), // of a plan, which would create it again
		},
	}})
}

// A data source reads in the plan; if it depends on a change or its id is known after apply, then after the change.
func TestAccDataSources(t *testing.T) {
	s := startService(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2")...)
	const changed, all = "data.stream_processors.changed", "data.stream_processors_group.all"
	step := func(set string, checks ...plancheck.PlanCheck) resource.TestStep {
		return resource.TestStep{
			Config: s.provider("detect_drift = true") + resourceOf("this", "cam-1", `"`+set+`"`, "") + `
resource "terraform_data" "id" {
  input = "cam-2"
}

data "stream_processors" "changed" {
  stream_id  = "cam-1"
  depends_on = [stream_processors.this]
}

data "stream_processors_group" "all" {
  stream_ids = [terraform_data.id.output]
}
`,
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: append(checks, plancheck.ExpectResourceAction(changed, plancheck.ResourceActionRead)),
			},
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(changed, processorIDs, setOf(set)),
				statecheck.ExpectKnownValue(all, tfjsonpath.New("streams").AtMapKey("cam-2"), setOf()),
			},
		}
	}
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		step("p1", plancheck.ExpectResourceAction(all, plancheck.ResourceActionRead)),
		step("p2"),
	}})
}

// A query reads each stream once. It finds the streams that exist, with identity and values.
func TestAccQuery(t *testing.T) {
	skipOnTofu(t, "queries")
	s := startService(t, streamstest.Options{ServeGet: true},
		streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p1"}}, streamstest.Stream{ID: "cam-2"})
	const all = "stream_processors.all"
	identity := func(id string) map[string]knownvalue.Check {
		return map[string]knownvalue.Check{"stream_id": knownvalue.StringExact(id)}
	}
	parallelTest(t, resource.TestCase{
		TerraformVersionChecks: []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_14_0)},
		Steps: []resource.TestStep{{
			Query: true,
			Config: s.provider("detect_drift = true") + `
list "stream_processors" "all" {
  provider         = stream
  include_resource = true
  config {
    stream_ids = ["cam-1", "cam-2", "gone"]
  }
}
`,
			QueryResultChecks: []querycheck.QueryResultCheck{
				querycheck.ExpectLength(all, 2),
				querycheck.ExpectIdentity(all, identity("cam-2")),
				querycheck.ExpectResourceKnownValues(all, queryfilter.ByResourceIdentity(identity("cam-1")),
					[]querycheck.KnownValueCheck{{Path: processorIDs, KnownValue: setOf("p1")}}),
			},
		}},
	})
	s.WantRequests(t, "GET /v2/streams/cam-1", "GET /v2/streams/cam-2", "GET /v2/streams/gone")
}
