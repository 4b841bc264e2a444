package coretest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
)

// inMemoryServers are listeners by address. Unlike a socket, their connections let the clock of a bubble of synctest go on.
var (
	inMemoryServers     sync.Map
	inMemoryServerCount atomic.Uint32
)

func dialInMemory(ctx context.Context, _, address string) (net.Conn, error) {
	if l, ok := inMemoryServers.Load(address); ok {
		return l.(*inMemoryListener).dial(ctx)
	}
	return nil, fmt.Errorf("nothing listens on %s", address)
}

// serveInMemory returns a server whose URL only the provider reaches, in this process. The caller must close it.
func serveInMemory(handler http.Handler) *httptest.Server {
	n := inMemoryServerCount.Add(1)
	address := fmt.Sprintf("127.%d.%d.%d:80", 128|byte(n>>16), byte(n>>8), byte(n)) // a proxy of the environment does not apply to 127.*
	l := &inMemoryListener{address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
	inMemoryServers.Store(address, l)
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler}}
	server.Start()
	return server
}

type inMemoryListener struct {
	address string
	conns   chan net.Conn
	closed  chan struct{}
	close   sync.Once
}

func (l *inMemoryListener) dial(ctx context.Context) (net.Conn, error) {
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

// These methods implement [net.Listener] and [net.Addr].

func (l *inMemoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *inMemoryListener) Close() error {
	inMemoryServers.Delete(l.address)
	l.close.Do(func() { close(l.closed) })
	return nil
}

func (l *inMemoryListener) Addr() net.Addr  { return l }
func (l *inMemoryListener) Network() string { return "in memory" }
func (l *inMemoryListener) String() string  { return l.address }
