package streams

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// The documents name exactly the statuses that are retried.
func TestRetriedStatusesAreDocumented(t *testing.T) {
	t.Parallel()
	const rule = "408, 429 and every 5xx but 501"
	for document, want := range map[string]string{
		"INTERFACE.md":        "after the statuses " + rule + ".",
		"../../README.md":     "the statuses " + rule + ".",
		"../config/schema.go": "of the statuses " + rule + "; ",
		"../../DESIGN.md":     "also 408, 429 or a 5xx but 501 from everything",
	} {
		if text, err := os.ReadFile(document); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q: %v", document, want, err)
		}
	}
	for status := 100; status < 600; status++ {
		want := status == 408 || status == 429 || status >= 500 && status != 501
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
		if failure := op != "read"; IsTLSFailure(err) != failure || isRetryableError(err) == failure || sentAlert(err, byService) != ofService {
			t.Errorf("%s: %t, %t, %t", op, IsTLSFailure(err), isRetryableError(err), sentAlert(err, byService))
		}
	}
}

// The waits double up to the longest one, and spread. Beside others that succeed, they are shorter.
func TestBackoff(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, test := range []struct {
		retry  Retry
		bounds []time.Duration // longest wait after the first, the second, … attempt
	}{
		{DefaultRetry, []time.Duration{1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 16000 * ms, 30000 * ms, 30000 * ms}},
		{Retry{MinBackoff: ms, MaxBackoff: 5 * ms}, []time.Duration{2 * ms, 4 * ms, 5 * ms, 5 * ms}},
		{Retry{MinBackoff: 5 * ms, MaxBackoff: ms}, []time.Duration{5 * ms, 5 * ms}}, // MinBackoff takes precedence
		{Retry{MinBackoff: math.MaxInt64, MaxBackoff: math.MaxInt64}, []time.Duration{math.MaxInt64, math.MaxInt64}},
	} {
		for i, bound := range test.bounds {
			shortest, middle, longest := test.retry.backoff(i+1, outlasting, 0), test.retry.backoff(i+1, outlasting, 0.5), test.retry.backoff(i+1, outlasting, 1)
			if shortest != max(test.retry.MinBackoff, bound/4*3) || middle < shortest || middle > longest || longest != bound {
				t.Errorf("%+v after attempt %d: %s, %s, %s; want up to %s", test.retry, i+1, shortest, middle, longest, bound)
			}
		}
	}
	if shortest, longest := DefaultRetry.backoff(6, besideOthers, 0), DefaultRetry.backoff(6, besideOthers, 1); shortest != 1000*ms || longest != 4000*ms {
		t.Errorf("beside others: %s to %s", shortest, longest)
	}
}
