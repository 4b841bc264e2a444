package coretest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
)

// inMemoryListener serves connections of the same process. Unlike those of a socket, they let the clock of a bubble of
// synctest go on.
type inMemoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
	close  sync.Once
}

// serveInMemory starts a server. The caller must close it.
func serveInMemory(handler http.Handler) (*inMemoryListener, *httptest.Server) {
	l := &inMemoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler}}
	server.Start()
	return l, server
}

func (l *inMemoryListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
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

func (l *inMemoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *inMemoryListener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
}

func (l *inMemoryListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
