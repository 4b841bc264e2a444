// Package texts writes what a person reads after some two hundred failures: the provider is called as Terraform core calls it, with
// the real client, against services, proxies and networks in memory, on a clock of its own. Whoever changes texts compares what
// `make texts` writes before and after.
package texts_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var out = flag.String("out", "", "file that gets all texts; without it, one of ten is made")

const sample = 10

// failure is one of the failures.
type failure struct {
	title string
	does  operation
	env   map[string]string
	fails func(*world) // what goes wrong, once the resources exist that the operation needs
}

// nowTrue is how the text of an error ends.
var nowTrue = regexp.MustCompile(`(was not changed|may or may not have been changed|changed by this read|stream now has|changes succeeded)[^\n]*$`)

// Every text ends with what is now true of the stream.
func TestTexts(t *testing.T) {
	for _, name := range os.Environ() {
		if name, _, _ = strings.Cut(name, "="); strings.HasPrefix(name, "STREAM_") || strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			t.Setenv(name, "") // restores it
			os.Unsetenv(name)
		}
	}
	all := failures()
	written := make([]string, len(all))
	t.Run("failures", func(t *testing.T) {
		titles := map[string]bool{}
		for i, f := range all {
			if titles[f.title] {
				t.Errorf("two failures are %q", f.title)
			}
			titles[f.title] = true
			if *out == "" && i%sample != 0 {
				continue
			}
			t.Run(f.title, func(t *testing.T) {
				for name, value := range f.env {
					t.Setenv(name, value)
				}
				if f.env == nil {
					t.Parallel()
				}
				synctest.Test(t, func(t *testing.T) { written[i] = textOf(t, f) })
			})
		}
	})
	text := strings.Join(written, "\n")
	if *out != "" {
		if err := os.WriteFile(*out, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// textOf returns what a CLI shows, without its frame.
func textOf(t *testing.T, f failure) string {
	t.Helper()
	w := newWorld(t, f.fails)
	var text strings.Builder
	fmt.Fprintf(&text, "# %s\n", f.title)
	diags := f.does(w)
	<-time.After(2 * dialTimeout) // until connections end for which nobody waits
	if len(diags) == 0 {
		t.Error("there is no text")
	}
	for _, d := range diags {
		fmt.Fprintf(&text, "\n%s: %s%s\n\n%s\n", label(d.Severity), d.Summary, at(d), d.Detail)
		if d.Severity == severityError && !nowTrue.MatchString(strings.TrimSpace(d.Detail)) {
			t.Errorf("does not say what is now true: %s", d.Detail)
		}
	}
	return attempts.ReplaceAllString(text.String(), "")
}

// attempts is how many attempts there were, which differs from run to run: waits are random.
var attempts = regexp.MustCompile(` \(\d+ attempts\)`)
