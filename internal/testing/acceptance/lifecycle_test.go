package acceptance

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

var (
	processorIDs = tfjsonpath.New("processor_ids")
	lastEdited   = tfjsonpath.New("last_edited")
	updated      = plancheck.ExpectResourceAction(this, plancheck.ResourceActionUpdate)
	groupUpdated = plancheck.ExpectResourceAction(group, plancheck.ResourceActionUpdate)
)

// Each change that a user can make, one after the other. The ids are a set, a change of them never passes through the
// empty set, and the values that no update changes stay known. Plan and refresh send nothing.
func TestAccLifecycle(t *testing.T) {
	s := startService(t, streamstest.Options{ServeGet: true}, streamstest.Stream{
		ID: "a/b ü", TerminalID: "t-1", FragmentTypeID: "image/jpg",
		LastEdited: 4e12, CompatibleNamespaces: []string{"b", "a", "b"},
	})
	config := func(set, others string) string { return s.provider("") + resourceOf("this", "a/b ü", set, others) }
	sent := func(set string) string { return updateOf("a%2Fb%20%C3%BC", set) }
	resent := []plancheck.PlanCheck{
		updated,
		plancheck.ExpectUnknownValue(this, lastEdited),
		plancheck.ExpectUnknownValue(this, tfjsonpath.New("compatible_namespaces")),
		plancheck.ExpectKnownValue(this, tfjsonpath.New("terminal_id"), knownvalue.StringExact("t-1")),
		plancheck.ExpectKnownValue(this, tfjsonpath.New("fragment_type_id"), knownvalue.StringExact("image/jpg")),
	}
	notSent := []plancheck.PlanCheck{updated, plancheck.ExpectKnownValue(this, lastEdited, knownvalue.NotNull())}
	const trigger = "triggers = { run = \"1\" }\n"

	create := s.apply(config(`"p2", "p1"`, ""), nil, sent(`"p1", "p2"`))
	create.ConfigStateChecks = []statecheck.StateCheck{
		statecheck.ExpectKnownValue(this, tfjsonpath.Path{}, knownvalue.ObjectExact(map[string]knownvalue.Check{
			"id": knownvalue.StringExact("a/b ü"), "stream_id": knownvalue.StringExact("a/b ü"), "processor_ids": setOf("p1", "p2"),
			"on_create": knownvalue.Null(), "on_destroy": knownvalue.StringExact("detach"),
			"triggers": knownvalue.Null(), "timeouts": knownvalue.Null(), "terminal_id": knownvalue.StringExact("t-1"),
			"fragment_type_id": knownvalue.StringExact("image/jpg"), "compatible_namespaces": setOf("a", "b"),
			"last_edited": knownvalue.Int64Exact(4e12 + 1), "deployment": knownvalue.StringExact(s.url),
		})),
	}
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		create,
		{
			Config:   config(`"p1", "p2", "p1"`, "on_destroy = \"detach\"\n triggers = null\n timeouts = null"),
			PlanOnly: true,
		},
		s.apply(config(`"p3"`, ""), resent, sent(`"p3"`)),
		s.apply(config(`"p3"`, "on_destroy = \"keep\"\n timeouts = { update = \"4m\" }"), notSent),
		s.apply(config(`"p3"`, trigger), resent, sent(`"p3"`)),
		{RefreshState: true},
		s.apply(config("", trigger), resent, sent("")),
	}})
	s.WantRequests(t, sent("")) // the end of the test
}

// A changed stream_id replaces the resource: the old stream is detached, and the new one gets the set. A replacement on the same
// stream, here of a tainted resource, sends the set once and never the empty one. TestAccInterruptedReplacement has -replace.
func TestAccReplacement(t *testing.T) {
	s := startService(t, streamstest.Options{}, streamstest.Streams("cam-1", "cam-2")...)
	config := func(stream, others string) string { return s.provider("") + resourceOf("this", stream, `"p1"`, others) }
	replaced := func(how plancheck.ResourceActionType) []plancheck.PlanCheck {
		return []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, how), plancheck.ExpectUnknownValue(this, lastEdited)}
	}
	const createsFirst = "lifecycle { create_before_destroy = true }"
	tainted := s.apply(config("cam-2", ""), replaced(plancheck.ResourceActionDestroyBeforeCreate), updateOf("cam-2", `"p1"`))
	taintedToo := s.apply(config("cam-1", createsFirst), replaced(plancheck.ResourceActionCreateBeforeDestroy), updateOf("cam-1", `"p1"`))
	tainted.Taint, taintedToo.Taint = []string{this}, []string{this}
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		s.apply(config("cam-1", ""), nil, updateOf("cam-1", `"p1"`)),
		s.apply(config("cam-2", ""), replaced(plancheck.ResourceActionDestroyBeforeCreate), updateOf("cam-1", ""), updateOf("cam-2", `"p1"`)),
		tainted,
		s.apply(config("cam-1", createsFirst), replaced(plancheck.ResourceActionCreateBeforeDestroy), updateOf("cam-1", `"p1"`),
			updateOf("cam-2", "")),
		taintedToo,
	}})
}

// A list of streams behind count loses its first element, so that each resource moves to the next stream. The streams that stay end
// with their sets. Tests in virtual time show that they never pass through the empty set: here, a busy machine decides.
func TestAccShiftedList(t *testing.T) {
	ids := fleetIDs(5)
	s := startService(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	config := func(ids []string) string {
		return s.provider("") + fmt.Sprintf("resource \"stream_processors\" \"this\" {\n  count         = %d\n"+
			"  stream_id     = %s[count.index]\n  processor_ids = [\"p1\"]\n}\n", len(ids), hcl(ids))
	}
	shifted := s.apply(config(ids[1:]), nil)
	shifted.PostApplyFunc = func() {
		s.WantAttached(t, ids[0])
		for _, id := range ids[1:] {
			s.WantAttached(t, id, "p1")
		}
	}
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		s.apply(config(ids), nil, updatesOf(sets(ids, `"p1"`))...),
		shifted,
		{Config: config(ids[1:]), PlanOnly: true},
	}})
}

// An action that a resource triggers sends its set before or after that of the resource. If the service refuses it, the
// error says so, and the resource is not changed.
func TestAccAction(t *testing.T) {
	skipOnTofu(t, "actions")
	known := streamstest.Options{KnownProcessors: []string{"p1", "p2", "backup"}}
	s := startService(t, known, streamstest.Streams("cam-1", "cam-2")...)
	config := func(set, ofAction string) string {
		return s.provider("") + resourceOf("this", "cam-1", set, `
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
		TerraformVersionChecks: []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_14_0)},
		Steps: []resource.TestStep{
			s.apply(config(`"p1"`, `"backup"`), nil, updateOf("cam-1", `"p1"`)),
			s.apply(config(`"p2"`, `"backup"`), nil, updateOf("cam-2", `"backup"`), updateOf("cam-1", `"p2"`)),
			{
				Config:      config(`"p1"`, `"stranger"`),
				ExpectError: says("Bad Request Error", "unknown processors"),
			}, {
				PreConfig: s.received(updateOf("cam-2", `"stranger"`)),
				Config:    config(`"p2"`, `"stranger"`),
				PlanOnly:  true,
			},
		},
	})
}
