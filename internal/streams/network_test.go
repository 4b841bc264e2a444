package streams_test

import (
	"context"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
)

// virtual runs a test with a clock of its own, which goes on when all goroutines wait.
func virtual(t *testing.T, test func(*testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// listeners are in-memory listeners by address. Unlike a socket, their connections let a virtual clock go on.
var (
	listeners     sync.Map
	listenerCount atomic.Uint32
)

// dial connects to a listener. No other address can be reached.
func dial(ctx context.Context, _, address string) (net.Conn, error) {
	l, ok := listeners.Load(address)
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	client, server := net.Pipe()
	select {
	case l.(*listener).conns <- server:
		return client, nil
	case <-l.(*listener).closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// listener is a [net.Listener].
type listener struct {
	addr   *net.TCPAddr
	conns  chan net.Conn
	close  func()
	closed chan struct{}
}

func newListener() *listener {
	l := &listener{
		addr:  &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(listenerCount.Add(1))},
		conns: make(chan net.Conn), closed: make(chan struct{}),
	}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	listeners.Store(l.addr.String(), l)
	return l
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	listeners.Delete(l.addr.String())
	l.close()
	return nil
}

func (l *listener) Addr() net.Addr { return l.addr }
