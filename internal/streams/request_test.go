package streams_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// refuse makes no connection.
func refuse(ctx context.Context, network, _ string) (net.Conn, error) {
	return streamstest.Dial(ctx, network, "nobody:1")
}

// With the default settings, a short outage fails nothing. When the service is down for good, the operations under way
// retry, and the others make one attempt each, so that a run ends soon. So they do if it only asks for fewer requests.
func TestOutage(t *testing.T) {
	t.Parallel()
	const forever, soon, standard, outage = 24 * time.Hour, 50 * time.Millisecond, 5 * time.Minute, 20 * time.Second
	down := respondError(503, "later")
	for name, test := range map[string]struct {
		after, length time.Duration // of the outage
		fail          http.HandlerFunc
		dial          func(context.Context, string, string) (net.Conn, error) // nil: no attempt to connect ends
		limit         time.Duration                                           // of an operation
		took          time.Duration                                           // at most, by the run; 0: it succeeds
	}{
		"503, from the first":     {0, outage, down, streamstest.Dial, standard, 0},
		"503, later":              {soon, outage, down, streamstest.Dial, standard, 0},
		"resets":                  {soon, 10 * time.Second, resetConnection, streamstest.Dial, standard, 0},
		"refused connections":     {soon, 10 * time.Second, resetConnection, refuse, standard, 0},
		"429, for good":           {0, forever, respondError(429, "slow down"), streamstest.Dial, standard, 40 * time.Second},
		"503, for good":           {0, forever, down, streamstest.Dial, standard, 40 * time.Second},
		"503, 3 s":                {0, forever, down, streamstest.Dial, 3 * time.Second, 90 * time.Second},
		"503 later, for good":     {soon, forever, down, streamstest.Dial, standard, 40 * time.Second},
		"refused, for good":       {0, forever, nil, refuse, standard, 25 * time.Second},
		"refused later, for good": {soon, forever, resetConnection, refuse, standard, 40 * time.Second},
		"no connections":          {0, forever, nil, nil, standard, 150 * time.Second},
		"no responses":            {0, forever, neverRespond, streamstest.Dial, standard, 150 * time.Second},
		"no responses, 40 s":      {0, forever, neverRespond, streamstest.Dial, 40 * time.Second, 150 * time.Second},
	} {
		for _, parallel := range []int{singles, group} {
			runVirtual(t, fmt.Sprint(name, "/", parallel), func(t *testing.T) {
				start := time.Now()
				isDown := func() bool { return time.Since(start) >= test.after && time.Since(start) < test.after+test.length }
				s := startService(t, func(w http.ResponseWriter, r *http.Request) {
					if isDown() {
						test.fail(w, r)
						return
					}
					respondAfter(20*time.Millisecond, applyUpdate)(w, r)
				})
				dial := func(ctx context.Context, network, address string) (net.Conn, error) {
					switch {
					case !isDown():
						return streamstest.Dial(ctx, network, address)
					case test.dial == nil:
						<-t.Context().Done() // Go's HTTP library does not end an attempt to connect that no request waits for
						return nil, net.ErrClosed
					}
					return test.dial(ctx, network, address)
				}
				c := newClient(t, requests.Config{BaseURL: s.URL, DialContext: dial, Retry: requests.DefaultRetry})
				errs := updateParallel(t, c, 300, parallel, test.limit)
				if err := errors.Join(errs...); (err == nil) != (test.took == 0) {
					t.Errorf("%.500v", err)
				}
				if took := time.Since(start); test.took > 0 && took > test.took {
					t.Errorf("300 streams took %s", took)
				}
				if test.took == 0 || test.after > 0 || test.limit < outage {
					return
				}
				if !slices.ContainsFunc(errs[:parallel], func(err error) bool { return asError(t, err).Attempts > 1 }) {
					t.Errorf("the first streams: %.500v", errs[:parallel])
				}
				for n, err := range errs[2*parallel:] {
					if e := asError(t, err); e.Attempts > 1 || !e.Repeated {
						t.Errorf("stream %d: %v", n+2*parallel, err)
					}
				}
			})
		}
	}
}

// The attempts that the user sets are made exactly, also with a second token.
func TestAttempts(t *testing.T) {
	t.Parallel()
	for _, want := range []int{1, 3, 9} {
		runVirtual(t, fmt.Sprint(want), func(t *testing.T) {
			s := startService(t, respondError(503, "later"))
			cfg := requests.Config{Retry: requests.Retry{MaxAttempts: want, MinBackoff: time.Second}, DialContext: refuse}
			refused := s.updateError(t, cfg)
			cfg.DialContext = nil
			failed := s.updateError(t, cfg)
			renewing := startService(t, respondError(401, "expired"), respondError(503, "later"))
			cfg.OAuth2 = oauth2Config(s, startService(t, issueTokens(3600))).OAuth2
			if e := renewing.updateError(t, cfg); e.Attempts != max(2, want) {
				t.Errorf("%d attempts with two tokens", e.Attempts)
			}
			if refused.Attempts != want || failed.Attempts != want {
				t.Errorf("%d and %d attempts, want %d", refused.Attempts, failed.Attempts, want)
			}
		})
	}
}

// An outage ends with the first response that shows that the service works, such as a rejection or a conflict. A limit of
// requests does not show that.
func TestOutageEnds(t *testing.T) {
	virtual(t, func(t *testing.T) {
		down, limited := respondError(503, "later"), respondError(429, "slow down")
		reject, conflict := respondError(401, "who"), respondError(409, "not now")
		s := startService(t, down, down, down, down, down, down, respondError(404, "no"),
			limited, limited, limited, limited, limited, limited, reject, reject,
			down, down, down, down, down, down, conflict, conflict, conflict, conflict, conflict, down)
		c := newClient(t, requests.Config{BaseURL: s.URL})
		for i, want := range []struct{ status, attempts int }{{503, 5}, {503, 1}, {404, 1}, {429, 5}, {429, 1}, {401, 2}, {503, 5}, {503, 1}, {409, 5}, {503, 5}} {
			_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
			if e := asError(t, err); e.Status != want.status || e.Attempts != want.attempts {
				t.Errorf("operation %d: %#v", i+1, e)
			}
		}
	})
}

// Retry-After sets the wait, in seconds or as a date, also above MaxBackoff. Junk, and a shorter wait, set none.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for value, want := range map[string]time.Duration{ // a virtual clock starts on Saturday, 1 January 2000
		"7": 7 * second, "3600": time.Hour, "946684860": time.Minute, "1795780860": second, "86401": second,
		"Sat, 01 Jan 2000 00:01:30 GMT":    90 * second,
		"Saturday, 01-Jan-00 00:01:00 GMT": time.Minute, // RFC 9110 requires the obsolete forms, too
		"Sat Jan  1 01:00:00 2000":         time.Hour,
		"0":                                second,
		"Fri, 31 Dec 1999 23:59:59 GMT":    second,
		"":                                 second, "soon": second, "-7": second, "+7": second,
		"7.5": second, "1e3": second, "0x10": second, "5s": second, "7, 8": second,
		"2000-01-01T00:01:30Z": second, "٥": second,
	} {
		for _, attempts := range []int{0, 3} {
			runVirtual(t, fmt.Sprint(value, attempts), func(t *testing.T) {
				s := startService(t, respondError(503, "later", "Retry-After", value), applyUpdate)
				retry := requests.Retry{MaxAttempts: attempts, MinBackoff: second, MaxBackoff: second}
				var logged []time.Duration
				observe := func(_ context.Context, a requests.Attempt) { logged = append(logged, a.RetryWait) }
				if _, err := s.updateWithin(t, requests.Config{Retry: retry, Observe: observe}, 2*time.Hour); err != nil {
					t.Error(err)
				}
				wantEqual(t, "waits", []time.Duration{want}, s.waits())
				wantEqual(t, "waits in the log", []time.Duration{want, 0}, logged)
			})
		}
	}
}

// A date counts by the clock of the service. A 429 without Retry-After may say when its limit ends.
func TestResetByTheService(t *testing.T) {
	t.Parallel()
	const clock, minute = "Fri, 27 Nov 2026 12:00:00 GMT", "Fri, 27 Nov 2026 12:01:00 GMT"
	for name, response := range map[string]http.HandlerFunc{
		"date":                          respondError(503, "later", "Date", clock, "Retry-After", minute),
		"since 1970":                    respondError(503, "later", "Date", clock, "Retry-After", "1795780860"),
		"RateLimit-Reset":               respondError(429, "slow down", "RateLimit-Reset", "60"),
		"X-RateLimit-Reset":             respondError(429, "slow down", "X-RateLimit-Reset", "60"),
		"X-RateLimit-Reset, since 1970": respondError(429, "slow down", "Date", clock, "X-Ratelimit-Reset", "1795780860"),
	} {
		runVirtual(t, name, func(t *testing.T) {
			s := startService(t, response, applyUpdate)
			if _, err := s.update(t, requests.Config{Retry: requests.DefaultRetry}); err != nil {
				t.Error(err)
			}
			wantEqual(t, "waits", []time.Duration{time.Minute}, s.waits())
		})
	}
}

// A conflict with another update is over later, and says nothing about the service or the credential. The stream was not
// changed.
func TestConflict(t *testing.T) {
	t.Parallel()
	for _, status := range []int{409, 423, 425} {
		for _, parallel := range []int{singles, group} {
			runVirtual(t, fmt.Sprint(status, "/", parallel), func(t *testing.T) {
				var terminal sync.Mutex // the service takes one update at a time
				s := startService(t, func(w http.ResponseWriter, r *http.Request) {
					if strings.HasSuffix(r.URL.Path, "/locked") || !terminal.TryLock() {
						respondError(status, "locked")(w, r)
						return
					}
					defer terminal.Unlock()
					respondAfter(300*time.Millisecond, applyUpdate)(w, r)
				})
				c := newClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.DefaultRetry})
				var locked sync.WaitGroup
				for range 5 {
					locked.Go(func() {
						start := time.Now()
						_, err := c.UpdateStream(t.Context(), "locked", streams.NewProcessorSet())
						e := asError(t, err)
						wantFailed(t, e, streams.KindBadRequest, streams.NotChanged, e.Attempts)
						if took := time.Since(start); took < 20*time.Second || took > 25*time.Second || e.Repeated || e.Status != status {
							t.Errorf("after %s: %v", took, e)
						}
					})
				}
				if err := errors.Join(updateParallel(t, c, 20, parallel, 5*time.Minute)...); err != nil {
					t.Errorf("%.300v", err)
				}
				locked.Wait()
				mustUpdateAll(t, c, 1)
			})
		}
	}
}
