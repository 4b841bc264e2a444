package requests

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
)

// The documents name exactly the statuses that are retried.
func TestRetriedStatusesAreDocumented(t *testing.T) {
	t.Parallel()
	const rule = "408, 409, 423, 425, 429 and every 5xx but 501, 505 and 511"
	for document, want := range map[string]string{
		"../streams/INTERFACE.md": "after the statuses " + rule + ".",
		"../../README.md":         "the statuses " + rule + ".",
		"../config/schema.go":     "of the statuses " + rule + "; ",
	} {
		if text, err := os.ReadFile(document); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q: %v", document, want, err)
		}
	}
	for status := 100; status < 600; status++ {
		want := slices.Contains([]int{408, 409, 423, 425, 429}, status) || status >= 500 && status != 501 && status != 505 && status != 511
		if got := isRetryableStatus(status); got != want {
			t.Errorf("%d: %t", status, got)
		}
	}
}

// Neither side's TLS alert is retried. Only that of the service says that it has not read the request.
func TestAlerts(t *testing.T) {
	t.Parallel()
	for op, ofService := range map[string]bool{"remote error": true, "local error": false, "read": false} {
		err := fmt.Errorf("x: %w", &net.OpError{Op: op, Err: errors.New("tls: no renegotiation")})
		if failure := op != "read"; IsTLSFailure(err) != failure || mayRetry(nil, err) == failure || sentAlert(err, byService) != ofService {
			t.Errorf("%s: %t, %t, %t", op, IsTLSFailure(err), mayRetry(nil, err), sentAlert(err, byService))
		}
	}
}
