package streams_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Requests reuse connections, in sequence and in parallel, also after error responses.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]http.HandlerFunc{
		"success": applyUpdate, "refused": respondError(404, "no"), "unavailable": respondError(503, "later"), "HTML": respond(409, "<h1>No</h1>"),
		"redirect": respondError(302, "moved", "Location", "/"), "no content": respond(204, ""),
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				const parallel = 10 // as in updateAll; Go's default would keep two idle connections
				s := startService(t, respondAfter(time.Second, response))
				c := newClient(t, streams.Config{BaseURL: s.URL, Retry: streams.Retry{MaxAttempts: 1}})
				for range 4 {
					updateAll(t, c, parallel)
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
