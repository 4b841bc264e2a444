package streams_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// together answers once n requests are there, so that all of them are in flight at a time.
func respondTogether(n int, step http.HandlerFunc) http.HandlerFunc {
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
func updateInParallel(ctx context.Context, c *streams.Client, n int) []error {
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
		"success": applyUpdate, "refusal": respondError(404, "no"), "fault": respondError(503, "later"), "page": respond(409, "<h1>No</h1>"),
		"redirect": respondError(302, "moved", "Location", "/"), "nothing": respond(204, ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startService(t, step)
			c := newClient(t, streams.Config{BaseURL: s.URL})
			for range 5 {
				updateInParallel(t.Context(), c, 1)
			}
			if got := s.connections(); got != 1 {
				t.Errorf("one after the other: %d connections", got)
			}

			const parallel = 20 // Go's default would keep two of them
			s = startService(t, respondTogether(parallel, step))
			c = newClient(t, streams.Config{BaseURL: s.URL, Retry: streams.Retry{MaxAttempts: 1}})
			for range 4 {
				updateInParallel(t.Context(), c, parallel)
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
	s := startTLSService(t, nil, respondTogether(parallel, applyUpdate))
	c := newClient(t, streams.Config{BaseURL: s.URL, TLS: streams.TLS{CACertPEM: s.caPEM()}})
	for range 3 {
		if err := errors.Join(updateInParallel(t.Context(), c, parallel)...); err != nil {
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
	s := newScriptedService(t, respondTogether(parallel, applyUpdate))
	s.StartTLS()
	c := newClient(t, streams.Config{BaseURL: s.URL, TLS: streams.TLS{CACertPEM: s.caPEM()}})
	for range 3 {
		if err := errors.Join(updateInParallel(t.Context(), c, parallel)...); err != nil {
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
	s := startTLSService(t, nil, applyUpdate)
	for _, err := range updateInParallel(t.Context(), newClient(t, streams.Config{BaseURL: s.URL}), 20) {
		if e := asError(t, err); e.Attempts != 1 || e.Outcome != streams.NotChanged {
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
	c := newClient(t, streams.Config{BaseURL: "https://" + listener.Addr().String(), RequestTimeout: time.Hour})
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
		if e := asError(t, waitForEnd(t, done)); !errors.Is(e, context.Canceled) || e.Outcome != streams.NotChanged {
			t.Errorf("error %#v", e)
		}
		cancel()
	}

	impatient := newClient(t, streams.Config{BaseURL: "https://" + listener.Addr().String(), RequestTimeout: 20 * time.Millisecond,
		Retry: streams.Retry{MaxAttempts: 2}})
	for _, err := range updateInParallel(t.Context(), impatient, 5) {
		if e := asError(t, err); e.Kind != streams.KindTimeout || e.Attempts != 2 || e.Outcome != streams.NotChanged {
			t.Errorf("error %#v", e)
		}
	}
}

// A connection that the service closed while it was idle costs no attempt, or one, but no operation.
func TestIdleConnectionClosed(t *testing.T) {
	t.Parallel()
	s := startService(t, applyUpdate)
	c := newClient(t, streams.Config{BaseURL: s.URL})
	for range 5 {
		if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); err != nil {
			t.Error(err)
		}
		s.CloseClientConnections()
	}
}

// The same faults over HTTP/2, where a connection is shared and only a stream is reset.
func TestHTTP2Faults(t *testing.T) {
	t.Parallel()
	s := startTLSService(t, nil, resetConnection, respondTruncated(200), respondError(503, "later"), applyUpdate)
	if _, err := s.update(t, streams.Config{TLS: streams.TLS{CACertPEM: s.caPEM()}}); err != nil {
		t.Fatal(err)
	}
	s.wantRequests(t, 4)
	for _, r := range s.requests() {
		if r.Proto != "HTTP/2.0" || r.Body != `{"processor_ids":["p1"]}` {
			t.Errorf("request %+v", r)
		}
	}
	cut := startTLSService(t, nil, resetConnection)
	if e := cut.updateError(t, streams.Config{TLS: streams.TLS{CACertPEM: cut.caPEM()}}); e.Outcome != streams.Unknown || e.Attempts != 5 || e.Reason == "" {
		t.Errorf("error %#v", e)
	}
}
