package requests

import (
	"context"
	"net"
	"sync/atomic"
)

// ProtocolError is the error of a plain connection to a port that speaks another protocol. It has not read the request.
type ProtocolError struct{ protocol string }

// Error names the protocol.
func (e *ProtocolError) Error() string { return "the port speaks " + e.protocol + ", not HTTP/1.1" }

// protocols has how an answer in another protocol begins.
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

// checkedConn checks the first answer, unless the client speaks TLS itself.
type checkedConn struct {
	net.Conn
	begun, unchecked atomic.Bool
}

// Write notes how the first message begins.
func (c *checkedConn) Write(b []byte) (int, error) {
	const handshake = 22 // RFC 8446, section 5.1
	if c.begun.CompareAndSwap(false, true) && len(b) > 0 && b[0] == handshake {
		c.unchecked.Store(true)
	}
	return c.Conn.Write(b)
}

// Read checks the first answer.
func (c *checkedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && c.unchecked.CompareAndSwap(false, true) {
		if protocol, found := protocols[string(b[:min(n, 2)])]; found {
			return 0, &ProtocolError{protocol}
		}
	}
	return n, err
}
