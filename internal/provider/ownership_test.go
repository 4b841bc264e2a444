package provider

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Terraform destroys the old object of a stream before or after it writes the new one, as it happens.
// Each scenario does so with several streams at a time and several times over; whatever the order, the
// service must end with the sets that the configuration gives.
func TestAccOwnershipPassesOn(t *testing.T) {
	t.Parallel()
	streamIDs := []string{"s0", "s1", "s2", "s3", "s4", "s5"}
	scenarios := map[string]struct {
		config func(round int) string
		args   []string // of each apply
		taint  []string
		want   func(round int, i int) string // the processor on stream i
	}{
		"renamed resource": {
			config: func(round int) string {
				return fmt.Sprintf(`
resource "stream_processors" "round%d" {
  for_each      = toset(local.streams)
  stream_id     = each.key
  processor_ids = ["p"]
}`, round)
			},
		},
		"renamed resource with another set": {
			config: func(round int) string {
				return fmt.Sprintf(`
resource "stream_processors" "round%[1]d" {
  for_each      = toset(local.streams)
  stream_id     = each.key
  processor_ids = ["p%[1]d"]
}`, round)
			},
			want: func(round, _ int) string { return fmt.Sprintf("p%d", round) },
		},
		"another for_each key": {
			config: func(round int) string {
				return fmt.Sprintf(`
resource "stream_processors" "this" {
  for_each      = { for id in local.streams : "${id}-%d" => id }
  stream_id     = each.value
  processor_ids = ["p"]
}`, round)
			},
		},
		"streams go round": {
			config: rotating(""),
			want:   rotated,
		},
		"streams go round, create_before_destroy": {
			config: rotating("lifecycle {\n    create_before_destroy = true\n  }"),
			want:   rotated,
		},
		"-replace": {
			config: func(int) string { return indexed("") },
			args:   []string{"-replace=stream_processors.this[0]", "-replace=stream_processors.this[1]", "-replace=stream_processors.this[2]"},
			want:   func(_, i int) string { return fmt.Sprintf("p%d", i) },
		},
		"-replace, create_before_destroy": {
			config: func(int) string { return indexed("lifecycle {\n    create_before_destroy = true\n  }") },
			args:   []string{"-replace=stream_processors.this[0]", "-replace=stream_processors.this[1]", "-replace=stream_processors.this[2]"},
			want:   func(_, i int) string { return fmt.Sprintf("p%d", i) },
		},
		"tainted": {
			config: func(int) string { return indexed("") },
			taint:  []string{"stream_processors.this[0]", "stream_processors.this[1]"},
			want:   func(_, i int) string { return fmt.Sprintf("p%d", i) },
		},
		"tainted, create_before_destroy": {
			config: func(int) string { return indexed("lifecycle {\n    create_before_destroy = true\n  }") },
			taint:  []string{"stream_processors.this[0]", "stream_processors.this[1]"},
			want:   func(_, i int) string { return fmt.Sprintf("p%d", i) },
		},
	}
	for name, scenario := range scenarios {
		for _, latency := range []time.Duration{0, 20 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s, latency up to %s", name, latency), func(t *testing.T) {
				t.Parallel()
				service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(streamIDs...)...)
				if latency > 0 {
					service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
						return &streamstest.Fault{Delay: rand.N(latency)}
					})
				}
				w := newWorkspace(t, url, "")
				for round := range 3 {
					w.write("locals {\n  streams = " + hcl(streamIDs) + "\n}\n" + scenario.config(round))
					var args []string
					if round > 0 {
						args = scenario.args
						for _, address := range scenario.taint {
							if r := w.run("taint", address); r.code != 0 {
								t.Fatalf("taint: %v", r)
							}
						}
					}
					w.mustApply(args...)
					for i, id := range streamIDs {
						processor := "p"
						if scenario.want != nil {
							processor = scenario.want(round, i)
						}
						service.WantAttached(t, id, processor)
					}
				}
				w.wantNoChanges()
			})
		}
	}
}

// indexed has one resource for each stream, each with a processor of its own.
func indexed(lifecycle string) string {
	return fmt.Sprintf(`
resource "stream_processors" "this" {
  count         = length(local.streams)
  stream_id     = local.streams[count.index]
  processor_ids = ["p${count.index}"]
  %s
}`, lifecycle)
}

// rotating gives each resource the stream of its neighbour, round by round.
func rotating(lifecycle string) func(int) string {
	return func(round int) string {
		return strings.Replace(indexed(lifecycle), "[count.index]", fmt.Sprintf("[(count.index + %d) %% length(local.streams)]", round), 1)
	}
}

func rotated(round, i int) string { return fmt.Sprintf("p%d", ((i-round)%6+6)%6) }

// The old streams are left as on_destroy says, also when the new ones come first.
func TestAccChangedStreamCreateBeforeDestroy(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("a", "b")...)
	config := `
resource "stream_processors" "this" {
  stream_id     = %q
  processor_ids = ["p1"]
  lifecycle {
    create_before_destroy = true
  }
}
`
	w := newWorkspace(t, url, fmt.Sprintf(config, "a"))
	w.mustApply()
	w.write(fmt.Sprintf(config, "b"))
	w.mustApply()
	service.WantAttached(t, "a")
	service.WantAttached(t, "b", "p1")
	w.wantNoChanges()
}

func TestAccConflictAtPlan(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam", "other")...)
	owner := `
resource "stream_processors" "owner" {
  stream_id     = "cam"
  processor_ids = ["p1", "p2"]
}
`
	rivals := map[string]string{
		"resource": `
resource "stream_processors" "rival" {
  stream_id     = "cam"
  processor_ids = ["p3"]
}
`,
		"subset": `
resource "stream_processors" "rival" {
  stream_id     = "cam"
  processor_ids = ["p1"]
}
`,
		"empty set": `
resource "stream_processors" "rival" {
  stream_id     = "cam"
  processor_ids = []
}
`,
		"instance": `
resource "stream_processors" "rival" {
  for_each      = { a = "p4", b = "p5" }
  stream_id     = "cam"
  processor_ids = [each.value]
}
`,
	}
	w := newWorkspace(t, url, "")
	wantConflicts := func() {
		t.Helper()
		for name, rival := range rivals {
			w.write(owner + rival)
			r, complaints := w.complaints("plan")
			if r.code != 1 || len(complaints) == 0 {
				t.Fatalf("%s: %v", name, r)
			}
			for _, p := range complaints {
				wantIn(t, p.Summary, "Conflicting Processor Sets")
				wantIn(t, p.Detail, `stream "cam"`, "Nothing was sent")
				wantIn(t, p.Snippet.Code, "processor_ids")
				if !strings.HasSuffix(p.Detail, notChanged) {
					t.Errorf("%s: the last line is not %q: %s", name, notChanged, p.Detail)
				}
			}
			if name == "resource" {
				wantIn(t, complaints[0].Detail, `["p1", "p2"]`, `["p3"]`)
			}
		}
		w.apply()
		service.WantRequests(t)
	}
	wantConflicts() // among new resources

	w.write(owner)
	w.mustApply()
	service.ForgetRequests()
	wantConflicts() // beside an existing one

	// To hand the stream over is no conflict.
	w.write(rivals["resource"])
	w.mustApply()
	service.WantAttached(t, "cam", "p3")
	w.wantNoChanges()
}

func TestAccConflictAtApply(t *testing.T) {
	t.Parallel()
	const late = `
resource "terraform_data" "late" {
  input = { stream = "cam", set = ["p2"] }
}
`
	for name, rival := range map[string]string{
		"unknown set": `
resource "stream_processors" "rival" {
  stream_id     = "cam"
  processor_ids = terraform_data.late.output.set
}
`,
		"unknown stream": `
resource "stream_processors" "rival" {
  stream_id     = terraform_data.late.output.stream
  processor_ids = ["p2"]
}
`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam")...)
			w := newWorkspace(t, url, late+rival+`
resource "stream_processors" "owner" {
  stream_id     = "cam"
  processor_ids = ["p1"]
}
`)
			r, complaints := w.complaints("apply", "-auto-approve")
			if r.code != 1 || len(complaints) != 1 || complaints[0].Summary != "Conflicting Processor Sets" {
				t.Errorf("want one conflict: %v", r)
			}
			if requests := service.DrainRequests(); len(requests) != 1 {
				t.Errorf("want one request, got %q", requests)
			}
			// The one that is in the state is the one that the service has.
			stream, _ := service.Stream("cam")
			for address, r := range w.resources() {
				if ids := r.AttributeValues["processor_ids"]; ids != nil && fmt.Sprint(ids) != fmt.Sprint(stream.ProcessorIDs) {
					t.Errorf("%s has %v in the state, the service has %v", address, ids, stream.ProcessorIDs)
				}
			}
			wantIn(t, w.plan().text(), "Conflicting Processor Sets") // now it is known
		})
	}
}

// Two resources may agree on the set of a stream. When one of them goes, the other still has it.
func TestAccSharedStream(t *testing.T) {
	t.Parallel()
	ids := []string{"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"}
	resource := `
resource "stream_processors" %q {
  for_each      = toset(` + hcl(ids) + `)
  stream_id     = each.key
  processor_ids = [%q]
}
`
	for _, latency := range []time.Duration{0, 20 * time.Millisecond} {
		t.Run(fmt.Sprintf("latency %s", latency), func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{Latency: latency}, streamstest.Streams(ids...)...)
			w := newWorkspace(t, url, "")
			for round, step := range []string{
				fmt.Sprintf(resource+resource, "a", "p1", "b", "p1"),
				fmt.Sprintf(resource, "a", "p1"), // b goes
				fmt.Sprintf(resource+resource, "a", "p1", "b", "p1"),
				fmt.Sprintf(resource, "b", "p1"),                     // a goes
				fmt.Sprintf(resource+resource, "a", "p2", "b", "p2"), // both change
				fmt.Sprintf(resource, "a", "p3"),                     // b goes, a changes
				fmt.Sprintf(resource+resource, "a", "p3", "b", "p3"),
				fmt.Sprintf(resource+resource, "c", "p3", "d", "p3"), // both are renamed
			} {
				w.write(step)
				w.mustApply()
				for _, id := range ids {
					stream, _ := service.Stream(id)
					if got := fmt.Sprint(stream.ProcessorIDs); !strings.Contains(step, strings.Trim(got, "[]")) || got == "[]" {
						t.Fatalf("step %d: stream %q has %s", round, id, got)
					}
				}
				w.wantNoChanges()
			}
			w.write("")
			w.mustApply()
			for _, id := range ids {
				service.WantAttached(t, id)
			}
		})
	}
}
