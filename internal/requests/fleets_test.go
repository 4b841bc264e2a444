package requests_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// What many streams cost. Each bound has a test, with the default settings, which send 10 requests at a time, and with 64.
//
//	What                                                        | At most                          | Test
//	------------------------------------------------------------|----------------------------------|------------------------------
//	100 streams against 503, refused connections or silence     | 2.5 times as long as one         | TestOutageOfMany
//	300 streams, down for good, with responses                  | 40 s; 45 s with 409, 423 and 425 | TestOutage
//	the same, with Retry-After of one or two minutes            | 6 min                            | TestOutage
//	300 streams without a response, or a connection             | 4 min                            | TestOutage
//	300 streams at a wrong address                              | 25 s                             | TestOutage
//	2,000 streams, silence after a third                        | 15 min                           | TestServiceFailsInMidRun
//	the same, with 503, 429 or refused connections              | 2 min                            | TestServiceFailsInMidRun
//	300 streams, a tenth or a quarter never taken               | the others are set in 30 s       | TestStreamsOfAGroupDoNotWait
//	the same, after 30 s each, or without a response            | the others are set in 5 min      | TestStreamsOfAGroupDoNotWait
//	300 streams, half of them never taken                       | the others are set in 1 min      | TestStreamsOfAGroupDoNotWait
//	2,000 streams, a fifth on a shard that is down              | 5 min; the others are set        | TestBrokenShard
//	streams that are never taken, beside the same with 500      | 1.5 times as long                | TestPartOfTheStreamsFails
//	streams that fail because one of three zones is silent      | 1 of 100                         | TestSilentZone
//	streams that fail because a replica does                    | none                             | TestReplicas, TestReplicaFails
//	streams that fail because others do                         | none, if a response takes 3 s    | TestBrokenStreamFailsAlone
//	streams that fail because others hang                       | none, if a response takes 2 s    | TestHangingStreams
//	streams whose first attempt stalls, with 25 s a response    | none                             | TestSlowServiceStalls
//	streams that fail because two, or one, are taken at a time  | none                             | TestBusyService, TestNoStormOfRetries
//	requests at such a service, in place of 10 streams          | 4 times as many                  | TestNoStormOfRetries
//	requests at a service with a limit in a time, likewise      | 3 times as many                  | TestNoStormOfRetries
//	requests under way with an untested credential              | 2                                | TestUntestedCredential
//	rejections of a credential that never works                 | 4; silence may come first        | TestUntestedCredential
//	the same, between failures                                  | 4                                | TestRejectedBetweenFailures
//	cost of these two bounds with a good credential             | one response                     | TestFirstResponses
//	wait for a credential to become valid                       | 1 s and a response               | TestNewCredential
//	streams that fail because a search for a credential does    | none, while the current one works| TestFailedSearchReplacesNothing
//	requests with a token that has expired in a wait            | none                             | TestTokenExpiresInAWait
//	rejections of a credential that dies, 2,000 streams         | 2 each, and 1 min                | TestCredentialDies
//	token requests while the service rejects tokens             | 2 for each token                 | TestTokenRequestsAreBounded
//	token requests after the client is rejected                 | none; first, header and body     | TestTokenRequestsAreBounded
//	token requests while the token endpoint fails otherwise     | one operation's, then one a wait | TestTokenRequestsAreBounded
//	wait for a token_file that is missing at first              | 2 s, once                        | TestTokenFileIsReadAgain

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
		"504 after 30 s": {RespondAfter(30*time.Second-1, RespondError(504, "no")),
			map[int]time.Duration{10: 5 * time.Minute, 4: 5 * time.Minute, 2: groupLimit}},
		"silence": {NeverRespond, map[int]time.Duration{10: 5 * time.Minute, 4: 5 * time.Minute, 2: groupLimit}},
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

// A service that stops working after a third of a group costs the rest one short attempt each.
func TestServiceFailsInMidRun(t *testing.T) {
	t.Parallel()
	const count = 2000
	for name, test := range map[string]struct {
		fail   http.HandlerFunc
		dial   func(context.Context, string, string) (net.Conn, error)
		within time.Duration
	}{
		"silence":             {NeverRespond, streamstest.Dial, 15 * time.Minute},
		"silent address":      {ResetConnection, timeOut, 15 * time.Minute},
		"refused connections": {ResetConnection, refuse, 2 * time.Minute},
		"503":                 {RespondError(503, "down"), streamstest.Dial, 2 * time.Minute},
		"429":                 {RespondError(429, "slow down"), streamstest.Dial, 2 * time.Minute},
	} {
		for _, slots := range []int{Singles, Group} {
			RunVirtual(t, fmt.Sprint(name, "/", slots), func(t *testing.T) {
				var taken atomic.Int32
				var f *fleet
				isDown := func() bool { return taken.Load() >= count/3 }
				dial := func(ctx context.Context, network, address string) (net.Conn, error) {
					if isDown() {
						return test.dial(ctx, network, address)
					}
					return streamstest.Dial(ctx, network, address)
				}
				f = newFleet(t, requests.Config{Token: "t0ken", MaxConcurrent: slots, DialContext: dial}, func(int, time.Duration) http.HandlerFunc {
					if isDown() {
						return test.fail
					}
					taken.Add(1)
					return nil
				})
				errs := UpdateGroup(t, f.client, count, 2*time.Hour)
				failed := 0
				for _, err := range errs {
					if err != nil {
						failed++
					}
				}
				if took := time.Since(f.start); took > test.within || failed != count-len(f.done) || failed < count/2 {
					t.Errorf("after %s, %d of %d streams had failed", took, failed, count)
				} else {
					t.Logf("%s: %s", t.Name(), took)
				}
				<-time.After(10 * time.Second) // what still connects ends
			})
		}
	}
}

// Each new connection reaches the next of three zones. One that does not respond fails no stream, but one that reaches it five times.
func TestSilentZone(t *testing.T) {
	t.Parallel()
	for _, count := range []int{60, 300} {
		for _, slots := range []int{Singles, Group} {
			for _, latency := range []time.Duration{20 * time.Millisecond, 5 * time.Second} {
				RunVirtual(t, fmt.Sprint(count, "/", slots, "/", latency), func(t *testing.T) {
					type key struct{}
					var connections atomic.Int32
					s := NewService(t, func(w http.ResponseWriter, r *http.Request) {
						if zone, _ := r.Context().Value(key{}).(int32); zone%3 == 0 {
							NeverRespond(w, r)
							return
						}
						RespondAfter(latency, ApplyUpdate)(w, r)
					})
					s.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
						return context.WithValue(ctx, key{}, connections.Add(1))
					}
					s.Start()
					c := NewClient(t, requests.Config{BaseURL: s.URL, Token: "t0ken", Retry: requests.DefaultRetry, MaxConcurrent: slots})
					start, failed := time.Now(), 0
					for _, err := range UpdateGroup(t, c, count, groupLimit) {
						if err != nil {
							failed++
						}
					}
					if t.Logf("%s: %d in %s", t.Name(), failed, time.Since(start)); failed > count/100 {
						t.Errorf("%d of %d streams failed", failed, count)
					}
				})
			}
		}
	}
}

// A service that needs 25 seconds for each response loses no stream whose first attempt stalls.
func TestSlowServiceStalls(t *testing.T) {
	t.Parallel()
	for name, stalls := range map[string]func(stream int) bool{
		"one": func(n int) bool { return n == 7 }, "the last": func(n int) bool { return n == 39 },
		"each tenth": func(n int) bool { return n%10 == 0 }, "half": func(n int) bool { return n%2 == 0 }, "all": func(int) bool { return true },
	} {
		for _, slots := range []int{1, Singles, Group} {
			for _, spread := range []time.Duration{0, 100 * time.Millisecond} { // of the responses
				RunVirtual(t, fmt.Sprint(name, "/", slots, "/", spread), func(t *testing.T) {
					var mu sync.Mutex
					received := map[int]int{}
					f := newFleet(t, requests.Config{Token: "t0ken", MaxConcurrent: slots}, func(stream int, _ time.Duration) http.HandlerFunc {
						mu.Lock()
						defer mu.Unlock()
						if received[stream]++; received[stream] == 1 && stalls(stream) {
							return NeverRespond
						}
						return RespondAfter(25*time.Second+time.Duration(stream)*spread, ApplyUpdate)
					})
					if err := errors.Join(UpdateGroup(t, f.client, 40, 2*time.Hour)...); err != nil {
						t.Errorf("%.300v", err)
					}
				})
			}
		}
	}
}

// A shard that answers 503 for good fails its own streams, and no others.
func TestBrokenShard(t *testing.T) {
	t.Parallel()
	const count = 2000
	for _, slots := range []int{Singles, Group} {
		RunVirtual(t, fmt.Sprint(slots), func(t *testing.T) {
			f := newFleet(t, requests.Config{Token: "t0ken", MaxConcurrent: slots}, func(stream int, _ time.Duration) http.HandlerFunc {
				if stream%5 == 0 {
					return RespondError(503, "down")
				}
				return nil
			})
			for n, err := range UpdateGroup(t, f.client, count, groupLimit) {
				if (err != nil) != (n%5 == 0) {
					t.Errorf("stream %d: %v", n, err)
				}
			}
			if took := time.Since(f.start); took > 5*time.Minute {
				t.Errorf("took %s", took)
			} else {
				t.Logf("%s: %s", t.Name(), took)
			}
		})
	}
}

// A credential that dies in the run costs the rest of a group two rejected attempts each, a second apart.
func TestCredentialDies(t *testing.T) {
	t.Parallel()
	const count = 2000
	for _, slots := range []int{Singles, Group} {
		RunVirtual(t, fmt.Sprint(slots), func(t *testing.T) {
			var taken atomic.Int32
			f := newFleet(t, requests.Config{Token: "t0ken", MaxConcurrent: slots}, func(int, time.Duration) http.HandlerFunc {
				if taken.Add(1) > count/3 {
					return RespondError(401, "expired")
				}
				return nil
			})
			for _, err := range UpdateGroup(t, f.client, count, groupLimit) {
				if err != nil && AsError(t, err).Accepted != requests.AcceptedUpdates {
					t.Errorf("%+v", err)
				}
			}
			if took := time.Since(f.start); took > time.Minute || len(f.Requests()) > 2*count {
				t.Errorf("took %s, and %d requests", took, len(f.Requests()))
			}
		})
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
