package acceptance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Terraform may destroy the old resource of a stream before or after it creates the new one. Each scenario hands several
// streams over several times, and the service must end with the configured sets.
func TestAccStreamHandover(t *testing.T) {
	t.Parallel()
	const createBeforeDestroy = "lifecycle {\n    create_before_destroy = true\n  }"
	streamIDs := []string{"s0", "s1", "s2", "s3", "s4", "s5"}
	replaceThree := []string{"-replace=stream_processors.this[0]", "-replace=stream_processors.this[1]", "-replace=stream_processors.this[2]"}
	taintTwo := []string{"stream_processors.this[0]", "stream_processors.this[1]"}
	processorByIndex := func(_, i int) string { return fmt.Sprintf("p%d", i) }
	scenarios := map[string]struct {
		config func(round int) string
		args   []string // of each apply
		taint  []string
		want   func(round int, i int) string // the processor on stream i
	}{
		"renamed resource": {
			config: func(round int) string { return resourceOfRound(round, "p") },
		},
		"renamed resource with another set": {
			config: func(round int) string { return resourceOfRound(round, fmt.Sprintf("p%d", round)) },
			want:   func(round, _ int) string { return fmt.Sprintf("p%d", round) },
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
		"each resource gets the next stream": {
			config: rotatedStreams(""),
			want:   processorAfterRotation,
		},
		"each resource gets the next stream, create_before_destroy": {
			config: rotatedStreams(createBeforeDestroy),
			want:   processorAfterRotation,
		},
		"-replace": {
			config: func(int) string { return resourceByIndex("") },
			args:   replaceThree,
			want:   processorByIndex,
		},
		"-replace, create_before_destroy": {
			config: func(int) string { return resourceByIndex(createBeforeDestroy) },
			args:   replaceThree,
			want:   processorByIndex,
		},
		"tainted": {
			config: func(int) string { return resourceByIndex("") },
			taint:  taintTwo,
			want:   processorByIndex,
		},
		"tainted, create_before_destroy": {
			config: func(int) string { return resourceByIndex(createBeforeDestroy) },
			taint:  taintTwo,
			want:   processorByIndex,
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
					w.writeConfig("locals {\n  streams = " + hclList(streamIDs) + "\n}\n" + scenario.config(round))
					var args []string
					if round > 0 {
						args = scenario.args
						for _, address := range scenario.taint {
							w.mustRun("taint", address)
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

// resourceOfRound has one resource for each stream, with another name in each round.
func resourceOfRound(round int, processor string) string {
	return fmt.Sprintf(`
resource "stream_processors" "round%d" {
  for_each      = toset(local.streams)
  stream_id     = each.key
  processor_ids = [%q]
}`, round, processor)
}

// resourceByIndex has one resource for each stream, each with a processor of its own.
func resourceByIndex(lifecycle string) string {
	return fmt.Sprintf(`
resource "stream_processors" "this" {
  count         = length(local.streams)
  stream_id     = local.streams[count.index]
  processor_ids = ["p${count.index}"]
  %s
}`, lifecycle)
}

// rotatedStreams gives each resource the stream of the next one in each round.
func rotatedStreams(lifecycle string) func(int) string {
	return func(round int) string {
		return strings.Replace(resourceByIndex(lifecycle), "[count.index]", fmt.Sprintf("[(count.index + %d) %% length(local.streams)]", round), 1)
	}
}

// processorAfterRotation is the processor on stream i.
func processorAfterRotation(round, i int) string { return fmt.Sprintf("p%d", ((i-round)%6+6)%6) }

// With create_before_destroy, too, a change of stream_id detaches the processors of the old stream.
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
	w.writeConfig(fmt.Sprintf(config, "b"))
	w.mustApply()
	service.WantAttached(t, "a")
	service.WantAttached(t, "b", "p1")
	w.wantNoChanges()
}

// One of two resources of a stream moves away. The other one keeps its set, or the plan warns about the stream.
func TestAccSharedStreamOneMoves(t *testing.T) {
	t.Parallel()
	for name, lifecycle := range map[string]string{
		"destroy first":         "",
		"create_before_destroy": "lifecycle {\n    create_before_destroy = true\n  }",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("s1", "s2")...)
			config := func(streamOfB string) string {
				return fmt.Sprintf(`
resource "stream_processors" "a" {
  stream_id     = "s1"
  processor_ids = ["p1"]
}

resource "stream_processors" "b" {
  stream_id     = %q
  processor_ids = ["p1"]
  %s
}`, streamOfB, lifecycle)
			}
			w := newWorkspace(t, url, "")
			for range 3 {
				w.writeConfig(config("s1"))
				w.mustApply()
				w.writeConfig(config("s2"))
				plan := w.mustRun("plan", "-out=plan", "-no-color").text()
				w.mustApply("plan")
				stream, _ := service.Stream("s1")
				resent := strings.Contains(plan, `Set Will Be Sent Again: stream "s1"`)
				warned := strings.Contains(plan, `Another Resource Has the Stream: stream "s1"`)
				if !resent && !warned {
					t.Errorf("the plan says nothing about the shared stream:\n%s", plan)
				}
				if len(stream.ProcessorIDs) == 0 && (lifecycle == "" || !warned) {
					t.Errorf("s1 was emptied, and the plan did not warn:\n%s", plan)
				}
				service.WantAttached(t, "s2", "p1")
			}
		})
	}
}

// Two resources may have the same set for a stream. A destroy of one of them detaches nothing.
func TestAccSharedStream(t *testing.T) {
	t.Parallel()
	ids := []string{"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"}
	resource := `
resource "stream_processors" %q {
  for_each      = toset(` + hclList(ids) + `)
  stream_id     = each.key
  processor_ids = [%q]
}
`
	for _, latency := range []time.Duration{0, 20 * time.Millisecond} {
		t.Run(fmt.Sprintf("latency %s", latency), func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{Latency: latency}, streamstest.Streams(ids...)...)
			w := newWorkspace(t, url, "")
			for i, step := range []string{
				fmt.Sprintf(resource+resource, "a", "p1", "b", "p1"),
				fmt.Sprintf(resource, "a", "p1"), // without b
				fmt.Sprintf(resource+resource, "a", "p1", "b", "p1"),
				fmt.Sprintf(resource, "b", "p1"),                     // without a
				fmt.Sprintf(resource+resource, "a", "p2", "b", "p2"), // both change
				fmt.Sprintf(resource, "a", "p3"),                     // without b, a changes
				fmt.Sprintf(resource+resource, "a", "p3", "b", "p3"),
				fmt.Sprintf(resource+resource, "c", "p3", "d", "p3"), // both are renamed
			} {
				w.writeConfig(step)
				w.mustApply()
				for _, id := range ids {
					stream, _ := service.Stream(id)
					if got := fmt.Sprint(stream.ProcessorIDs); !strings.Contains(step, strings.Trim(got, "[]")) || got == "[]" {
						t.Fatalf("step %d: stream %q has %s", i, id, got)
					}
				}
				w.wantNoChanges()
			}
			w.writeConfig("")
			w.mustApply()
			for _, id := range ids {
				service.WantAttached(t, id)
			}
		})
	}
}
