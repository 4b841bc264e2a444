package requests_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// refuse makes no connection.
func refuse(ctx context.Context, network, _ string) (net.Conn, error) {
	return streamstest.Dial(ctx, network, "nobody:1")
}

// timeOut makes no connection within the time limit of a dialer.
func timeOut(context.Context, string, string) (net.Conn, error) {
	<-time.After(10 * time.Second)
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
}

// With the default settings, a short outage fails nothing. When the service is down for good, the operations under way
// retry, and the others make one attempt each, so that a run ends soon. So they do if it only asks for fewer requests.
func TestOutage(t *testing.T) {
	t.Parallel()
	const forever, soon, standard, outage = 24 * time.Hour, 50 * time.Millisecond, 5 * time.Minute, 20 * time.Second
	down := RespondError(503, "later")
	for name, test := range map[string]struct {
		after, length time.Duration // of the outage
		fail          http.HandlerFunc
		dial          func(context.Context, string, string) (net.Conn, error) // nil: no attempt to connect ends
		limit         time.Duration                                           // of an operation
		took          time.Duration                                           // at most, by the run; 0: it succeeds
	}{
		"503, from the first":     {0, outage, down, streamstest.Dial, standard, 0},
		"503, later":              {soon, outage, down, streamstest.Dial, standard, 0},
		"resets":                  {soon, 10 * time.Second, ResetConnection, streamstest.Dial, standard, 0},
		"refused connections":     {soon, 10 * time.Second, ResetConnection, refuse, standard, 0},
		"429, for good":           {0, forever, RespondError(429, "slow down"), streamstest.Dial, standard, 40 * time.Second},
		"503, for good":           {0, forever, down, streamstest.Dial, standard, 40 * time.Second},
		"503, 3 s":                {0, forever, down, streamstest.Dial, 3 * time.Second, 90 * time.Second},
		"503 later, for good":     {soon, forever, down, streamstest.Dial, standard, 40 * time.Second},
		"refused, for good":       {0, forever, nil, refuse, standard, 25 * time.Second},
		"refused later, for good": {soon, forever, ResetConnection, refuse, standard, 40 * time.Second},
		"503, Retry-After 60":     {0, forever, RespondError(503, "later", "Retry-After", "60"), streamstest.Dial, standard, 6 * time.Minute},
		"503, Retry-After 120":    {0, forever, RespondError(503, "later", "Retry-After", "120"), streamstest.Dial, standard, 6 * time.Minute},
		"429, Retry-After 60":     {0, forever, RespondError(429, "later", "Retry-After", "60"), streamstest.Dial, standard, 6 * time.Minute},
		"429, Retry-After 120":    {0, forever, RespondError(429, "later", "Retry-After", "120"), streamstest.Dial, standard, 6 * time.Minute},
		"409, for good":           {0, forever, RespondError(409, "locked"), streamstest.Dial, standard, 45 * time.Second},
		"423, for good":           {0, forever, RespondError(423, "locked"), streamstest.Dial, standard, 45 * time.Second},
		"425, for good":           {0, forever, RespondError(425, "too early"), streamstest.Dial, standard, 45 * time.Second},
		"no connections":          {0, forever, nil, nil, standard, 240 * time.Second},
		"silent address":          {0, forever, nil, timeOut, standard, 240 * time.Second},
		"silent address later":    {soon, forever, ResetConnection, timeOut, standard, 240 * time.Second},
		"no responses":            {0, forever, NeverRespond, streamstest.Dial, standard, 240 * time.Second},
	} {
		for _, parallel := range []int{Singles, Group} {
			RunVirtual(t, fmt.Sprint(name, "/", parallel), func(t *testing.T) {
				start := time.Now()
				isDown := func() bool { return time.Since(start) >= test.after && time.Since(start) < test.after+test.length }
				s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
					if isDown() {
						test.fail(w, r)
						return
					}
					RespondAfter(20*time.Millisecond, ApplyUpdate)(w, r)
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
				c := NewClient(t, requests.Config{BaseURL: s.URL, DialContext: dial, Retry: requests.DefaultRetry, MaxConcurrent: parallel})
				errs := UpdateParallel(t, c, 300, parallel, test.limit)
				if err := errors.Join(errs...); (err == nil) != (test.took == 0) {
					t.Errorf("%.500v", err)
				}
				took := time.Since(start)
				<-time.After(10 * time.Second) // what still connects ends
				if t.Logf("300 streams took %s", took); test.took > 0 && took > test.took {
					t.Errorf("more than %s", test.took)
				}
				if test.took == 0 || test.after > 0 || test.limit < outage {
					return
				}
				if !slices.ContainsFunc(errs[:parallel], func(err error) bool { return AsError(t, err).Attempts > 1 }) {
					t.Errorf("the first streams: %.500v", errs[:parallel])
				}
				for n, err := range errs[2*parallel:] {
					if e := AsError(t, err); e.Attempts > 1 {
						t.Errorf("stream %d: %v", n+2*parallel, err)
					}
				}
			})
		}
	}
}

// Many streams of a service that is down take little longer than one.
func TestOutageOfMany(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fail http.HandlerFunc
		dial func(context.Context, string, string) (net.Conn, error)
	}{
		"503": {RespondError(503, "down"), streamstest.Dial}, "refused": {nil, refuse}, "no responses": {NeverRespond, streamstest.Dial},
	} {
		for _, parallel := range []int{Singles, Group} {
			RunVirtual(t, fmt.Sprint(name, "/", parallel), func(t *testing.T) {
				var took [2]time.Duration
				for i, count := range []int{1, 100} {
					s := StartService(t, test.fail)
					c := NewClient(t, requests.Config{BaseURL: s.URL, DialContext: test.dial, Retry: requests.DefaultRetry, MaxConcurrent: parallel})
					start := time.Now()
					_ = UpdateParallel(t, c, count, parallel, 5*time.Minute)
					took[i] = time.Since(start)
				}
				if took[1] > took[0]*5/2 {
					t.Errorf("one stream took %s, and a hundred %s", took[0], took[1])
				}
			})
		}
	}
}

// An outage ends with the first response that shows that the service works, such as a rejection. A limit of requests or a conflict
// does not show that.
func TestOutageEnds(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		down, limited := RespondError(503, "later"), RespondError(429, "slow down")
		reject, conflict := RespondError(401, "who"), RespondError(409, "not now")
		s := StartService(t, down, down, down, down, down, down, RespondError(404, "no"),
			limited, limited, limited, limited, limited, limited, reject, reject,
			conflict, conflict, conflict, conflict, conflict, conflict, reject, reject, down)
		c := NewClient(t, requests.Config{BaseURL: s.URL})
		for i, want := range []struct{ status, attempts int }{{503, 5}, {503, 1}, {404, 1}, {429, 5}, {429, 1}, {401, 2}, {409, 5}, {409, 1},
			{401, 2}, {503, 5}} {
			_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
			if e := AsError(t, err); e.Status != want.status || e.Attempts != want.attempts {
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
		"7": 7 * second, "3600": time.Hour, "946684860": second, "1795780860": second, "86401": second,
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
			RunVirtual(t, fmt.Sprint(value, attempts), func(t *testing.T) {
				s := StartService(t, RespondError(503, "later", "Retry-After", value), ApplyUpdate)
				retry := requests.Retry{MaxAttempts: attempts, MinBackoff: second, MaxBackoff: second}
				var logged []time.Duration
				observe := func(_ context.Context, a requests.Attempt) { logged = append(logged, a.RetryWait) }
				if _, err := s.UpdateWithin(t, requests.Config{Retry: retry, Observe: observe}, 2*time.Hour); err != nil {
					t.Error(err)
				}
				WantEqual(t, "waits", []time.Duration{want}, s.Waits())
				WantEqual(t, "waits in the log", []time.Duration{want, 0}, logged)
			})
		}
	}
}

// A date counts by the clock of the service. A 429 without Retry-After may say when its limit ends.
func TestResetByTheService(t *testing.T) {
	t.Parallel()
	const clock, minute = "Fri, 27 Nov 2026 12:00:00 GMT", "Fri, 27 Nov 2026 12:01:00 GMT"
	for name, response := range map[string]http.HandlerFunc{
		"date":            RespondError(503, "later", "Date", clock, "Retry-After", minute),
		"RateLimit-Reset": RespondError(429, "slow down", "RateLimit-Reset", "60"),
		"an epoch":        RespondError(429, "slow down", "X-RateLimit-Reset", "946684860"), // a virtual clock starts in 2000
	} {
		RunVirtual(t, name, func(t *testing.T) {
			s := StartService(t, response, ApplyUpdate)
			if _, err := s.Update(t, requests.Config{Retry: requests.DefaultRetry}); err != nil {
				t.Error(err)
			}
			WantEqual(t, "waits", []time.Duration{time.Minute}, s.Waits())
		})
	}
}

// A conflict with another update is over later, and says nothing about the credential. A stream that stays locked fails once nothing
// has succeeded beside it for as long as its patience. It was not changed.
func TestConflict(t *testing.T) {
	t.Parallel()
	for _, status := range []int{409, 423, 425} {
		for _, parallel := range []int{Singles, Group} {
			RunVirtual(t, fmt.Sprint(status, "/", parallel), func(t *testing.T) {
				var terminal sync.Mutex // the service takes one update at a time
				succeeded := time.Now()
				s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
					if strings.HasSuffix(r.URL.Path, "/locked") || !terminal.TryLock() {
						RespondError(status, "locked")(w, r)
						return
					}
					defer terminal.Unlock()
					RespondAfter(300*time.Millisecond, ApplyUpdate)(w, r)
					succeeded = time.Now()
				})
				c := NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.DefaultRetry})
				var locked sync.WaitGroup
				for range 5 {
					locked.Go(func() {
						_, err := c.UpdateStream(t.Context(), "locked", streams.NewProcessorSet())
						e := AsError(t, err)
						WantFailed(t, e, streams.KindBadRequest, streams.NotChanged, e.Attempts)
						if alone := time.Since(succeeded); alone < 20*time.Second || alone > 30*time.Second || e.Status != status {
							t.Errorf("after %s: %v", alone, e)
						}
					})
				}
				if err := errors.Join(UpdateParallel(t, c, 20, parallel, 5*time.Minute)...); err != nil {
					t.Errorf("%.300v", err)
				}
				locked.Wait()
				MustUpdateAll(t, c, 1)
			})
		}
	}
}

// Waits for a slot, a turn or the rate limit use up no patience.
func TestWaitsLeavePatience(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg     requests.Config
		latency time.Duration
	}{
		"rate limit": {requests.Config{RequestsPerSecond: 2}, time.Millisecond},
		"slot":       {requests.Config{MaxConcurrent: 1}, time.Second},
		"turn":       {requests.Config{MaxConcurrent: Group}, 6 * time.Second},
	} {
		for _, status := range []int{500, 503} {
			RunVirtual(t, fmt.Sprint(name, "/", status), func(t *testing.T) {
				var mu sync.Mutex
				received := map[string]int{}
				s := StartService(t, func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					received[r.URL.Path]++
					fails := received[r.URL.Path] <= 2 &&
						(r.URL.Path == "/v2/streams/s1" || r.URL.Path == "/v2/streams/s20" || r.URL.Path == "/v2/streams/s40")
					mu.Unlock()
					if fails {
						RespondError(status, "later")(w, r)
						return
					}
					RespondAfter(test.latency, ApplyUpdate)(w, r)
				})
				cfg := test.cfg
				cfg.BaseURL, cfg.Retry = s.URL, requests.DefaultRetry
				if err := errors.Join(UpdateParallel(t, NewClient(t, cfg), 60, Group, 5*time.Minute)...); err != nil {
					t.Errorf("%.300v", err)
				}
			})
		}
	}
}
