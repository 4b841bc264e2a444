package streams_test

import (
	"context"
	"fmt"
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

type listener struct {
	address string
	conns   chan net.Conn
	close   func()
	closed  chan struct{}
}

func newListener() *listener {
	n := listenerCount.Add(1)
	l := &listener{address: fmt.Sprintf("127.0.0.1:%d", n), conns: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	listeners.Store(l.address, l)
	return l
}

// These methods implement [net.Listener] and [net.Addr].

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	listeners.Delete(l.address)
	l.close()
	return nil
}

func (l *listener) Addr() net.Addr  { return l }
func (l *listener) Network() string { return "in memory" }
func (l *listener) String() string  { return l.address }
