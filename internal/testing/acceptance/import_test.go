package acceptance

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
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

// A moved block from a resource of another provider changes and sends nothing. The test needs clitest for the state file.
//
// To move a resource, Terraform starts the provider that the resource comes from, and asks this provider nothing about
// the resource. So the provider of this tree stands in for the other, under its name.
func TestAccMove(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	w := newWorkspace(t, url, "")
	if !clitest.AtLeast(t, "1.8", "1.10") {
		t.Skip("the CLI moves no resource to another type")
	}
	w.Write("terraform.tfstate", clitest.ReadFile(t, filepath.Join("..", "..", "moved", "testdata", "restful-foreach.json")))
	w.Configure(`
moved {
  from = restful_operation.s
  to   = stream_processors.this
}

resource "stream_processors" "this" {
  for_each      = { "cam-1" = ["p1"], "cam-2" = [] }
  stream_id     = each.key
  processor_ids = each.value
}
`)
	w.MustRun("init")
	w.Apply().Want(0, "0 added, 0 changed, 0 destroyed")
	w.Plan().Want(0)
	service.WantRequests(t)
}

// The provider's address changes, and in the same change a group is renamed and a single resource loses its count: nothing
// changes, and nothing is sent. The test needs clitest to install the provider under both addresses.
func TestAccMoveToAnotherAddress(t *testing.T) {
	t.Parallel()
	skipOnRealDeployment(t)
	const former = "acme/stream"
	w := clitest.New(t, former)
	if !clitest.AtLeast(t, "1.8", "1.10") {
		t.Skip("the CLI moves no resource to another provider")
	}
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1", "cam-2")...)
	w.Setenv("STREAM_BASE_URL=" + url)
	groupOfOne := groupOf(map[string]string{"cam-2": `"p2"`}, "")
	w.Configure(strings.Replace(clitest.RequireProvider, cli.Source, former, 1) + resourceOf("this", "cam-1", `"p1"`, "count = 1") +
		strings.Replace(groupOfOne, `"this"`, `"former"`, 1))
	w.MustRun("init")
	w.MustApply()
	service.ForgetRequests()
	w.Configure(clitest.RequireProvider + resourceOf("this", "cam-1", `"p1"`, "") + groupOfOne +
		"moved {\n  from = stream_processors_group.former\n  to   = " + group + "\n}\n")
	w.MustRun("init")
	w.Apply().Want(0, "0 added, 0 changed, 0 destroyed")
	w.Plan().Want(0)
	if state := w.Read("terraform.tfstate"); strings.Contains(state, former) || strings.Count(state, cli.Source) != 2 {
		t.Errorf("the state has the former address: %s", state)
	}
	service.WantRequests(t)
}
