package streams

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

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
			fmt.Sprintf("at most %d requests under way, and a rejected one is sent at most %d times", maxUntested, maxRejections),
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
