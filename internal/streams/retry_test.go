package streams_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Two failures that may pass, then success: exactly three requests, and the stream is as asked.
func TestPassingFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]streamstest.Fault{
		"408":          {Status: 408},
		"429":          {Status: 429},
		"500":          {Status: 500},
		"502":          {Status: 502},
		"503":          {Status: 503},
		"504":          {Status: 504},
		"500 applied":  {Status: 500, Apply: true},
		"reset before": {ResetBefore: true},
		"reset after":  {ResetAfter: true},
		"cut body":     {Truncate: true},
		"cut 400":      {Status: 400, Truncate: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "s1", ProcessorIDs: []string{"old"}})
			service.Inject(fault, fault)
			s := serve(t, service.ServeHTTP)
			stream, err := s.update(t, streams.Config{})
			if err != nil || stream.ProcessorIDs.Len() != 1 {
				t.Errorf("%v, %v", stream, err)
			}
			s.wantRequests(t, 3)
			if held, _ := service.Stream("s1"); len(held.ProcessorIDs) != 1 || held.ProcessorIDs[0] != "p1" {
				t.Errorf("the service holds %q", held.ProcessorIDs)
			}
		})
	}
}

func TestConnectionFaults(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]http.HandlerFunc{"reset": reset, "cut body": truncated(200), "cut refusal": truncated(404)} {
		s := serve(t, step)
		e := s.fail(t, streams.Config{})
		if e.Kind != streams.KindGeneric || e.Status != 0 || e.Attempts != 5 || e.Outcome != streams.Unknown || e.Reason == "" || e.Err == nil {
			t.Errorf("%s: %#v", name, e)
		}
		if name != "reset" {
			wantText(t, e.Reason, "the response is incomplete: unexpected EOF")
		}
		s.wantRequests(t, 5)
	}
}

// Not parallel: no other test's server may get the port that this one gives back.
func TestConnectionRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	_, err = connect(t, streams.Config{BaseURL: "http://" + address}).UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
	e := failure(t, err)
	if e.Kind != streams.KindGeneric || e.Status != 0 || e.Attempts != 5 || e.Outcome != streams.NotChanged || e.Message != "" {
		t.Errorf("error %#v", e)
	}
	wantText(t, e.Reason, "dial tcp "+address, "refused")
	if strings.Contains(e.Reason, "/v2/") {
		t.Errorf("the reason %q repeats the URL", e.Reason)
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]int{1: 1, 2: 2, 12: 12, 0: 1} {
		s := serve(t, refuse(503, "later"))
		retry := quick
		retry.MaxAttempts = attempts
		if e := s.fail(t, streams.Config{Retry: retry}); e.Attempts != want || e.Message != "later" {
			t.Errorf("%d attempts at most: %#v", attempts, e)
		}
		s.wantRequests(t, want)
	}
}

// A service that answers half of the request only must not hold the client for ever.
func TestRequestTimeout(t *testing.T) {
	t.Parallel()
	stalls := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	for name, step := range map[string]http.HandlerFunc{"no answer": hang, "no body": stalls} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, step)
			e := s.fail(t, streams.Config{RequestTimeout: 20 * time.Millisecond, Retry: streams.Retry{MaxAttempts: 2}})
			if e.Kind != streams.KindTimeout || e.Status != 0 || e.Attempts != 2 || e.Reason != "the service did not respond within 20ms" ||
				!errors.Is(e, streams.ErrRequestTimeout) {
				t.Errorf("error %#v", e)
			}
		})
	}
}

// A hanging operation ends with its context.
func TestCancel(t *testing.T) {
	t.Parallel()
	stalls := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	for name, step := range map[string]http.HandlerFunc{"no answer": hang, "no body": stalls} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived := make(chan struct{}, 1)
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				arrived <- struct{}{}
				step(w, r)
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := connect(t, streams.Config{BaseURL: s.URL, RequestTimeout: time.Hour})
			done := make(chan error, 1)
			go func() {
				_, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet())
				done <- err
			}()
			<-arrived
			cancel()
			e := failure(t, ended(t, done))
			if e.Kind != streams.KindGeneric || e.Outcome != streams.Unknown || e.Attempts != 1 || !errors.Is(e, context.Canceled) ||
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
	s := serve(t, hang)
	_, err := connect(t, streams.Config{BaseURL: s.URL, RequestTimeout: time.Hour}).UpdateStream(ctx, "s1", streams.NewProcessorSet())
	e := failure(t, err)
	if e.Kind != streams.KindTimeout || !errors.Is(e, context.DeadlineExceeded) || e.Reason != "the operation did not finish within its time limit" {
		t.Errorf("error %#v", e)
	}
}

func TestOverBeforeItBegins(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := serve(t, accept)
	_, err := connect(t, streams.Config{BaseURL: s.URL}).UpdateStream(ctx, "s1", streams.NewProcessorSet())
	if e := failure(t, err); e.Outcome != streams.NotChanged || e.Reason != "the operation was interrupted" {
		t.Errorf("error %#v", e)
	}
	s.wantRequests(t, 0)
}

// Each attempt is told once, with what came of it.
func TestObserve(t *testing.T) {
	t.Parallel()
	s := serve(t, refuse(503, "later"), reset, accept)
	type told struct {
		number, status int
		failed         bool
		request, body  string
	}
	var got []told
	key := struct{ name string }{"key"}
	ctx := context.WithValue(t.Context(), key, "value")
	c := connect(t, streams.Config{BaseURL: s.URL, Observe: func(ctx context.Context, a streams.Attempt) {
		if ctx.Value(key) != "value" || ctx.Err() != nil {
			t.Error("told with another context than the operation's")
		}
		if a.Method != "PATCH" || a.URL != s.URL+"/v2/streams/s1" || a.Duration <= 0 {
			t.Errorf("attempt %+v", a)
		}
		got = append(got, told{a.Number, a.Status, a.Err != "", a.RequestBody, a.ResponseBody})
	}})
	if _, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet("p1")); err != nil {
		t.Fatal(err)
	}
	const sent = `{"processor_ids":["p1"]}`
	for i, want := range []told{
		{1, 503, false, sent, `{"message":"later"}`},
		{2, 0, true, sent, ""},
		{3, 200, false, sent, streamJSON("s1", []string{"p1"})},
	} {
		if i >= len(got) || got[i] != want {
			t.Errorf("attempt %d is told as %+v, want %+v", i+1, got, want)
		}
	}
}
