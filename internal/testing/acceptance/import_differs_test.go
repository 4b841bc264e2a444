package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// These tests need clitest: the run after an import must be the next command, and terraform-plugin-testing refreshes the state before it.

const imported = "Imported Stream Differs"

// importing starts a service that serves GET and has each stream with one processor, of the same number, and a workspace.
func importing(t *testing.T, drift bool, ids ...string) (testService, *clitest.Workspace) {
	t.Helper()
	var streams []streamstest.Stream
	for _, id := range ids {
		streams = append(streams, streamstest.Stream{ID: id, ProcessorIDs: []string{strings.Replace(id, "cam-", "p", 1)}})
	}
	s := startService(t, streamstest.Options{ServeGet: true}, streams...)
	w := newWorkspace(t, s.url, "")
	w.Setenv(fmt.Sprintf("STREAM_DETECT_DRIFT=%t", drift))
	return s, w
}

// wantPatches compares the PATCH requests since the last call.
func (s testService) wantPatches(want ...string) {
	s.t.Helper()
	var got []string
	for _, request := range s.DrainRequests() {
		if strings.HasPrefix(request, "PATCH ") {
			got = append(got, request)
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		s.t.Errorf("the service got %q, want %q", got, want)
	}
}

// importBlock imports a stream, or the streams of a group, to an address.
func importBlock(address, id string) string {
	return fmt.Sprintf("import {\n  to = %s\n  id = %s\n}\n", address, hcl(id))
}

// The run that imports never detaches what it imports, nor does a run after `terraform import`, until an apply has written the state. If
// the configuration has another stream, the plan fails, with both ids. Each way that the error names leads to its end.
func TestAccImportOfAnotherStream(t *testing.T) {
	t.Parallel()
	const refuses = `on_create = "refuse"`
	configured := resourceOf("this", "cam-1", `"p1"`, `on_destroy = "keep"`)
	block, command := importBlock(this, "cam-9"), []string{"import", this, "cam-9"}
	for name, test := range map[string]struct {
		drift   bool
		others  string // attributes
		block   string
		command []string
		args    []string
		ways    bool // try what the error names
	}{
		"a block":                            {block: block, ways: true},
		"a block with reads, without one":    {drift: true, others: refuses, block: block, args: []string{"-refresh=false"}},
		"identity":                           {block: "import {\n  to = " + this + "\n  identity = { stream_id = \"cam-9\" }\n}\n"},
		"the command":                        {command: command},
		"the command, with reads":            {drift: true, others: refuses, command: command, ways: true},
		"the command with reads, without it": {drift: true, command: command, args: []string{"-refresh=false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := importing(t, test.drift, "cam-1", "cam-9")
			if name == "identity" && !clitest.AtLeast(t, "1.12", "1.12") {
				t.Skip("the CLI imports by no identity")
			}
			config := strings.Replace(configured, "on_destroy", test.others+"\n  on_destroy", 1)
			w.Configure(config)
			if test.command != nil {
				w.MustRun(test.command...)
			}
			w.Configure(config + test.block)
			said := []string{imported, `Stream "cam-9" was imported`, `"cam-1"`, "Nothing was sent by this operation"}
			w.Apply(test.args...).Want(1, said...)
			s.wantPatches()
			s.WantAttached(t, "cam-9", "p9")
			if !test.ways {
				return
			}
			w.Plan().Want(1, said...) // a plan that fails writes no state

			// The import is wrong.
			right := w.Copy(t)
			if test.command != nil {
				right.MustRun("state", "rm", this)
				right.MustRun("import", this, "cam-1")
			} else {
				right.Edit("main.tf", `id = "cam-9"`, `id = "cam-1"`)
			}
			right.MustApply()
			s.WantAttached(t, "cam-9", "p9")
			s.DrainRequests()

			// The change is meant: first the import is applied, with a refresh. That sends the set, or nothing if it is the one that was read.
			w.Edit("main.tf", `stream_id     = "cam-1"`, `stream_id     = "cam-9"`)
			w.Edit("main.tf", `"p1"`, `"p9"`)
			w.Edit("main.tf", `"keep"`, `"detach"`)
			w.MustApply()
			var first []string
			if !test.drift {
				first = []string{updateOf("cam-9", `"p9"`)}
			}
			s.wantPatches(first...)
			w.Edit("main.tf", `stream_id     = "cam-9"`, `stream_id     = "cam-1"`)
			w.Edit("main.tf", `"p9"`, `"p1"`)
			w.MustApply()
			s.wantPatches(updateOf("cam-9", ""), updateOf("cam-1", `"p1"`))
		})
	}
}

// One wrong id in a list of imports is one error, and nothing is sent for the others either.
func TestAccImportListWithAWrongID(t *testing.T) {
	t.Parallel()
	if !clitest.AtLeast(t, "1.7", "1.7") {
		t.Skip("the CLI has no for_each in import blocks")
	}
	ids := append(fleetIDs(40), "cam-99")
	s, w := importing(t, false, ids...)
	w.Configure(`
locals {
  cameras = { for i in range(1, 41) : "cam-${i}" => ["p${i}"] }
}

import {
  for_each = local.cameras
  to       = stream_processors.this[each.key]
  id       = each.key == "cam-7" ? "cam-99" : each.key
}

resource "stream_processors" "this" {
  for_each      = local.cameras
  stream_id     = each.key
  processor_ids = each.value
}
`)
	r := w.Apply().Want(1, imported, `Stream "cam-99" was imported`, `"cam-7"`)
	if n := strings.Count(r.Stderr, imported); n != 1 {
		t.Errorf("%d errors: %s", n, r.Stderr)
	}
	s.wantPatches()
}

// A group's import is refused if it has streams that the configuration does not have. Those that only the configuration has are added.
func TestAccImportOfOtherStreams(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		byCommand bool
		args      []string
	}{
		"a block": {}, "the command, without a refresh": {byCommand: true, args: []string{"-refresh=false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := importing(t, true, "cam-1", "cam-2", "cam-8", "cam-9")
			config := groupOf(map[string]string{"cam-1": `"p1"`, "cam-2": `"p2"`}, "")
			imports := func(ids string) {
				if test.byCommand {
					w.Configure(config)
					w.MustRun("import", group, ids)
				} else {
					w.Configure(config + importBlock(group, ids))
				}
			}
			imports(`["cam-1", "cam-8", "cam-9"]`)
			said := []string{imported, "2 streams", `"cam-8", "cam-9"`, "Nothing was sent by this operation"}
			w.Apply(test.args...).Want(1, said...)
			s.wantPatches()
			if test.byCommand {
				w.MustRun("state", "rm", group)
			}
			imports(`["cam-1"]`)
			w.MustApply(test.args...)
			s.wantPatches(updateOf("cam-2", `"p2"`))
			s.WantAttached(t, "cam-8", "p8")
			s.WantAttached(t, "cam-9", "p9")
		})
	}
}

// An import that changes nothing is not applied, and the next run is free: a stream that leaves is detached, as any other.
func TestAccAdoptedStreamsChange(t *testing.T) {
	t.Parallel()
	s, w := importing(t, true, "cam-1", "cam-2", "cam-3", "cam-4")
	single := resourceOf("this", "cam-1", `"p1"`, "")
	streams := map[string]string{"cam-2": `"p2"`, "cam-3": `"p3"`}
	w.Configure(single + groupOf(streams, "") + importBlock(this, "cam-1") + importBlock(group, `["cam-2", "cam-3"]`))
	w.Apply().Want(0, "2 imported, 0 added, 0 changed, 0 destroyed")
	s.wantPatches()
	delete(streams, "cam-3")
	w.Configure(strings.Replace(single, "cam-1", "cam-4", 1) + groupOf(streams, ""))
	w.Plan("-refresh=false").Want(2)
	w.MustApply()
	s.WantAttached(t, "cam-1")
	s.WantAttached(t, "cam-2", "p2")
	s.WantAttached(t, "cam-3")
	s.WantAttached(t, "cam-4", "p1")
}

// An id that is known after apply may be another one than that of the import: nothing is sent to the imported stream.
func TestAccImportForALateID(t *testing.T) {
	t.Parallel()
	const lifecycle, stays = "lifecycle { create_before_destroy = true }", "Processors Stay Attached"
	id := "resource \"terraform_data\" \"id\" {\n  input = \"cam-1\"\n}\n"
	late := func(config string) string { return strings.Replace(config, `"cam-1"`, "terraform_data.id.output", 1) }
	groupOfOne := "resource \"stream_processors_group\" \"this\" {\n  streams = { (terraform_data.id.output) = [\"p1\"] }\n}\n"
	for name, test := range map[string]struct {
		address, ids, config string
		drift, byCommand     bool
	}{
		"a resource":                            {this, "cam-9", late(resourceOf("this", "cam-1", `"p1"`, "")), false, false},
		"created first, by command, and read":   {this, "cam-9", late(resourceOf("this", "cam-1", `"p1"`, lifecycle)), true, true},
		"a group":                               {group, `["cam-8", "cam-9"]`, groupOfOne, true, false},
		"a group that the command has imported": {group, `["cam-8", "cam-9"]`, groupOfOne, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := importing(t, test.drift, "cam-1", "cam-8", "cam-9")
			w.Configure(id + test.config)
			w.MustRun("init")
			if test.byCommand {
				w.MustRun("import", test.address, test.ids)
			} else {
				w.Configure(id + test.config + importBlock(test.address, test.ids))
			}
			w.Apply().Want(0, stays, `"cam-9"`)
			s.wantPatches(updateOf("cam-1", `"p1"`))
		})
	}
}

// After the command, an object that moves is still that of the import: to another address, by state mv or a moved block, it goes as any
// other, and to another stream only after an apply. A destroy follows on_destroy.
func TestAccImportThatMoves(t *testing.T) {
	t.Parallel()
	s, w := importing(t, false, "cam-1", "cam-9")
	other := strings.Replace(resourceOf("this", "cam-9", `"p1"`, ""), `"this"`, `"other"`, 1)
	w.Configure(resourceOf("this", "cam-9", `"p1"`, ""))
	w.MustRun("import", this, "cam-9")

	byBlock := w.Copy(t)
	byBlock.Configure(strings.Replace(other, "cam-9", "cam-1", 1) + "moved {\n  from = " + this + "\n  to   = stream_processors.other\n}\n")
	byBlock.Plan().Want(1, imported)
	destroyed := w.Copy(t)
	s.wantPatches()
	destroyed.MustRun("destroy", "-auto-approve")
	s.wantPatches(updateOf("cam-9", ""))

	w.MustRun("state", "mv", this, "stream_processors.other")
	w.Configure(strings.Replace(other, "cam-9", "cam-1", 1))
	w.Plan().Want(1, imported)
	w.Configure(other)
	w.MustApply()
	s.wantPatches(updateOf("cam-9", `"p1"`))
	w.Configure(strings.Replace(other, "cam-9", "cam-1", 1))
	w.MustApply()
	s.wantPatches(updateOf("cam-9", ""), updateOf("cam-1", `"p1"`))
}
