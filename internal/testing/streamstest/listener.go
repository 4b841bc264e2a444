package streamstest

import (
	"context"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// Listener accepts connections of the same process. Unlike those of a socket, they let the clock of a bubble of package
// testing/synctest go on.
type Listener struct {
	addr   *net.TCPAddr
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

// listeners has the open listeners by address.
var (
	listeners     sync.Map
	listenerCount atomic.Uint32
)

// Listen returns a new listener.
func Listen() *Listener {
	l := &Listener{
		addr:   &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(listenerCount.Add(1))},
		conns:  make(chan net.Conn),
		closed: make(chan struct{}),
	}
	l.close = sync.OnceFunc(func() {
		listeners.Delete(l.addr.String())
		close(l.closed)
	})
	listeners.Store(l.addr.String(), l)
	return l
}

// Dial connects to the listener with this address. No other address can be reached.
func Dial(ctx context.Context, _, address string) (net.Conn, error) {
	found, _ := listeners.Load(address)
	if l, ok := found.(*Listener); ok {
		return l.DialContext(ctx)
	}
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
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

// Close makes Accept, Dial and DialContext fail.
func (l *Listener) Close() error {
	l.close()
	return nil
}

// Addr returns an address of this machine that no other listener of the process has.
func (l *Listener) Addr() net.Addr { return l.addr }
