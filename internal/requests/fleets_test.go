package requests_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
)

// groupLimit is the default time limit of a group.
const groupLimit = 30 * time.Minute

// fleet is a group of streams, and the service that it is updated at.
type fleet struct {
	*Service
	client *streams.Client
	start  time.Time

	mu   sync.Mutex
	done map[int]time.Duration // when a stream was taken last
}

// newFleet returns a fleet. respond gets the number of the stream, and when it came; nil takes the stream.
func newFleet(t *testing.T, cfg requests.Config, respond func(stream int, at time.Duration) http.HandlerFunc) *fleet {
	t.Helper()
	f := &fleet{start: time.Now(), done: map[int]time.Duration{}}
	f.Service = StartService(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscanf(r.URL.Path, "/v2/streams/s%d", &n)
		if response := respond(n, time.Since(f.start)); response != nil {
			response(w, r)
			return
		}
		RespondAfter(20*time.Millisecond, ApplyUpdate)(w, r)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.done[n] = time.Since(f.start)
	})
	cfg.BaseURL, cfg.Retry = f.URL, requests.DefaultRetry
	f.client = NewClient(t, cfg)
	return f
}

// Streams that the service never takes keep no other stream of their group waiting.
func TestStreamsOfAGroupDoNotWait(t *testing.T) {
	t.Parallel()
	const count = 300
	for name, test := range map[string]struct {
		fail   http.HandlerFunc
		within map[int]time.Duration // if each of so many streams fails
	}{
		"503":              {RespondError(503, "no"), map[int]time.Duration{10: 30 * time.Second, 4: 30 * time.Second, 2: time.Minute}},
		"503, Retry-After": {RespondError(503, "no", "Retry-After", "60"), map[int]time.Duration{10: 30 * time.Second, 4: 30 * time.Second}},
		"409":              {RespondError(409, "no"), map[int]time.Duration{10: 30 * time.Second, 4: 30 * time.Second, 2: time.Minute}},
		"500":              {RespondError(500, "no"), map[int]time.Duration{10: 30 * time.Second, 4: 30 * time.Second, 2: time.Minute}},
		"504":              {RespondError(504, "no"), map[int]time.Duration{10: 30 * time.Second, 4: 30 * time.Second, 2: time.Minute}},
		"504 after 30 s":   {RespondAfter(30*time.Second-1, RespondError(504, "no")), map[int]time.Duration{10: 5 * time.Minute, 4: 5 * time.Minute, 2: groupLimit}},
		"silence":          {NeverRespond, map[int]time.Duration{10: 5 * time.Minute, 4: 5 * time.Minute, 2: groupLimit}},
	} {
		for every, within := range test.within {
			for _, slots := range []int{Singles, Group} {
				RunVirtual(t, fmt.Sprintf("%s/each of %d/%d", name, every, slots), func(t *testing.T) {
					f := newFleet(t, requests.Config{Token: "t0ken", MaxConcurrent: slots}, func(stream int, _ time.Duration) http.HandlerFunc {
						if stream%every == 0 {
							return test.fail
						}
						return nil
					})
					errs := UpdateGroup(t, f.client, count, groupLimit)
					last := time.Duration(0)
					for n, err := range errs {
						if (err != nil) != (n%every == 0) {
							t.Errorf("stream %d: %v", n, err)
						}
						last = max(last, f.done[n])
					}
					if t.Logf("healthy ones after %s, all after %s, %d requests", last, time.Since(f.start), len(f.Requests())); last > within {
						t.Errorf("healthy streams were set after %s, want %s", last, within)
					}
				})
			}
		}
	}
}

// A service that takes few requests at a time, or in a time, fails none, and gets no storm of retries: as many requests as if ten streams
// were under way or waiting, times four, or times three if it says how long to wait.
func TestNoStormOfRetries(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		count   int
		respond func() http.HandlerFunc
		most    int // requests
	}{
		"one at a time":  {300, func() http.HandlerFunc { return sessions(1, 409, 100*time.Millisecond) }, 4 * 395},
		"two at a time":  {300, func() http.HandlerFunc { return sessions(2, 503, 300*time.Millisecond) }, 4 * 411},
		"10 per second":  {2000, func() http.HandlerFunc { return window(10, time.Second) }, 3 * 3763},
		"100 per minute": {2000, func() http.HandlerFunc { return window(100, time.Minute) }, 3 * 2190},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			s := StartService(t, test.respond())
			c := NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.DefaultRetry})
			if err := errors.Join(UpdateGroup(t, c, test.count, groupLimit)...); err != nil {
				t.Errorf("%.300v", err)
			}
			if t.Logf("%d requests", len(s.Requests())); len(s.Requests()) > test.most {
				t.Errorf("%d requests", len(s.Requests()))
			}
		})
	}
}

// sessions takes a number of requests at a time.
func sessions(count, status int, latency time.Duration) http.HandlerFunc {
	free := make(chan struct{}, count)
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case free <- struct{}{}:
			RespondAfter(latency, ApplyUpdate)(w, r)
			<-free
		default:
			RespondError(status, "busy")(w, r)
		}
	}
}

// window takes a number of requests in each period, and says when the next one begins.
func window(count int, period time.Duration) http.HandlerFunc {
	var mu sync.Mutex
	taken, end := 0, time.Now()
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if now := time.Now(); !now.Before(end) {
			taken, end = 0, now.Add(period)
		}
		taken++
		full, left := taken > count, time.Until(end)
		mu.Unlock()
		if full {
			RespondError(429, "slow down", "Retry-After", fmt.Sprint(int(left.Seconds())+1))(w, r)
			return
		}
		RespondAfter(20*time.Millisecond, ApplyUpdate)(w, r)
	}
}
