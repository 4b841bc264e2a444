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

// A time limit of the network's own is no limit of the operation's.
func TestNetworkTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dial := &net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded} // so says Is of a dialer's own error
		if _, e := runUpdate(t, Config{}, 0, failWith(dial)); e == nil || e.Kind != KindTimeout || e.Attempts != 5 || e.Outcome != NotChanged ||
			strings.Contains(e.Reason, "operation") {
			t.Errorf("error %#v", e)
		}
		if _, e := runUpdate(t, Config{}, 0, failWith(os.ErrDeadlineExceeded)); e == nil || e.Kind != KindTimeout || e.Reason != "the connection failed: i/o timeout" {
			t.Errorf("error %#v", e)
		}
	})
}

// The outcome counts from when the request may have left.
func TestOutcomeOfFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	for name, test := range map[string]struct {
		steps []func(*http.Request) (*http.Response, error)
		want  Outcome
	}{
		"no connection": {[]func(*http.Request) (*http.Response, error){failWith(errConnectionRefused)}, NotChanged},
		"no answer": {[]func(*http.Request) (*http.Response, error){func(req *http.Request) (*http.Response, error) {
			traceConnection(req)
			return nil, broken
		}}, Unknown},
		"no answer, then no connection": {[]func(*http.Request) (*http.Response, error){func(req *http.Request) (*http.Response, error) {
			traceConnection(req)
			return nil, broken
		}, failWith(errConnectionRefused)}, Unknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			if _, e := runUpdate(t, Config{}, 0, test.steps...); e == nil || e.Outcome != test.want {
				t.Errorf("%s: %#v, want outcome %d", name, e, test.want)
			}
		})
	}
}

// With TLS 1.3 a client has sent its request before it hears that its certificate is refused. Of a new
// connection, the service has not read it then; of an old one, nobody knows.
func TestOutcomeOfARefusedCertificate(t *testing.T) {
	t.Parallel()
	alert := &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}
	for name, test := range map[string]struct {
		reused bool
		err    error
		want   Outcome
	}{
		"new connection, alert": {false, alert, NotChanged},
		"old connection, alert": {true, alert, Unknown},
		"new connection, cut":   {false, io.ErrUnexpectedEOF, Unknown},
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
