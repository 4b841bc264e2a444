package streams_test

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Two temporary faults and a success take exactly three requests, which are the same.
func TestRetrySucceeds(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]streamstest.Fault{
		"429": {Status: 429}, "500 applied": {Status: 500, Apply: true},
		"reset before": {ResetBefore: true}, "reset after": {ResetAfter: true},
		"incomplete": {Truncate: true}, "incomplete 400": {Status: 400, Truncate: true},
	} {
		runVirtual(t, name, func(t *testing.T) {
			stand := streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "s1", ProcessorIDs: []string{"old"}})
			stand.Inject(fault, fault)
			s := startService(t, stand.ServeHTTP)
			stream, err := s.update(t, streams.Config{Token: "t0ken", UserAgent: "me"})
			if err != nil || stream.ProcessorIDs.String() != `["p1"]` {
				t.Errorf("%v, %v", stream, err)
			}
			first := s.requests()[0]
			s.wantReceived(t, first, first, first)
		})
	}
}

// Retry-After sets the wait, in seconds or as a date, also below MinBackoff and above MaxBackoff. Junk sets none.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const second, none = time.Second, 30 * time.Second
	for value, want := range map[string]time.Duration{ // a virtual clock starts on Saturday, 1 January 2000
		"0": 0, "7": 7 * second, "3600": time.Hour,
		"Sat, 01 Jan 2000 00:01:30 GMT":    90 * second,
		"Saturday, 01-Jan-00 00:01:00 GMT": time.Minute, // RFC 9110 requires the obsolete forms, too
		"Sat Jan  1 01:00:00 2000":         time.Hour,
		"Fri, 31 Dec 1999 23:59:59 GMT":    0,
		"":                                 none, "soon": none, "-1": none, "+1": none,
		"1.5": none, "1e3": none, "0x10": none, "5s": none, "1, 2": none,
		"2000-01-01T00:01:30Z": none, "٥": none,
	} {
		runVirtual(t, value, func(t *testing.T) {
			s := startService(t, respondError(503, "later", "Retry-After", value), applyUpdate)
			retry := streams.Retry{MaxAttempts: 3, MinBackoff: none, MaxBackoff: none}
			var logged []time.Duration
			observe := func(_ context.Context, a streams.Attempt) { logged = append(logged, a.RetryWait) }
			if _, err := s.updateWithin(t, streams.Config{Retry: retry, Observe: observe}, 2*time.Hour); err != nil {
				t.Error(err)
			}
			wantEqual(t, "waits", []time.Duration{want}, s.waits())
			wantEqual(t, "waits in the log", []time.Duration{want, 0}, logged)
		})
	}
}

// When the service as a whole does not work, one operation uses up its attempts, and the others make one each: 100
// streams take at most 2.5 times as long as one, however the service fails.
func TestOutage(t *testing.T) {
	t.Parallel()
	const standard = 5 * time.Minute
	refused := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return streamstest.Dial(ctx, network, "nobody:1")
	}
	for name, test := range map[string]struct {
		response http.HandlerFunc
		dial     func(context.Context, string, string) (net.Conn, error)
		limit    time.Duration
	}{
		"503":                     {respondError(503, "later"), streamstest.Dial, standard},
		"503, 3 s":                {respondError(503, "later"), streamstest.Dial, 3 * time.Second},
		"connections are refused": {nil, refused, standard},
		"no connections":          {nil, nil, standard},
		"no responses":            {neverRespond, streamstest.Dial, standard},
		"no responses, 40 s":      {neverRespond, streamstest.Dial, 40 * time.Second},
	} {
		runVirtual(t, name, func(t *testing.T) {
			done := make(chan struct{})
			defer close(done)
			if test.dial == nil {
				test.dial = func(context.Context, string, string) (net.Conn, error) {
					<-done // Go's HTTP library does not end an attempt to connect that no request waits for
					return nil, net.ErrClosed
				}
			}
			measure := func(count int) (time.Duration, []error) {
				s := startService(t, test.response)
				c := newClient(t, streams.Config{BaseURL: s.URL, DialContext: test.dial, Retry: streams.DefaultRetry})
				start := time.Now()
				errs := updateWithin(t, c, count, test.limit)
				return time.Since(start), errs
			}
			var one time.Duration
			for range 5 { // the waits before retries are random
				took, errs := measure(1)
				if one += took / 5; asError(t, errs[0]).Attempts < 2 {
					t.Errorf("one stream: %v", errs[0])
				}
			}
			all, errs := measure(100)
			if all > one*5/2 {
				t.Errorf("100 streams take %s, one takes %s", all, one)
			}
			for n, err := range errs[20:] {
				if e := asError(t, err); e.Attempts != 1 || !e.Repeated {
					t.Errorf("stream %d: %v", n+20, err)
				}
			}
		})
	}
}

// Responses during the five attempts of an operation show that the service works, and an outage of seconds is
// shorter than all attempts of any operation.
func TestNoOutage(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := startService(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/s1") {
				respondError(500, "broken")(w, r)
				return
			}
			applyUpdate(w, r)
		})
		c := newClient(t, streams.Config{BaseURL: s.URL, Retry: streams.DefaultRetry})
		var others sync.WaitGroup
		others.Go(func() {
			for range 100 {
				<-time.After(time.Second)
				_, _ = c.UpdateStream(t.Context(), "other", streams.NewProcessorSet())
			}
		})
		for range 3 {
			_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
			if e := asError(t, err); e.Attempts != 5 || e.Message != "broken" {
				t.Errorf("error %#v", e)
			}
		}
		others.Wait()

		back := time.Now().Add(4 * time.Second)
		s = startService(t, func(w http.ResponseWriter, r *http.Request) {
			if time.Now().Before(back) {
				panic(http.ErrAbortHandler)
			}
			applyUpdate(w, r)
		})
		mustUpdateAll(t, newClient(t, streams.Config{BaseURL: s.URL, Retry: streams.DefaultRetry}), 100)
	})
}

// An outage ends with the first response that shows that the service works. A service that limits requests works.
func TestOutageEnds(t *testing.T) {
	virtual(t, func(t *testing.T) {
		down, limited := respondError(503, "later"), respondError(429, "slow down")
		s := startService(t, down, down, down, down, down, down, respondError(404, "no"),
			limited, limited, limited, limited, limited, limited, limited, limited, limited, limited, down)
		c := newClient(t, streams.Config{BaseURL: s.URL})
		for i, want := range []struct{ status, attempts int }{{503, 5}, {503, 1}, {404, 1}, {429, 5}, {429, 5}, {503, 5}} {
			_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
			if e := asError(t, err); e.Status != want.status || e.Attempts != want.attempts {
				t.Errorf("operation %d: %#v", i+1, e)
			}
		}
	})
}

// 64 long responses at the same time take less than 200 MB, although each has 16 MiB.
func TestMemoryOfLongResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const parallel, size, limit = 64, 16 << 20, 1 << 20 // after the limit, the client has as much as it accepts
		first, last := make(chan struct{}), make(chan struct{})
		s := startService(t, func(w http.ResponseWriter, r *http.Request) {
			piece := make([]byte, 64<<10)
			for sent := 0; sent < size; sent += len(piece) {
				if step := map[int]chan struct{}{limit: first, size - len(piece): last}[sent]; step != nil {
					<-step
				}
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		})
		c := newClient(t, streams.Config{BaseURL: s.URL, RequestTimeout: time.Hour})
		heap := func() int {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int(m.HeapAlloc >> 20)
		}
		before := heap()
		var updates sync.WaitGroup
		for range parallel {
			updates.Go(func() {
				_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
				if e := asError(t, err); e.Reason != "the response is longer than 1 MiB" || e.Outcome != streams.Unknown {
					t.Errorf("error %.300v", e)
				}
			})
		}
		for _, step := range []chan struct{}{first, last} {
			synctest.Wait()
			if got := heap() - before; got > 200 {
				t.Errorf("%d MiB", got)
			}
			close(step)
		}
		updates.Wait()
		s.wantRequests(t, parallel)
	})
}
