package streams_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// The request timeout covers the body of the response.
func TestRequestTimeout(t *testing.T) {
	t.Parallel()
	sendHeaderOnly := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	for name, response := range map[string]http.HandlerFunc{"no response": neverRespond, "no body": sendHeaderOnly} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startService(t, response)
			e := s.updateError(t, streams.Config{RequestTimeout: 20 * time.Millisecond, Retry: streams.Retry{MaxAttempts: 2}})
			if e.Kind != streams.KindTimeout || e.Status != 0 || e.Attempts != 2 || e.Reason != "the service did not respond within 20ms" ||
				!errors.Is(e, streams.ErrRequestTimeout) {
				t.Errorf("error %#v", e)
			}
		})
	}
}

// A cancellation ends an operation that waits for a response.
func TestCancel(t *testing.T) {
	t.Parallel()
	sendHeaderOnly := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	for name, response := range map[string]http.HandlerFunc{"no response": neverRespond, "no body": sendHeaderOnly} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived := make(chan struct{}, 1)
			s := startService(t, func(w http.ResponseWriter, r *http.Request) {
				arrived <- struct{}{}
				response(w, r)
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := newClient(t, streams.Config{BaseURL: s.URL, RequestTimeout: time.Hour})
			done := make(chan error, 1)
			go func() {
				_, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet())
				done <- err
			}()
			<-arrived
			cancel()
			e := asError(t, waitForEnd(t, done))
			if e.Kind != streams.KindInterrupted || e.Outcome != streams.Unknown || e.Attempts != 1 || !errors.Is(e, context.Canceled) ||
				e.Reason != "the operation was interrupted" {
				t.Errorf("error %#v", e)
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	s := startService(t, neverRespond)
	_, err := newClient(t, streams.Config{BaseURL: s.URL, RequestTimeout: time.Hour}).UpdateStream(ctx, "s1", streams.NewProcessorSet())
	e := asError(t, err)
	if e.Kind != streams.KindTimeout || !errors.Is(e, context.DeadlineExceeded) || e.Reason != "the operation did not finish within its time limit" {
		t.Errorf("error %#v", e)
	}
}

func TestCancelBeforeStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := startService(t, applyUpdate)
	_, err := newClient(t, streams.Config{BaseURL: s.URL}).UpdateStream(ctx, "s1", streams.NewProcessorSet())
	if e := asError(t, err); e.Outcome != streams.NotChanged || e.Reason != "the operation was interrupted" {
		t.Errorf("error %#v", e)
	}
	s.wantRequests(t, 0)
}
