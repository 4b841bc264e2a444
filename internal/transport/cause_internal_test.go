package transport

import (
	"errors"
	"fmt"
	"net"
	"testing"
)

// The TLS alerts of both sides are failures of TLS. Only that of the service says that it has not read the request.
func TestAlerts(t *testing.T) {
	t.Parallel()
	for op, ofService := range map[string]bool{"remote error": true, "local error": false, "read": false} {
		err := fmt.Errorf("x: %w", &net.OpError{Op: op, Err: errors.New("tls: no renegotiation")})
		if IsTLSFailure(err) != (op != "read") || PeerSentAlert(err) != ofService {
			t.Errorf("%s: %t, %t", op, IsTLSFailure(err), PeerSentAlert(err))
		}
	}
}
