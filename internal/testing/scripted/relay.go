package scripted

import (
	"context"
	"net"
	"sync"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// Relay makes connections that can die without a word, as at a router that has forgotten them.
type Relay struct {
	mu    sync.Mutex
	conns []*relayedConn
}

type relayedConn struct {
	net.Conn
	dead, closed chan struct{}
	die, end     func()
}

// Dial connects to a listener in memory.
func (r *Relay) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := streamstest.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &relayedConn{Conn: conn, dead: make(chan struct{}), closed: make(chan struct{})}
	c.die, c.end = sync.OnceFunc(func() { close(c.dead) }), sync.OnceFunc(func() { close(c.closed) })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, c)
	return c, nil
}

// Freeze lets all connections die, and returns how many there have been. New ones work.
func (r *Relay) Freeze() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		c.die()
	}
	return len(r.conns)
}

func (c *relayedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case <-c.dead:
		<-c.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (c *relayedConn) Write(b []byte) (int, error) {
	select {
	case <-c.dead:
		return len(b), nil
	default:
		return c.Conn.Write(b)
	}
}

func (c *relayedConn) Close() error {
	c.end()
	return c.Conn.Close()
}
