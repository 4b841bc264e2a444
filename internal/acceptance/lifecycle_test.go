package acceptance

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// runSteps runs steps with the provider in this process.
func runSteps(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"stream": func() (tfprotov6.ProviderServer, error) { return provider.NewServer("test")(), nil },
		},
		Steps: steps,
	})
}

// beforeApply checks a plan before it is applied.
func beforeApply(checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: checks}
}

func stringSet(texts ...string) knownvalue.Check {
	var elements []knownvalue.Check
	for _, text := range texts {
		elements = append(elements, knownvalue.StringExact(text))
	}
	return knownvalue.SetExact(elements)
}

// Each change that a user can make, one after the other. The ids are a set, a change of them never passes through the
// empty set, and the values that no update changes stay known.
func TestAccLifecycle(t *testing.T) {
	t.Parallel()
	skipOnRealDeployment(t)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{
		ID: "a/b ü", TerminalID: "t-1", FragmentTypeID: "image/jpg", CompatibleNamespaces: []string{"b", "a", "b"},
	})
	config := func(attributes string) string {
		return fmt.Sprintf("provider \"stream\" {\n  base_url = %q\n}\nresource \"stream_processors\" \"this\" {\n  stream_id = \"a/b ü\"\n%s\n}\n", url, attributes)
	}
	state := func(attribute string, want knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(this, tfjsonpath.New(attribute), want)
	}
	planned := func(attribute string, want knownvalue.Check) plancheck.PlanCheck {
		return plancheck.ExpectKnownValue(this, tfjsonpath.New(attribute), want)
	}
	isUpdate := plancheck.ExpectResourceAction(this, plancheck.ResourceActionUpdate)
	runSteps(t,
		resource.TestStep{
			Config: config(`processor_ids = ["p2", "p1"]`),
			ConfigStateChecks: []statecheck.StateCheck{
				state("id", knownvalue.StringExact("a/b ü")), state("terminal_id", knownvalue.StringExact("t-1")),
				state("fragment_type_id", knownvalue.StringExact("image/jpg")), state("on_destroy", knownvalue.StringExact("detach")),
				state("processor_ids", stringSet("p1", "p2")), state("compatible_namespaces", stringSet("a", "b")),
			},
		},
		resource.TestStep{
			Config:           config("processor_ids = [\"p1\", \"p2\", \"p1\"]\non_destroy = \"detach\"\ntriggers = null\ntimeouts = null"),
			ConfigPlanChecks: beforeApply(plancheck.ExpectEmptyPlan()),
		},
		resource.TestStep{
			Config: config(`processor_ids = ["p3"]`),
			ConfigPlanChecks: beforeApply(isUpdate, planned("terminal_id", knownvalue.StringExact("t-1")),
				planned("fragment_type_id", knownvalue.StringExact("image/jpg")),
				plancheck.ExpectUnknownValue(this, tfjsonpath.New("last_edited")),
				plancheck.ExpectUnknownValue(this, tfjsonpath.New("compatible_namespaces"))),
			ConfigStateChecks: []statecheck.StateCheck{state("processor_ids", stringSet("p3"))},
		},
		resource.TestStep{ // sends nothing
			Config: config("processor_ids = [\"p3\"]\non_destroy = \"keep\"\ntimeouts = { update = \"4m\" }"),
			ConfigPlanChecks: beforeApply(isUpdate, planned("last_edited", knownvalue.NotNull()),
				planned("compatible_namespaces", stringSet("a", "b"))),
		},
		resource.TestStep{ // sends the same set again
			Config:           config("processor_ids = [\"p3\"]\ntriggers = { run = \"1\" }"),
			ConfigPlanChecks: beforeApply(isUpdate, plancheck.ExpectUnknownValue(this, tfjsonpath.New("last_edited"))),
		},
		resource.TestStep{
			Config:            config("processor_ids = []\ntriggers = { run = \"1\" }"),
			ConfigStateChecks: []statecheck.StateCheck{state("processor_ids", stringSet())},
		},
		resource.TestStep{ // without a read, an import knows nothing but the id
			ResourceName: this, ImportState: true, ImportStateId: "a/b ü", ImportStateVerify: true,
			ImportStateVerifyIgnore: []string{
				"processor_ids", "terminal_id", "fragment_type_id", "compatible_namespaces", "last_edited", "triggers",
			},
		},
	)
	const path = `PATCH /v2/streams/a%2Fb%20%C3%BC `
	if diff := cmp.Diff([]string{
		path + `{"processor_ids":["p1","p2"]}`, path + `{"processor_ids":["p3"]}`, path + `{"processor_ids":["p3"]}`,
		path + `{"processor_ids":[]}`, path + `{"processor_ids":[]}`,
	}, service.DrainRequests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// A change of stream_id leaves the old stream as on_destroy says, and then updates the new one. A replacement on the same
// stream never detaches.
func TestAccReplace(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("a", "a2", "b", "b2", "c", "c2")...)
	config := func(suffix string) string {
		return resourceOf("detach", "a"+suffix, `"p1"`, "") + resourceOf("keep", "b"+suffix, `"p1"`, `on_destroy = "keep"`) +
			resourceOf("early", "c"+suffix, `"p1"`, "lifecycle {\n    create_before_destroy = true\n  }")
	}
	w := newWorkspace(t, url, config(""))
	w.mustApply()
	service.ForgetRequests()

	w.mustApply("-replace=stream_processors.detach", "-replace=stream_processors.early")
	service.WantRequests(t, updateOf("a", `"p1"`), updateOf("c", `"p1"`))

	w.writeConfig(config("2"))
	wantResult(t, w.mustApply(), 0, "3 added, 0 changed, 3 destroyed")
	byTerminal := map[string][]string{}
	for _, r := range service.Requests() {
		first := r.StreamID[:1]
		byTerminal[first] = append(byTerminal[first], r.StreamID+" "+r.Body)
	}
	if diff := cmp.Diff(map[string][]string{
		"a": {`a {"processor_ids":[]}`, `a2 {"processor_ids":["p1"]}`},
		"b": {`b2 {"processor_ids":["p1"]}`},
		"c": {`c2 {"processor_ids":["p1"]}`, `c {"processor_ids":[]}`},
	}, byTerminal); diff != "" {
		t.Errorf("requests in order (-want +got):\n%s", diff)
	}
	w.wantNoChanges()
}

// Without detect_drift, no command sends anything but updates, and none sends an update unless there is a change.
func TestAccSendsNothingUnasked(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, resourceOf("this", "cam-1", `"p1"`, ""))
	mustRunSilently := func(args ...string) {
		t.Helper()
		w.mustRun(args...)
		service.WantRequests(t)
	}
	mustRunSilently("validate")
	mustRunSilently("plan", "-out=tfplan")
	w.setenv("STREAM_BASE_URL", "") // validate may run in another environment than plan
	mustRunSilently("validate")
	wantResult(t, w.plan(), 1, "base_url is missing.", "STREAM_BASE_URL")
	w.setenv("STREAM_BASE_URL", url)
	w.mustRun("apply", "tfplan")
	service.WantRequests(t, updateOf("cam-1", `"p1"`))
	for _, args := range [][]string{
		{"apply", "-auto-approve"}, {"apply", "-auto-approve", "-refresh-only"}, {"plan", "-destroy"}, {"plan", "-replace=" + this},
		{"state", "show", this}, {"taint", this}, {"untaint", this}, {"state", "rm", this}, {"import", this, "cam-1"}, {"plan"},
	} {
		mustRunSilently(args...)
	}
}
