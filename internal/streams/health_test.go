package streams_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A stream that always fails, or two of them, do not fail the streams of a service that is slow, but works.
func TestBrokenStreamFailsAlone(t *testing.T) {
	t.Parallel()
	const latency = 3 * time.Second
	down := respondError(503, "broken")
	for name, broken := range map[string][]http.HandlerFunc{
		"503": {down}, "reset": {resetConnection}, "429": {respondError(429, "broken")}, "no response": {neverRespond},
		"503, no response": {down, neverRespond}, "no response, 503": {neverRespond, down},
		"503 twice": {down, down}, "many": {down, resetConnection, down, neverRespond, down},
	} {
		for _, parallel := range []int{1, singles, group} {
			for _, known := range []bool{false, true} { // whether the service has accepted the credential before
				runVirtual(t, fmt.Sprint(name, "/", parallel, "/", known), func(t *testing.T) {
					s := startService(t, func(w http.ResponseWriter, r *http.Request) {
						var n int
						if _, err := fmt.Sscanf(r.URL.Path, "/v2/streams/broken%d", &n); err == nil {
							broken[n](w, r)
							return
						}
						respondAfter(latency, applyUpdate)(w, r)
					})
					c := newClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.DefaultRetry})
					if known {
						mustUpdateAll(t, c, 1)
					}
					for n := range broken {
						if _, err := c.UpdateStream(t.Context(), fmt.Sprint("broken", n), streams.NewProcessorSet()); err == nil {
							t.Error("the broken stream succeeds")
						}
					}
					if err := errors.Join(updateParallel(t, c, 100, parallel, 5*time.Minute)...); err != nil {
						t.Errorf("%.300v", err)
					}
				})
			}
		}
	}
}

// When nothing answers, attempts are short. Any answer ends that.
func TestMuteServiceAnswers(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"503": respondError(503, "later"), "429": respondError(429, "slow down"), "reset": resetConnection,
		"401": respondError(401, "not you"), "409": respondError(409, "not now"), "400": respondError(400, "no"), "200": applyUpdate,
	} {
		runVirtual(t, name, func(t *testing.T) {
			s := startService(t, neverRespond, neverRespond, neverRespond, answer, respondAfter(3*time.Second, applyUpdate))
			c := newClient(t, requests.Config{BaseURL: s.URL, Retry: requests.Retry{MaxAttempts: 1}})
			for _, want := range []time.Duration{30 * time.Second, 30 * time.Second, 1500 * time.Millisecond, 0} {
				start := time.Now()
				if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); time.Since(start) != want {
					t.Errorf("%s: %v", time.Since(start), err)
				}
			}
			mustUpdateAll(t, c, 1)
		})
	}
}

// Streams that fail at once do not keep the others from being sent with an untested credential.
func TestFailuresPassOnTheirTurns(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]http.HandlerFunc{"503": respondError(503, "broken"), "reset": resetConnection, "409": respondError(409, "not now")} {
		runVirtual(t, name, func(t *testing.T) {
			s := startService(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/broken") {
					fail(w, r)
					return
				}
				respondAfter(time.Second, applyUpdate)(w, r)
			})
			c := newClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.DefaultRetry})
			var broken sync.WaitGroup
			for range 5 {
				broken.Go(func() { _, _ = c.UpdateStream(t.Context(), "broken", streams.NewProcessorSet()) })
			}
			synctest.Wait()
			start := time.Now()
			mustUpdateAll(t, c, 10)
			if took := time.Since(start); took > 4*time.Second {
				t.Errorf("ten streams took %s", took)
			}
			broken.Wait()
		})
	}
}

// With a short request timeout, a stream that hangs fails none that take their time.
func TestHangingStream(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{1, singles, group} {
		runVirtual(t, fmt.Sprint(parallel), func(t *testing.T) {
			s := startService(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/hangs") {
					neverRespond(w, r)
					return
				}
				respondAfter(3*time.Second, applyUpdate)(w, r)
			})
			c := newClient(t, requests.Config{BaseURL: s.URL, Retry: requests.DefaultRetry, RequestTimeout: 5 * time.Second})
			if _, err := c.UpdateStream(t.Context(), "hangs", streams.NewProcessorSet()); err == nil {
				t.Error("the hanging stream succeeds")
			}
			if err := errors.Join(updateParallel(t, c, 10, parallel, 5*time.Minute)...); err != nil {
				t.Errorf("%.300v", err)
			}
		})
	}
}

// A time limit fails only its own operation.
func TestTimeLimitFailsAlone(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]http.HandlerFunc{"503": respondError(503, "later"), "reset": resetConnection, "429": respondError(429, "later")} {
		for _, parallel := range []int{singles, group} {
			runVirtual(t, fmt.Sprint(name, parallel), func(t *testing.T) {
				start := time.Now()
				s := startService(t, func(w http.ResponseWriter, r *http.Request) {
					if time.Since(start) < 10*time.Second {
						fail(w, r)
						return
					}
					applyUpdate(w, r)
				})
				c := newClient(t, requests.Config{BaseURL: s.URL, Retry: requests.DefaultRetry})
				go updateParallel(t, c, parallel/10, parallel/10, 3*time.Second)
				if err := errors.Join(updateParallel(t, c, parallel, parallel, 5*time.Minute)...); err != nil {
					t.Errorf("%.300v", err)
				}
			})
		}
	}
}

// A service that fails in a rhythm fails few streams, and a stream that always fails does not last longer than in an outage.
func TestFlappingService(t *testing.T) {
	t.Parallel()
	const phase, latency, count = 3 * time.Second, 300 * time.Millisecond, 300
	up, down := respondAfter(latency, applyUpdate), respondError(503, "down")
	for name, fail := range map[string]http.HandlerFunc{
		"503": down, "503, slowly": respondAfter(latency, down), "reset": resetConnection,
	} {
		for _, downFirst := range []time.Duration{0, phase} {
			runVirtual(t, fmt.Sprint(name, downFirst), func(t *testing.T) {
				start := time.Now()
				s := startService(t, func(w http.ResponseWriter, r *http.Request) {
					if (time.Since(start)+downFirst)/phase%2 == 1 || strings.HasSuffix(r.URL.Path, "/s99") {
						fail(w, r)
						return
					}
					up(w, r)
				})
				errs := updateAll(t, newClient(t, requests.Config{BaseURL: s.URL, Retry: requests.DefaultRetry}), count)
				failed := 0
				for _, err := range errs {
					if err != nil {
						failed++
					}
				}
				if took := time.Since(start); failed < 1 || failed > 7 || took > 150*time.Second {
					t.Errorf("%d of %d streams failed in %s", failed, count, took)
				}
			})
		}
	}
}

// limit lets so many requests through in a second.
func limit(perSecond float64, response http.HandlerFunc, header ...string) http.HandlerFunc {
	var mu sync.Mutex
	next := time.Now()
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		early := time.Now().Before(next)
		if !early {
			next = time.Now().Add(time.Duration(float64(time.Second) / perSecond))
		}
		mu.Unlock()
		if early {
			respondError(429, "slow down", header...)(w, r)
			return
		}
		response(w, r)
	}
}

// While the service accepts other requests, 429 uses up no attempt, unless the user counts them. The log has them all.
func TestRateLimitOfTheService(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		count, parallel, attempts int
		header                    []string
		fails                     bool
	}{
		"group":             {50, group, 0, nil, false},
		"large group":       {300, group, 0, nil, false},
		"singles":           {100, singles, 0, nil, false},
		"Retry-After":       {50, group, 0, []string{"Retry-After", "1"}, false},
		"the user's choice": {50, group, 6, nil, true},
	} {
		runVirtual(t, name, func(t *testing.T) {
			s := startService(t, limit(2, applyUpdate, test.header...))
			retry := requests.DefaultRetry
			retry.MaxAttempts = test.attempts
			var mu sync.Mutex
			logged := 0
			cfg := requests.Config{BaseURL: s.URL, Retry: retry, Observe: func(context.Context, requests.Attempt) {
				mu.Lock()
				defer mu.Unlock()
				logged++
			}}
			errs := updateParallel(t, newClient(t, cfg), test.count, test.parallel, 5*time.Minute)
			if err := errors.Join(errs...); (err != nil) != test.fails || logged != len(s.requests()) {
				t.Errorf("%d of %d attempts in the log: %.300v", logged, len(s.requests()), err)
			}
			for _, err := range errs {
				if e := (*streams.Error)(nil); errors.As(err, &e) && e.Attempts != test.attempts {
					t.Errorf("%d attempts", e.Attempts)
				}
			}
		})
	}
}

// While nothing responds, operations that wait for their turn with a credential fail like the others, and say why.
func TestSilentServiceEndsWaits(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := startService(t, neverRespond)
		errs := updateAll(t, newClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.DefaultRetry}), 100)
		unsent := 0
		for _, err := range errs {
			if e := asError(t, err); e.Attempts == 0 {
				unsent++
				wantFailed(t, e, streams.KindTimeout, streams.NotChanged, 0)
				if streamstest.WantText(t, e.Reason, "the service did not respond within 30s to other operations"); !e.Repeated || !errors.Is(e, requests.ErrRequestTimeout) {
					t.Errorf("error %#v", e)
				}
			}
		}
		if s.wantRequests(t, 100-unsent+3); unsent < 50 { // three operations made two attempts
			t.Errorf("%d operations sent nothing", unsent)
		}
	})
}
