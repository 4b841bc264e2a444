package streams_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// No more than MaxConcurrent requests are under way at the same time, and each connection is used again.
func TestMaxConcurrent(t *testing.T) {
	t.Parallel()
	const limit, updates = 3, 12
	var mu sync.Mutex
	underWay, most := 0, 0
	count := func(by int) {
		mu.Lock()
		defer mu.Unlock()
		underWay += by
		most = max(most, underWay)
	}
	// A response needs limit requests at the same time: with fewer slots, the test would not end.
	together := respondTogether(limit, applyUpdate)
	s := startService(t, func(w http.ResponseWriter, r *http.Request) {
		count(1)
		defer count(-1) // before the server sends the response
		together(w, r)
	})
	c := newClient(t, streams.Config{BaseURL: s.URL, MaxConcurrent: limit})
	for _, err := range updateInParallel(t.Context(), c, updates) {
		if err != nil {
			t.Error(err)
		}
	}
	s.wantRequests(t, updates)
	if most != limit {
		t.Errorf("%d requests at the same time, want %d", most, limit)
	}
	if got := s.connections(); got != limit {
		t.Errorf("%d connections, want %d", got, limit)
	}
}

// An operation that waits before a retry does not keep others from sending.
func TestRetryWaitsHoldNoSlot(t *testing.T) {
	t.Parallel()
	refused := make(chan struct{})
	s := startService(t, func(w http.ResponseWriter, r *http.Request) {
		respondError(http.StatusServiceUnavailable, "later", "Retry-After", "3600")(w, r)
		close(refused)
	}, applyUpdate)
	c := newClient(t, streams.Config{BaseURL: s.URL, MaxConcurrent: 1})
	ctx, interrupt := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() {
		_, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet("p1"))
		waiting <- err
	}()
	<-refused
	if _, err := c.UpdateStream(t.Context(), "s2", streams.NewProcessorSet("p1")); err != nil {
		t.Error(err)
	}
	interrupt()
	if err := waitForEnd(t, waiting); err == nil {
		t.Error("no error")
	}
	s.wantRequests(t, 2)
}
