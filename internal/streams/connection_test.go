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

// respondTogether responds when n requests have arrived, so that all of them are open at the same time.
func respondTogether(n int, response http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	waiting, batchArrived := 0, make(chan struct{})
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		arrived := batchArrived
		if waiting++; waiting == n {
			waiting, batchArrived = 0, make(chan struct{})
			close(arrived)
		}
		mu.Unlock()
		select {
		case <-arrived:
			response(w, r)
		case <-r.Context().Done():
		}
	}
}

// updateInParallel runs n updates at the same time and returns their errors.
func updateInParallel(ctx context.Context, c *streams.Client, n int) []error {
	errs := make([]error, n)
	var updates sync.WaitGroup
	for i := range n {
		updates.Go(func() { _, errs[i] = c.UpdateStream(ctx, fmt.Sprintf("s%d", i), streams.NewProcessorSet("p1")) })
	}
	updates.Wait()
	return errs
}

// Requests reuse connections, in sequence and in parallel, also after error responses.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]http.HandlerFunc{
		"success": applyUpdate, "refused": respondError(404, "no"), "unavailable": respondError(503, "later"), "HTML": respond(409, "<h1>No</h1>"),
		"redirect": respondError(302, "moved", "Location", "/"), "no content": respond(204, ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startService(t, response)
			c := newClient(t, streams.Config{BaseURL: s.URL})
			for range 5 {
				updateInParallel(t.Context(), c, 1)
			}
			if got := s.connections(); got != 1 {
				t.Errorf("in sequence: %d connections, want 1", got)
			}

			const parallel = 20 // Go's default would keep two idle connections
			s = startService(t, respondTogether(parallel, response))
			c = newClient(t, streams.Config{BaseURL: s.URL, Retry: streams.Retry{MaxAttempts: 1}})
			for range 4 {
				updateInParallel(t.Context(), c, parallel)
			}
			s.wantRequests(t, 4*parallel)
			// A connection may return to the pool just after its response, when the next round has begun. With Go's
			// default, there would be 74.
			if got := s.connections(); got < parallel || got > parallel*3/2 {
				t.Errorf("in parallel: %d connections, want %d, or a few more", got, parallel)
			}
		})
	}
}

// Over HTTP/2, all requests share one connection, the first ones included.
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
		t.Errorf("%d connections, want 1", got)
	}
}

// Without HTTP/2, requests only wait for the first connection, not for its response.
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
		t.Errorf("%d connections with %s, want %d", got, s.requests()[0].Proto, parallel)
	}
}

// If the first connection fails, the other operations do not wait any longer.
func TestFirstConnectionFails(t *testing.T) {
	t.Parallel()
	s := startTLSService(t, nil, applyUpdate)
	for _, err := range updateInParallel(t.Context(), newClient(t, streams.Config{BaseURL: s.URL}), 20) {
		if e := asError(t, err); e.Attempts != 1 || e.Outcome != streams.NotChanged {
			t.Errorf("error %#v", e)
		}
	}
	s.wantRequests(t, 0)
}

// An operation that waits for the first connection can be cancelled, and the wait counts towards its
// request timeout.
func TestFirstConnectionHangs(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and sends nothing
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- struct{}{}
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
	<-accepted

	secondCtx, cancelSecond := context.WithCancel(t.Context())
	second := make(chan error, 1)
	go func() {
		_, err := c.UpdateStream(secondCtx, "s2", streams.NewProcessorSet())
		second <- err
	}()
	cancelSecond()
	for _, done := range []<-chan error{second, first} {
		if e := asError(t, waitForEnd(t, done)); !errors.Is(e, context.Canceled) || e.Outcome != streams.NotChanged {
			t.Errorf("error %#v", e)
		}
		cancel()
	}

	withShortTimeout := newClient(t, streams.Config{BaseURL: "https://" + listener.Addr().String(), RequestTimeout: 20 * time.Millisecond,
		Retry: streams.Retry{MaxAttempts: 2}})
	attempts := 0
	for _, err := range updateInParallel(t.Context(), withShortTimeout, 5) {
		e := asError(t, err)
		if e.Kind != streams.KindTimeout || e.Attempts < 1 || e.Outcome != streams.NotChanged {
			t.Errorf("error %#v", e)
		}
		attempts = max(attempts, e.Attempts) // an operation that is late makes only one
	}
	if attempts != 2 {
		t.Errorf("%d attempts, want 2", attempts)
	}
}

// Updates succeed although the service closes idle connections.
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

// Over HTTP/2, a fault resets one stream of the shared connection. The attempt is retried as over HTTP/1.1.
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
	resetting := startTLSService(t, nil, resetConnection)
	if e := resetting.updateError(t, streams.Config{TLS: streams.TLS{CACertPEM: resetting.caPEM()}}); e.Outcome != streams.Unknown || e.Attempts != 5 || e.Reason == "" {
		t.Errorf("error %#v", e)
	}
}
