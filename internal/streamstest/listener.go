package streamstest

import (
	"context"
	"net"
	"sync"
)

// Listener accepts connections of the same process. Unlike those of a socket, they let the clock of a bubble of package
// testing/synctest go on.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

// Listen returns a new listener.
func Listen() *Listener {
	closed := make(chan struct{})
	return &Listener{conns: make(chan net.Conn), closed: closed, close: sync.OnceFunc(func() { close(closed) })}
}

// DialContext connects to the listener.
func (l *Listener) DialContext(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept returns the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close makes Accept and DialContext fail.
func (l *Listener) Close() error {
	l.close()
	return nil
}

// Addr returns an address of this machine. All listeners have the same.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
