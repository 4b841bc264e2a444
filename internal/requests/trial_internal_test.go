package requests

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// What the events of a credential make of its trial. Each step says how many requests may be under way after it.
func TestTrial(t *testing.T) {
	t.Parallel()
	type step struct {
		event   string
		verdict verdict
		tries   int // that are left; -1 if requests need none
	}
	reject := func(left int) step { return step{"reject", untested, left} }
	for name, steps := range map[string][]step{
		"accepted":                   {{"accept", proven, -1}, {"reject", proven, -1}},
		"some of the first rejected": {reject(4), reject(3), {"accept", proven, -1}},
		"rejected":                   {reject(4), reject(3), {"reject again", untested, 2}, {"reject again", untested, 1}, {"reject", wrong, -1}},
		"aborted":                    {reject(4), {"abort", wrong, -1}},
		"aborted later":              {{"accept", proven, -1}, {"abort", proven, -1}},
		"accepted, then some":        {{"accept", proven, -1}, {"reject", proven, -1}, {"reject", proven, -1}, {"reject", proven, -1}, {"reject", proven, -1}, {"reject", proven, -1}},
		"expired": {{"accept", proven, -1}, {"reject", proven, -1}, {"reject", proven, -1}, {"reject", proven, -1}, {"reject", proven, -1},
			{"reject", proven, -1}, {"exhaust", proven, -1}, {"reject again", proven, -1}, {"reject", wrong, -1}},
		"some, again and again": {{"accept", proven, -1}, {"exhaust", proven, -1}, {"reject", proven, -1}, {"reject", proven, -1}, {"reject", proven, -1},
			{"reject again", proven, -1}, {"reject again", proven, -1}, {"reject again", proven, -1}, {"reject", proven, -1}},
		"exhausted, then some": {{"accept", proven, -1}, {"exhaust", proven, -1}, {"reject", proven, -1}, {"reject", proven, -1}, {"accept", proven, -1},
			{"reject", proven, -1}, {"reject", proven, -1}, {"reject", proven, -1}},
		"beside a success": {{"accept", proven, -1}, {"exhaust", proven, -1}, {"reject late", proven, -1}, {"reject late", proven, -1},
			{"reject late", proven, -1}, {"reject late", proven, -1}, {"reject late", proven, -1}, {"reject late", proven, -1}},
		"exhausted": {{"exhaust", untested, 5}, {"accept", proven, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTrial()
			for i, s := range steps {
				successes := tr.now().accepted
				switch s.event {
				case "accept":
					tr.accept()
				case "reject", "reject again":
					_ = tr.acquire(t.Context(), tr.tries)
					tr.reject(successes, s.event == "reject again", Result{})
				case "reject late": // began before the success
					tr.reject(successes-1, false, Result{})
				case "abort":
					tr.abort()
				case "exhaust":
					tr.exhaust()
				}
				verdict := tr.now().verdict
				tries := cap(tr.tries) - len(tr.tries)
				if verdict != untested {
					tries = -1
				}
				if verdict != s.verdict || tries != s.tries {
					t.Fatalf("step %d, %s: verdict %d, %d tries; want %d, %d", i+1, s.event, verdict, tries, s.verdict, s.tries)
				}
			}
		})
	}
}

// The documents state the bounds of a trial.
func TestTrialIsDocumented(t *testing.T) {
	t.Parallel()
	for document, want := range map[string][]string{
		"../../DESIGN.md": {
			fmt.Sprintf("with a credential that was never accepted | %d |", maxUntested),
			fmt.Sprintf("that is rejected from the first one on | %d,", maxRejections),
			fmt.Sprintf("to become valid | %g second and a response |", rejectionDelay.Seconds()),
		},
		"../../docs/guides/troubleshooting.md": {
			fmt.Sprintf("at most %d times, and until its first success at most %d requests at a time", maxRejections, maxUntested),
		},
	} {
		text, err := os.ReadFile(document)
		for _, part := range want {
			if err != nil || !strings.Contains(string(text), part) {
				t.Errorf("%s does not say %q: %v", document, part, err)
			}
		}
	}
}
