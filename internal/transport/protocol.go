package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// ProtocolError is the error of a plain connection to a port that speaks another protocol. It has not read the request.
type ProtocolError struct{ Protocol string } // "TLS" or "HTTP/2"

// Error names the protocol.
func (e *ProtocolError) Error() string { return "the port speaks " + e.Protocol + ", not HTTP/1.1" }

// protocols has how a response in another protocol begins.
var protocols = map[string]string{
	"\x15\x03": "TLS",    // an alert: RFC 8446, section 5.1
	"\x00\x00": "HTTP/2", // a short frame: RFC 9113, section 4.1
}

// dialer makes connections, as in [http.Transport].
type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// checkingProtocol returns a dialer whose connections fail with a [ProtocolError].
func checkingProtocol(dial dialer) dialer {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &checkedConn{Conn: conn}, nil
	}
}

// checkedConn checks how the first response begins, unless the client speaks TLS itself.
type checkedConn struct {
	net.Conn
	begun, unchecked, broken atomic.Bool
	responded                atomic.Bool // a response has come over it
}

// checkedConnOf returns the connection below those of package tls, or nil if there is none.
func checkedConnOf(conn net.Conn) *checkedConn {
	for {
		switch c := conn.(type) {
		case *checkedConn:
			return c
		case *tls.Conn:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

// hasAnswered reports whether a response has come over a connection. Requests of HTTP/2 share it from its beginning.
func hasAnswered(conn httptrace.GotConnInfo) bool {
	if checked := checkedConnOf(conn.Conn); checked != nil {
		return checked.responded.Load()
	}
	return conn.Reused
}

// Write notes how the first message begins.
func (c *checkedConn) Write(b []byte) (int, error) {
	encrypted := isRecord(b)
	if c.begun.CompareAndSwap(false, true) && encrypted {
		c.unchecked.Store(true)
	}
	n, err := c.Conn.Write(b)
	if encrypted && endedByPeer(err) && c.broken.CompareAndSwap(false, true) {
		// With TLS 1.3, a service rejects a client after its first request, and ends the connection. To fail at once would close
		// it before the alert is read, which says why.
		<-time.After(lastWords)
	}
	return n, err
}

const lastWords = 250 * time.Millisecond

// endedByPeer reports whether a write failed because the connection has ended, but not on this side.
func endedByPeer(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && !failed.Timeout() && !errors.Is(err, net.ErrClosed)
}

// isRecord reports whether a message is one of TLS (RFC 8446, section 5.1).
func isRecord(b []byte) bool { return len(b) > 1 && b[0] >= 20 && b[0] <= 23 && b[1] == 3 }

// Read checks how the first response begins.
func (c *checkedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && c.unchecked.CompareAndSwap(false, true) {
		if protocol, found := protocols[string(b[:min(n, 2)])]; found {
			return 0, &ProtocolError{protocol}
		}
	}
	return n, err
}
