package streams

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What the events of a header make of its trial. After each step, so many requests may be under way.
func TestTrial(t *testing.T) {
	t.Parallel()
	type step struct {
		event   string
		verdict verdict
		turns   int // that are free; -1 if requests need none
	}
	for name, steps := range map[string][]step{
		"accepted":                   {{"accept", accepted, -1}, {"reject", accepted, -1}},
		"some of the first rejected": {{"reject", untested, 2}, {"reject", untested, 1}, {"accept", accepted, -1}},
		"rejected": {{"reject", untested, 2}, {"reject", untested, 1}, {"reject", untested, 0}, {"wait", untested, 1},
			{"reject", untested, 0}, {"wait", untested, 1}, {"reject", rejected, -1}},
		"rejected one after another": {{"reject", untested, 2}, {"wait", untested, 3}, {"reject", untested, 2}, {"wait", untested, 3},
			{"reject", untested, 2}, {"wait", untested, 2}, {"reject", untested, 1}, {"reject", rejected, -1}},
		"late": {{"reject", untested, 2}, {"reject", untested, 1}, {"reject", untested, 0}, {"wait", untested, 1},
			{"accept", accepted, -1}},
		"replaced":            {{"reject", untested, 2}, {"replace", rejected, -1}},
		"replaced later":      {{"accept", accepted, -1}, {"replace", accepted, -1}},
		"accepted, then some": {{"accept", accepted, -1}, {"reject", accepted, -1}, {"reject", accepted, -1}, {"reject", accepted, -1}, {"reject", accepted, -1}, {"reject", accepted, -1}},
		"expired": {{"accept", accepted, -1}, {"reject", accepted, -1}, {"reject", accepted, -1}, {"reject", accepted, -1}, {"reject", accepted, -1},
			{"exhaust", accepted, -1}, {"reject", rejected, -1}},
		"exhausted, then some": {{"accept", accepted, -1}, {"exhaust", accepted, -1}, {"reject", accepted, -1}, {"reject", accepted, -1}, {"accept", accepted, -1},
			{"reject", accepted, -1}, {"reject", accepted, -1}, {"reject", accepted, -1}},
		"beside a success": {{"accept", accepted, -1}, {"exhaust", accepted, -1}, {"reject late", accepted, -1}, {"reject late", accepted, -1},
			{"reject late", accepted, -1}, {"reject late", accepted, -1}, {"reject late", accepted, -1}, {"reject late", accepted, -1}},
		"exhausted": {{"exhaust", untested, 3}, {"accept", accepted, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tr := newTrial()
				for i, s := range steps {
					_, successes := tr.state()
					switch s.event {
					case "accept":
						tr.accept()
					case "reject":
						_, _ = tr.wait(t.Context(), time.Hour, func() error { return nil })
						tr.reject(successes, new(Error))
					case "reject late": // began before the success
						tr.reject(successes-1, new(Error))
					case "wait":
						<-time.After(rejectionDelay)
						synctest.Wait()
					case "replace":
						tr.replace()
					case "exhaust":
						tr.exhaust()
					}
					verdict, _ := tr.state()
					turns := maxUntested - len(tr.turns)
					if verdict != untested {
						turns = -1
					}
					if verdict != s.verdict || turns != s.turns {
						t.Fatalf("step %d, %s: verdict %d, %d turns; want %d, %d", i+1, s.event, verdict, turns, s.verdict, s.turns)
					}
				}
			})
		})
	}
}

// The documents state the bounds of a trial.
func TestTrialIsDocumented(t *testing.T) {
	t.Parallel()
	for document, want := range map[string][]string{
		"../../DESIGN.md": {
			fmt.Sprintf("that the service has not accepted yet | %d |", maxUntested),
			fmt.Sprintf("rejects with 401 from the first one on | %d,", maxRejections),
			fmt.Sprintf("to become valid | %g seconds |", ((maxRejections - maxUntested) * rejectionDelay).Seconds()),
		},
		"../../docs/guides/troubleshooting.md": {
			fmt.Sprintf("at most %d requests under way until its first success, and a rejected one is sent at most %d times", maxUntested, maxRejections),
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
