package streams

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"testing"
	"testing/synctest"
)

// A timeout of the network is reported as such, not as the operation's time limit.
func TestNetworkTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dial := &net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded} // errors.Is of a dialer's timeout reports this, too
		if _, e := runUpdate(t, Config{}, 0, failWith(dial)); e == nil || e.Kind != KindTimeout || e.Attempts != 5 || e.Outcome != NotChanged ||
			strings.Contains(e.Reason, "operation") {
			t.Errorf("error %#v", e)
		}
		if _, e := runUpdate(t, Config{}, 0, failWith(os.ErrDeadlineExceeded)); e == nil || e.Kind != KindTimeout || e.Reason != "the connection failed: i/o timeout" {
			t.Errorf("error %#v", e)
		}
	})
}

// The outcome is unknown if a request may have been sent.
func TestOutcomeWithoutResponse(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	for name, test := range map[string]struct {
		responses []roundTrip
		want      Outcome
	}{
		"no connection": {[]roundTrip{failWith(errConnectionRefused)}, NotChanged},
		"no response": {[]roundTrip{func(req *http.Request) (*http.Response, error) {
			traceConnection(req)
			return nil, broken
		}}, Unknown},
		"no response, then no connection": {[]roundTrip{func(req *http.Request) (*http.Response, error) {
			traceConnection(req)
			return nil, broken
		}, failWith(errConnectionRefused)}, Unknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			if _, e := runUpdate(t, Config{}, 0, test.responses...); e == nil || e.Outcome != test.want {
				t.Errorf("%s: %#v, want outcome %d", name, e, test.want)
			}
		})
	}
}

// With TLS 1.3, a client sends its request before it learns that its certificate is refused. On a new
// connection, the service has not read the request. On a reused one, that is unknown.
func TestOutcomeOfRefusedCertificate(t *testing.T) {
	t.Parallel()
	alert := &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}
	for name, test := range map[string]struct {
		reused bool
		err    error
		want   Outcome
	}{
		"new connection, alert":    {false, alert, NotChanged},
		"reused connection, alert": {true, alert, Unknown},
		"new connection, failed":   {false, io.ErrUnexpectedEOF, Unknown},
	} {
		_, e := runUpdate(t, Config{Retry: Retry{MaxAttempts: 1}}, 0, func(req *http.Request) (*http.Response, error) {
			httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{Reused: test.reused})
			return nil, test.err
		})
		if e == nil || e.Outcome != test.want {
			t.Errorf("%s: error %#v, want outcome %d", name, e, test.want)
		}
	}
}
