package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// dialer makes connections, as in [http.Transport].
type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// dialLimit is how long it may take to look up a name and to connect. Package net divides it among the addresses of the name, so
// that one that is silent does not keep it from the others.
const dialLimit = 10 * time.Second

func newDialer() *net.Dialer { return &net.Dialer{Timeout: dialLimit} }

// dialing returns a dialer whose connections wait before a write fails. nil means the network.
func dialing(dial dialer) dialer {
	if dial == nil {
		dial = newDialer().DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, dialError(err)
		}
		return &conn{Conn: c}, nil
	}
}

// dialError gives a name to silence. Package net calls it context.DeadlineExceeded, although no context of a request has ended.
func dialError(err error) error {
	failed, ok := errors.AsType[net.Error](err)
	switch {
	case !ok || !failed.Timeout():
		return err
	case errors.As(err, new(*net.DNSError)): // of the name server
		return errors.New(err.Error())
	}
	return fmt.Errorf("%w: %s", ErrNoConnection, err.Error())
}

// conn is the connection below those of package tls.
type conn struct {
	net.Conn
	broken atomic.Bool // a write has failed
}

const lastWords = 250 * time.Millisecond

// Write waits before it fails with TLS. With TLS 1.3, a service rejects a client after its first request, and ends the connection:
// to fail at once would close it before the alert is read, which says why.
func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if isRecord(b) && endedByPeer(err) && c.broken.CompareAndSwap(false, true) {
		<-time.After(lastWords)
	}
	return n, err
}

// endedByPeer reports whether a write failed because the connection has ended, but not on this side.
func endedByPeer(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && !failed.Timeout() && !errors.Is(err, net.ErrClosed)
}

// isRecord reports whether a message is one of TLS (RFC 8446, section 5.1).
func isRecord(b []byte) bool { return len(b) > 1 && b[0] >= 20 && b[0] <= 23 && b[1] == 3 }

// trace is what package http did for a request.
type trace struct {
	asked      bool                  // for a connection
	used       httptrace.GotConnInfo // without Conn if there was none
	handshakes atomic.Int32          // those that have begun, with an https:// proxy and with the host
	handshake  atomic.Pointer[error] // of the last one
}

// record returns a context that records what is done for its request.
func (t *trace) record(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:           func(string) { t.asked = true },
		GotConn:           func(info httptrace.GotConnInfo) { t.used = info },
		TLSHandshakeStart: func() { t.handshakes.Add(1) },
		TLSHandshakeDone:  func(_ tls.ConnectionState, err error) { t.handshake.Store(&err) },
	})
}

// isThrough reports whether the proxy has connected to the host, which the handshake with the host shows.
func (t *trace) isThrough(proxy *url.URL) bool {
	if proxy.Scheme == "https" {
		return t.handshakes.Load() > 1
	}
	return t.handshakes.Load() > 0
}
