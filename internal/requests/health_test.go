package requests_test

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

	"golang.org/x/sync/errgroup"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
)

// A stream that always fails, or two of them, do not fail the streams of a service that is slow, but works.
func TestBrokenStreamFailsAlone(t *testing.T) {
	t.Parallel()
	const latency = 3 * time.Second
	down := RespondError(503, "broken")
	for name, broken := range map[string][]http.HandlerFunc{
		"503": {down}, "reset": {ResetConnection}, "429": {RespondError(429, "broken")}, "no response": {NeverRespond},
		"503, no response": {down, NeverRespond}, "no response, 503": {NeverRespond, down},
		"503 twice": {down, down}, "many": {down, ResetConnection, down, NeverRespond, down},
	} {
		for _, parallel := range []int{1, Singles, Group} {
			for _, known := range []bool{false, true} { // whether the service has accepted the credential before
				RunVirtual(t, fmt.Sprint(name, "/", parallel, "/", known), func(t *testing.T) {
					s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
						var n int
						if _, err := fmt.Sscanf(r.URL.Path, "/v2/streams/broken%d", &n); err == nil {
							broken[n](w, r)
							return
						}
						RespondAfter(latency, ApplyUpdate)(w, r)
					})
					c := NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.DefaultRetry})
					if known {
						MustUpdateAll(t, c, 1)
					}
					for n := range broken {
						if _, err := c.UpdateStream(t.Context(), fmt.Sprint("broken", n), streams.NewProcessorSet()); err == nil {
							t.Error("the broken stream succeeds")
						}
					}
					if err := errors.Join(UpdateParallel(t, c, 100, parallel, 5*time.Minute)...); err != nil {
						t.Errorf("%.300v", err)
					}
				})
			}
		}
	}
}

// While nothing responds, attempts are short. Any response ends that.
func TestSilentServiceResponds(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"503": RespondError(503, "later"), "429": RespondError(429, "slow down"), "401": RespondError(401, "not you"),
		"409": RespondError(409, "not now"), "400": RespondError(400, "no"), "200": ApplyUpdate,
	} {
		RunVirtual(t, name, func(t *testing.T) {
			s := StartService(t, NeverRespond, NeverRespond, answer, RespondAfter(7*time.Second, ApplyUpdate))
			c := NewClient(t, requests.Config{BaseURL: s.URL, Retry: requests.Retry{MaxAttempts: 1}})
			for _, want := range []time.Duration{30 * time.Second, 5 * time.Second, 0} {
				start := time.Now()
				if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()); time.Since(start) != want {
					t.Errorf("%s: %v", time.Since(start), err)
				}
			}
			MustUpdateAll(t, c, 1)
		})
	}
}

// Streams that fail at once do not keep the others from being sent with an untested credential.
func TestFailuresPassOnTheirTurns(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]http.HandlerFunc{"503": RespondError(503, "broken"), "reset": ResetConnection,
		"409": RespondError(409, "not now")} {
		RunVirtual(t, name, func(t *testing.T) {
			s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/broken") {
					fail(w, r)
					return
				}
				RespondAfter(time.Second, ApplyUpdate)(w, r)
			})
			c := NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.DefaultRetry})
			var broken sync.WaitGroup
			for range 5 {
				broken.Go(func() { _, _ = c.UpdateStream(t.Context(), "broken", streams.NewProcessorSet()) })
			}
			synctest.Wait()
			start := time.Now()
			MustUpdateAll(t, c, 10)
			if took := time.Since(start); took > 4*time.Second {
				t.Errorf("ten streams took %s", took)
			}
			broken.Wait()
		})
	}
}

// Streams that hang fail no healthy ones of a service that needs two seconds for a response, whether they come before them or beside them.
func TestHangingStreams(t *testing.T) {
	t.Parallel()
	for _, hanging := range []int{2, 64} {
		for _, parallel := range []int{1, Singles, Group} {
			for _, known := range []bool{false, true} { // whether the service has accepted the credential before
				RunVirtual(t, fmt.Sprint(hanging, "/", parallel, "/", known), func(t *testing.T) {
					s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
						if strings.Contains(r.URL.Path, "hangs") {
							NeverRespond(w, r)
							return
						}
						RespondAfter(2*time.Second, ApplyUpdate)(w, r)
					})
					c := NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.DefaultRetry, MaxConcurrent: parallel})
					if known {
						MustUpdateAll(t, c, 1)
					}
					var workers errgroup.Group
					workers.SetLimit(min(parallel, hanging/2)) // of two, one after the other
					for n := range hanging {
						workers.Go(func() error {
							ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
							defer cancel()
							_, _ = c.UpdateStream(ctx, fmt.Sprint("hangs", n), streams.NewProcessorSet())
							return nil
						})
					}
					_ = workers.Wait()
					if err := errors.Join(UpdateParallel(t, c, 100, parallel, 5*time.Minute)...); err != nil {
						t.Errorf("%.300v", err)
					}
				})
			}
		}
	}
}

// With a short request timeout, a stream that hangs fails none that take their time.
func TestHangingStream(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{1, Singles, Group} {
		RunVirtual(t, fmt.Sprint(parallel), func(t *testing.T) {
			s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/hangs") {
					NeverRespond(w, r)
					return
				}
				RespondAfter(3*time.Second, ApplyUpdate)(w, r)
			})
			c := NewClient(t, requests.Config{BaseURL: s.URL, Retry: requests.DefaultRetry, RequestTimeout: 5 * time.Second})
			if _, err := c.UpdateStream(t.Context(), "hangs", streams.NewProcessorSet()); err == nil {
				t.Error("the hanging stream succeeds")
			}
			if err := errors.Join(UpdateParallel(t, c, 10, parallel, 5*time.Minute)...); err != nil {
				t.Errorf("%.300v", err)
			}
		})
	}
}

// A time limit fails only its own operation.
func TestTimeLimitFailsAlone(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]http.HandlerFunc{"503": RespondError(503, "later"), "reset": ResetConnection,
		"429": RespondError(429, "later")} {
		for _, parallel := range []int{Singles, Group} {
			RunVirtual(t, fmt.Sprint(name, parallel), func(t *testing.T) {
				start := time.Now()
				s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
					if time.Since(start) < 10*time.Second {
						fail(w, r)
						return
					}
					ApplyUpdate(w, r)
				})
				c := NewClient(t, requests.Config{BaseURL: s.URL, Retry: requests.DefaultRetry})
				go UpdateParallel(t, c, parallel/10, parallel/10, 3*time.Second)
				if err := errors.Join(UpdateParallel(t, c, parallel, parallel, 5*time.Minute)...); err != nil {
					t.Errorf("%.300v", err)
				}
			})
		}
	}
}

// The time limit of an operation says nothing to the others, also if it ends the last attempt that the user allows.
func TestTimeLimitOfTheLastAttempt(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		s := StartService(t, RespondError(500, "later"), NeverRespond, RespondError(500, "later"), ApplyUpdate)
		retry := requests.DefaultRetry
		retry.MaxAttempts = 2
		c := NewClient(t, requests.Config{BaseURL: s.URL, Retry: retry})
		WantFailed(t, AsError(t, UpdateParallel(t, c, 1, 1, 3*time.Second)[0]), streams.KindTimeout, streams.Unknown, 2)
		MustUpdateAll(t, c, 1)
		s.WantRequests(t, 4)
	})
}

// A service that takes few requests at a time fails none, whether it says so or lets the others wait.
func TestBusyService(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sessions, status int // 0: requests wait for a session
		latency          time.Duration
		count, parallel  int
	}{
		"two sessions": {2, 503, 300 * time.Millisecond, 300, Group}, "two sessions, 429": {2, 429, 300 * time.Millisecond, 300, Group},
		"two sessions, singles": {2, 503, 300 * time.Millisecond, 100, Singles},
		"a lock":                {1, 409, 2 * time.Second, 20, Singles}, "a lock, 423": {1, 423, 2 * time.Second, 20, Singles},
		"a lock, 425": {1, 425, 2 * time.Second, 20, Group}, "one at a time": {1, 0, 600 * time.Millisecond, 100, Group},
		"a long lock": {1, 409, 10 * time.Second, 20, Singles},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			sessions := make(chan struct{}, test.sessions)
			s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
				select {
				case sessions <- struct{}{}:
				default:
					if test.status != 0 {
						RespondError(test.status, "busy")(w, r)
						return
					}
					sessions <- struct{}{}
				}
				RespondAfter(test.latency, ApplyUpdate)(w, r)
				<-sessions
			})
			c := NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.DefaultRetry})
			if err := errors.Join(UpdateParallel(t, c, test.count, test.parallel, 5*time.Minute)...); err != nil {
				t.Errorf("%.300v", err)
			}
		})
	}
}

// Streams that a service never takes fail side by side, as with 500: the end of one lets others succeed, which gives the rest of them
// no patience back.
func TestPartOfTheStreamsFails(t *testing.T) {
	t.Parallel()
	const count = 100
	for every, parallel := range map[int]int{2: Singles, 5: Singles, 3: Group} {
		RunVirtual(t, fmt.Sprint("each of ", every), func(t *testing.T) {
			took := map[int]time.Duration{}
			for _, status := range []int{500, 503, 409, 429} {
				s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
					var n int
					if _, err := fmt.Sscanf(r.URL.Path, "/v2/streams/s%d", &n); err == nil && n%every == 0 {
						RespondError(status, "not this one")(w, r)
						return
					}
					RespondAfter(20*time.Millisecond, ApplyUpdate)(w, r)
				})
				c := NewClient(t, requests.Config{BaseURL: s.URL, Retry: requests.DefaultRetry, MaxConcurrent: parallel})
				start := time.Now()
				errs := UpdateParallel(t, c, count, parallel, 5*time.Minute)
				took[status] = time.Since(start)
				for n, err := range errs {
					if (err != nil) != (n%every == 0) {
						t.Errorf("%d, stream %d: %v", status, n, err)
					}
				}
				if t.Logf("%d: %s", status, took[status]); took[status] > took[500]*3/2 {
					t.Errorf("%d: %s, and 500: %s", status, took[status], took[500])
				}
			}
		})
	}
}

// A service that fails in a rhythm fails few streams, and a stream that always fails does not last longer than in an outage.
func TestFlappingService(t *testing.T) {
	t.Parallel()
	const phase, latency, count = 3 * time.Second, 300 * time.Millisecond, 300
	up, down := RespondAfter(latency, ApplyUpdate), RespondError(503, "down")
	for name, fail := range map[string]http.HandlerFunc{
		"503": down, "503, slowly": RespondAfter(latency, down), "reset": ResetConnection,
	} {
		for _, downFirst := range []time.Duration{0, phase} {
			RunVirtual(t, fmt.Sprint(name, downFirst), func(t *testing.T) {
				start := time.Now()
				s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
					if (time.Since(start)+downFirst)/phase%2 == 1 || strings.HasSuffix(r.URL.Path, "/s99") {
						fail(w, r)
						return
					}
					up(w, r)
				})
				errs := UpdateAll(t, NewClient(t, requests.Config{BaseURL: s.URL, Retry: requests.DefaultRetry}), count)
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

// limit lets a number of requests through in a second.
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
			RespondError(429, "slow down", header...)(w, r)
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
		"group":             {50, Group, 0, nil, false},
		"large group":       {300, Group, 0, nil, false},
		"singles":           {100, Singles, 0, nil, false},
		"Retry-After":       {50, Group, 0, []string{"Retry-After", "1"}, false},
		"the user's choice": {50, Group, 6, nil, true},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			s := StartService(t, limit(2, ApplyUpdate, test.header...))
			retry := requests.DefaultRetry
			retry.MaxAttempts = test.attempts
			var mu sync.Mutex
			logged := 0
			cfg := requests.Config{BaseURL: s.URL, Retry: retry, Observe: func(context.Context, requests.Attempt) {
				mu.Lock()
				defer mu.Unlock()
				logged++
			}}
			errs := UpdateParallel(t, NewClient(t, cfg), test.count, test.parallel, 5*time.Minute)
			if err := errors.Join(errs...); (err != nil) != test.fails || logged != len(s.Requests()) {
				t.Errorf("%d of %d attempts in the log: %.300v", logged, len(s.Requests()), err)
			}
			for _, err := range errs {
				if e := (*streams.Error)(nil); errors.As(err, &e) && e.Attempts != test.attempts {
					t.Errorf("%d attempts", e.Attempts)
				}
			}
		})
	}
}
