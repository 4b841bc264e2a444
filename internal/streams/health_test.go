package streams_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

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
