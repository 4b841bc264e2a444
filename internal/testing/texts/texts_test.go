// Package texts has what a person reads in everyday cases, whole, in testdata/texts.txt. The provider is called as Terraform core
// calls it, with the real client, against services, proxies and networks in memory, on a clock of its own. `make texts` renews the file:
// a change of texts is reviewed there.
package texts_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var renew = flag.Bool("update", false, "write the texts to the file")

const golden = "testdata/texts.txt"

// failure is one of the cases.
type failure struct {
	title string
	does  operation
	env   map[string]string
	fails func(*world) // what goes wrong, once the resources exist that the operation needs
}

// nowTrue is how the text of a failed operation ends.
var nowTrue = regexp.MustCompile(`(not changed|not changed by this resource\.|may or may not have been changed|changed by this read|` +
	`stream now has|changes succeeded|streams were read)[^\n]*$`)

// Each case has the text of the file, and the file has no other ones. The error of each operation ends with what is now true. Its advice
// fits the command: after a destroy, an apply would attach what the destroy has detached.
func TestTexts(t *testing.T) {
	for _, name := range os.Environ() {
		if name, _, _ = strings.Cut(name, "="); strings.HasPrefix(name, "STREAM_") || strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			t.Setenv(name, "") // restores it
			os.Unsetenv(name)
		}
	}
	all := failures()
	texts := make([]string, len(all))
	t.Run("cases", func(t *testing.T) {
		for i, f := range all {
			t.Run(f.title, func(t *testing.T) {
				for name, value := range f.env {
					t.Setenv(name, value)
				}
				if f.env == nil {
					t.Parallel()
				}
				synctest.Test(t, func(t *testing.T) { texts[i] = textOf(t, f) })
			})
		}
	})
	if *renew {
		if err := os.WriteFile(golden, []byte(strings.Join(texts, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	content, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	const heading = "# "
	want := strings.SplitAfter("\n"+string(content), "\n"+heading)
	for i := range want {
		want[i] = strings.TrimSuffix(heading+want[i], heading)
	}
	for i, text := range texts {
		if len(want) > i+1 && strings.TrimSpace(text) != strings.TrimSpace(want[i+1]) {
			t.Errorf("%s\nhas another text (`make texts` renews it):\n%s\nwant\n%s", all[i].title, text, want[i+1])
		}
	}
	if len(texts) != len(want)-1 {
		t.Errorf("%d cases, and %d in the file: `make texts` renews it", len(texts), len(want)-1)
	}
}

// Each case has a title of its own.
func TestTitles(t *testing.T) {
	t.Parallel()
	var titles []string
	for _, f := range failures() {
		titles = append(titles, f.title)
	}
	slices.Sort(titles)
	if unique := slices.Compact(slices.Clone(titles)); len(unique) != len(titles) {
		t.Errorf("of %d titles, only %d differ", len(titles), len(unique))
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
		if f.fails != nil && d.Severity == severityError && !nowTrue.MatchString(strings.TrimSpace(d.Detail)) {
			t.Errorf("does not say what is now true: %s", d.Detail)
		}
		if strings.Contains(strings.ToLower(d.Detail), "apply again") {
			t.Errorf("a destroy is run again, not applied: %s", d.Detail)
		}
	}
	return attempts.ReplaceAllString(text.String(), "")
}

// attempts is how many attempts there were, which differs from run to run: waits are random.
var attempts = regexp.MustCompile(` \(\d+ attempts\)`)
