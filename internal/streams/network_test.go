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

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// virtual runs a test with a clock of its own, which goes on when all goroutines wait.
func virtual(t *testing.T, test func(*testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// listener is a listener in memory with an address of its own.
type listener struct {
	*streamstest.Listener
	addr *net.TCPAddr
}

// listeners has the listeners by address.
var (
	listeners     sync.Map
	listenerCount atomic.Uint32
)

func newListener() *listener {
	l := &listener{streamstest.Listen(), &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(listenerCount.Add(1))}}
	listeners.Store(l.addr.String(), l)
	return l
}

func (l *listener) Addr() net.Addr { return l.addr }

func (l *listener) Close() error {
	listeners.Delete(l.addr.String())
	return l.Listener.Close()
}

// dial connects to a listener. No other address can be reached.
func dial(ctx context.Context, _, address string) (net.Conn, error) {
	if l, ok := listeners.Load(address); ok {
		return l.(*listener).DialContext(ctx)
	}
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}
