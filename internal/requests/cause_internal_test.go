package requests

import (
	"errors"
	"fmt"
	"net"
	"testing"
)

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
