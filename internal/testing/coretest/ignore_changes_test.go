package coretest

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// A replacement sends the configured set to the configured stream, whatever ignore_changes keeps in an update, and detaches only from
// a stream that it leaves. Terraform plans it twice, and the plans must not conflict. The first one says no more than the second one.
func TestReplacedWithIgnoredChanges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		how     string // -replace stands for replace_triggered_by, too
		ignored []string
		stream  string // in the configuration; s1 is in the state
		late    bool   // the set is known after apply
	}{
		{"-replace", []string{"processor_ids"}, "s1", false},
		{"-replace", []string{"processor_ids"}, "s1", true},
		{"-replace", []string{"all"}, "s1", false},
		{"-replace", []string{"all"}, "s2", false},
		{"-replace", []string{"stream_id"}, "s2", false},
		{"-replace", []string{"stream_id", "processor_ids"}, "s2", true},
		{"another stream", []string{"processor_ids"}, "s2", false},
		{"another stream", []string{"processor_ids"}, "s2", true},
		{"tainted", []string{"processor_ids"}, "s1", false},
		{"tainted", []string{"processor_ids"}, "s1", true},
		{"tainted", []string{"all"}, "s2", false},
		{"group, -replace", []string{`streams["s1"]`}, "s1", false},
		{"group, -replace", []string{`streams["s1"]`}, "s2", false},
		{"group, -replace", []string{"streams"}, "s1", true},
		{"group, -replace", []string{"all"}, "s2", false},
		{"group, tainted", []string{"streams"}, "s2", false},
	} {
		for _, createsFirst := range []bool{false, true} {
			name := fmt.Sprintf("%s, ignores %q, %s, late %t, creates first %t", test.how, test.ignored, test.stream, test.late, createsFirst)
			t.Run(name, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					c := newTerraformCore(t, false, 1)
					addr, b := "a", blockFor("s1", "p1")
					if b.group = test.how[0] == 'g'; b.group {
						addr = "g"
					}
					b.ignores, b.createBeforeDestroy = test.ignored, createsFirst
					c.run(config{addr: b}, options{})
					b.sets, b.lateProcessors = blockFor(test.stream, "p2").sets, test.late
					opts := options{}
					switch {
					case slices.Contains([]string{"tainted", "group, tainted"}, test.how):
						opts.tainted = []string{addr}
					case test.how != "another stream":
						opts.replace = []string{addr}
					}
					if !c.run(config{addr: b}, opts) {
						t.Fatal(c.failures)
					}
					want := []string{patchBody([]string{"p2"})}
					if test.stream != "s1" {
						want = append(want, patchBody(nil))
						c.service.WantAttached(t, "s1")
					}
					c.service.WantAttached(t, test.stream, "p2")
					var got []string
					for _, r := range c.service.Requests() {
						got = append(got, r.Body)
					}
					if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
						t.Errorf("the apply sent %q, want %q", got, want)
					}
					c.checkNextPlanEmpty(config{addr: b})
				})
			})
		}
	}
}

// Another resource takes the stream that a replacement leaves, although the first plan of the replacement keeps it.
func TestTakesTheStreamOfAReplacement(t *testing.T) {
	t.Parallel()
	for _, createsFirst := range []bool{false, true} {
		for addr, ignored := range map[string]string{"a": "stream_id", "g": `streams["s1"]`} {
			inBubble(t, func(t *testing.T) {
				c := newTerraformCore(t, false, 1)
				b := blockFor("s1", "p1")
				b.group, b.ignores, b.createBeforeDestroy = addr == "g", []string{ignored}, createsFirst
				c.run(config{addr: b}, options{})
				b.sets = blockFor("s2", "p2").sets
				taker := blockFor("s1", "p3")
				taker.group, taker.dependsOn = true, addr
				if !c.run(config{addr: b, "h": taker}, options{replace: []string{addr}}) {
					t.Errorf("ignores %s, creates first %t: %v", ignored, createsFirst, c.failures)
				}
				c.service.WantAttached(t, "s1", "p3")
				c.service.WantAttached(t, "s2", "p2")
				for _, r := range c.service.Requests() {
					if r.Method == http.MethodPatch && r.Body == patchBody(nil) && r.StreamID == "s2" {
						t.Errorf("sent %s", r)
					}
				}
			})
		}
	}
}
