package streams_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// updateInParallel runs n updates at the same time.
func updateInParallel(t *testing.T, c *streams.Client, n int) {
	t.Helper()
	var updates sync.WaitGroup
	for i := range n {
		updates.Go(func() { _, _ = c.UpdateStream(t.Context(), fmt.Sprintf("s%d", i), streams.NewProcessorSet("p1")) })
	}
	updates.Wait()
}

// Requests reuse connections, in sequence and in parallel, also after error responses.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]http.HandlerFunc{
		"success": applyUpdate, "refused": respondError(404, "no"), "unavailable": respondError(503, "later"), "HTML": respond(409, "<h1>No</h1>"),
		"redirect": respondError(302, "moved", "Location", "/"), "no content": respond(204, ""),
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				const parallel = 20 // Go's default would keep two idle connections
				s := startService(t, respondAfter(time.Second, response))
				c := newClient(t, streams.Config{BaseURL: s.URL, Retry: streams.Retry{MaxAttempts: 1}})
				for range 4 {
					updateInParallel(t, c, parallel)
					<-time.After(time.Second) // until all connections are idle
				}
				s.wantRequests(t, 4*parallel)
				if got := s.connections(); got != parallel {
					t.Errorf("%d connections, want %d", got, parallel)
				}
			})
		})
	}
}

// Over HTTP/2, all requests share one connection, the first ones included. Without HTTP/2, requests only wait
// for the first connection, not for its response.
func TestConnectionsWithTLS(t *testing.T) {
	t.Parallel()
	for proto, want := range map[string]int{"HTTP/2.0": 1, "HTTP/1.1": 30} {
		t.Run(proto, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				s := newService(t, respondAfter(time.Second, applyUpdate))
				s.EnableHTTP2 = proto == "HTTP/2.0"
				s.StartTLS()
				c := newClient(t, streams.Config{BaseURL: s.URL, TLS: streams.TLS{CACertPEM: s.caPEM()}})
				start := time.Now()
				for range 3 {
					updateInParallel(t, c, 30)
				}
				s.wantRequests(t, 90)
				if took := time.Since(start); s.connections() != want || took != 3*time.Second || s.requests()[0].Proto != proto {
					t.Errorf("%d connections with %s, after %s", s.connections(), s.requests()[0].Proto, took)
				}
			})
		})
	}
}

// An operation that waits for the first connection can be cancelled, has not sent anything, and the wait counts
// towards its request timeout.
func TestFirstConnectionHangs(t *testing.T) {
	virtual(t, func(t *testing.T) {
		l := newListener() // accepts nothing
		t.Cleanup(func() { _ = l.Close() })
		c := newClient(t, streams.Config{BaseURL: "https://" + l.address, Retry: streams.Retry{MaxAttempts: 1}})
		start, first := time.Now(), make(chan error)
		go func() {
			_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
			first <- err
		}()
		synctest.Wait()
		_, took, err := interruptedUpdate(t, c, time.Second)
		if e := asError(t, err); e.Attempts != 0 || e.Outcome != streams.NotChanged || took != 0 || !errors.Is(e, context.Canceled) {
			t.Errorf("error %#v after %s", e, took)
		}
		if e := asError(t, <-first); e.Kind != streams.KindTimeout || e.Outcome != streams.NotChanged || time.Since(start) != streams.DefaultRequestTimeout {
			t.Errorf("error %#v after %s", e, time.Since(start))
		}
	})
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
