package streams_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// together answers once n requests are there, so that all of them are in flight at a time.
func together(n int, step http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	waiting, gate := 0, make(chan struct{})
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		mine := gate
		if waiting++; waiting == n {
			waiting, gate = 0, make(chan struct{})
			close(mine)
		}
		mu.Unlock()
		select {
		case <-mine:
			step(w, r)
		case <-r.Context().Done():
		}
	}
}

// updates runs n updates at a time.
func updates(ctx context.Context, c *streams.Client, n int) []error {
	failures := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { _, failures[i] = c.UpdateStream(ctx, fmt.Sprintf("s%d", i), streams.NewProcessorSet("p1")) })
	}
	all.Wait()
	return failures
}

// Connections are reused one after the other and in parallel, also when the answers are errors.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]http.HandlerFunc{
		"success": accept, "refusal": refuse(404, "no"), "fault": refuse(503, "later"), "page": answer(409, "<h1>No</h1>"),
		"redirect": refuse(302, "moved", "Location", "/"), "nothing": answer(204, ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, step)
			c := connect(t, streams.Config{BaseURL: s.URL})
			for range 5 {
				updates(t.Context(), c, 1)
			}
			if got := s.connections(); got != 1 {
				t.Errorf("one after the other: %d connections", got)
			}

			const parallel = 20 // Go's default would keep two of them
			s = serve(t, together(parallel, step))
			c = connect(t, streams.Config{BaseURL: s.URL, Retry: streams.Retry{MaxAttempts: 1}})
			for range 4 {
				updates(t.Context(), c, parallel)
			}
			s.wantRequests(t, 4*parallel)
			if got := s.connections(); got != parallel {
				t.Errorf("%d at a time: %d connections", parallel, got)
			}
		})
	}
}

// Over HTTP/2 all share one connection, from the first moment on.
func TestOneHTTP2Connection(t *testing.T) {
	t.Parallel()
	const parallel = 30
	s := serveTLS(t, nil, together(parallel, accept))
	c := connect(t, streams.Config{BaseURL: s.URL, TLS: streams.TLS{CACertPEM: s.caPEM()}})
	for range 3 {
		if err := errors.Join(updates(t.Context(), c, parallel)...); err != nil {
			t.Fatal(err)
		}
	}
	s.wantRequests(t, 3*parallel)
	if got := s.connections(); got != 1 {
		t.Errorf("%d connections", got)
	}
}

// Without HTTP/2 nobody waits for another's answer: all are in flight at a time.
func TestTLSWithoutHTTP2(t *testing.T) {
	t.Parallel()
	const parallel = 10
	s := newService(t, together(parallel, accept))
	s.StartTLS()
	c := connect(t, streams.Config{BaseURL: s.URL, TLS: streams.TLS{CACertPEM: s.caPEM()}})
	for range 3 {
		if err := errors.Join(updates(t.Context(), c, parallel)...); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.connections(); got != parallel || s.requests()[0].Proto != "HTTP/1.1" {
		t.Errorf("%d connections, %s", got, s.requests()[0].Proto)
	}
}

// A first connection that cannot be made is a failure of each operation, and holds none of them up.
func TestFirstDialFails(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, nil, accept)
	for _, err := range updates(t.Context(), connect(t, streams.Config{BaseURL: s.URL}), 20) {
		if e := failure(t, err); e.Attempts != 1 || e.Outcome != streams.NotChanged {
			t.Errorf("error %#v", e)
		}
	}
	s.wantRequests(t, 0)
}

// Who waits for the first connection can leave, and has its own time limit for an attempt.
func TestFirstDialHangs(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, says nothing
	if err != nil {
		t.Fatal(err)
	}
	dialled := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			dialled <- struct{}{}
			go func() {
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			}()
		}
	}()
	t.Cleanup(func() { _ = listener.Close() })
	c := connect(t, streams.Config{BaseURL: "https://" + listener.Addr().String(), RequestTimeout: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := make(chan error, 1)
	go func() {
		_, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet())
		first <- err
	}()
	<-dialled

	leaving, leave := context.WithCancel(t.Context())
	second := make(chan error, 1)
	go func() {
		_, err := c.UpdateStream(leaving, "s2", streams.NewProcessorSet())
		second <- err
	}()
	leave()
	for _, done := range []<-chan error{second, first} {
		if e := failure(t, ended(t, done)); !errors.Is(e, context.Canceled) || e.Outcome != streams.NotChanged {
			t.Errorf("error %#v", e)
		}
		cancel()
	}

	impatient := connect(t, streams.Config{BaseURL: "https://" + listener.Addr().String(), RequestTimeout: 20 * time.Millisecond,
		Retry: streams.Retry{MaxAttempts: 2}})
	for _, err := range updates(t.Context(), impatient, 5) {
		if e := failure(t, err); e.Kind != streams.KindTimeout || e.Attempts != 2 || e.Outcome != streams.NotChanged {
			t.Errorf("error %#v", e)
		}
	}
}

// A connection that the service closed while it was idle costs no attempt, or one, but no operation.
func TestIdleConnectionClosed(t *testing.T) {
	t.Parallel()
	s := serve(t, accept)
	c := connect(t, streams.Config{BaseURL: s.URL})
	for range 5 {
		if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
			t.Error(err)
		}
		s.CloseClientConnections()
	}
}

// The round trip over loopback; the allocations are those of client and server together.
func BenchmarkUpdateStream(b *testing.B) {
	const id = "7d444840-9dc0-11d1-b245-5ffdce74fad2"
	ids := []string{"f47ac10b-58cc-4372-a567-0e02b2c3d479", "9b2d1c1e-3b1a-4f0e-8c47-2f6a0a9d7b11", "0d9c6f3e-6b1f-4a47-b0a9-5f2a3c1d8e77"}
	reply := answer(http.StatusOK, streamJSON(id, []string{ids[2], ids[1], ids[0]}))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		reply(w, r)
	}))
	b.Cleanup(server.Close)
	c, err := streams.New(streams.Config{BaseURL: server.URL, Token: "t0ken", UserAgent: "terraform-provider-stream/1.2.3"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.UpdateStream(b.Context(), id, streams.NewProcessorSet(ids...)); err != nil {
			b.Fatal(err)
		}
	}
}
