package transport_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// After Avoid, no request goes over the connection of the exchange. Over HTTP/1.1, the others are used again if it was a new one.
func TestAvoid(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		protocol      string
		used          bool  // before the exchange
		before, after int32 // connections, of two requests at a time
	}{{"HTTP/1.1", false, 2, 3}, {"HTTP/1.1", true, 2, 4}, {"HTTP/2.0", false, 1, 2}, {"HTTP/2.0", true, 1, 2}} {
		RunVirtual(t, fmt.Sprint(test), func(t *testing.T) {
			var dials atomic.Int32
			dial := func(ctx context.Context, network, address string) (net.Conn, error) {
				dials.Add(1)
				return streamstest.Dial(ctx, network, address)
			}
			s := startOver(t, test.protocol, RespondAfter(time.Second, ApplyUpdate))
			n := newNetwork(t, s.URL, transport.Settings{MaxConcurrent: 2, DialContext: dial})
			var exchanges [2]transport.Exchange
			both := func() {
				var requests sync.WaitGroup
				for i := range exchanges {
					requests.Go(func() {
						var err error
						if exchanges[i], err = send(t.Context(), n, s.URL); err != nil || !exchanges[i].Written {
							t.Errorf("%+v, %v", exchanges[i], err)
						}
					})
					<-time.After(time.Millisecond) // package http may make more connections for requests that begin at once
				}
				requests.Wait()
			}
			if both(); test.used {
				both()
			}
			if got := dials.Load(); got != test.before {
				t.Errorf("%d connections before, want %d", got, test.before)
			}
			exchanges[0].Avoid()
			both()
			both()
			if got := dials.Load(); got != test.after {
				t.Errorf("%d connections, want %d", got, test.after)
			}
		})
	}
}

// A firewall may drop what begins a connection. The request was not sent then. Operations that send nothing because of it say
// the same.
func TestNoConnection(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		silent := requests.Config{BaseURL: "https://streams.invalid", Token: "t", Retry: requests.DefaultRetry, DialContext: neverConnect}
		for _, err := range UpdateAll(t, NewClient(t, silent), 100) {
			if e := AsError(t, err); !errors.Is(e, transport.ErrNoConnection) || !strings.HasSuffix(e.Reason, ": no connection was made") {
				t.Fatalf("error %#v", e)
			}
		}
		c := NewClient(t, requests.Config{BaseURL: "https://streams.invalid", DialContext: neverConnect})
		e := AsError(t, UpdateAll(t, c, 1)[0])
		if WantFailed(t, e, streams.KindTimeout, streams.NotChanged, 5); !errors.Is(e, transport.ErrNoConnection) {
			t.Errorf("error %#v", e)
		}
		streamstest.WantText(t, e.Reason, "the service did not respond within 30s: no connection was made")
	})
}

// Package net gives up earlier than the request timeout. The request is retried then.
func TestSilentHost(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		dials := 0
		silent := func(context.Context, string, string) (net.Conn, error) {
			dials++
			<-time.After(10 * time.Second)
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded}
		}
		s := &Service{Server: &httptest.Server{URL: "https://streams.invalid"}}
		e := s.UpdateError(t, requests.Config{DialContext: silent})
		if WantFailed(t, e, streams.KindConnection, streams.NotChanged, 5); dials != 5 || !errors.Is(e, transport.ErrNoConnection) {
			t.Errorf("%d connections, %#v", dials, e)
		}
		WantEqual(t, "reason", "the connection failed: no connection was made: dial tcp: context deadline exceeded", e.Reason)
	})
}

// neverConnect gives up after two minutes, as a kernel does: package http goes on to connect without the request.
func neverConnect(ctx context.Context, _, _ string) (net.Conn, error) {
	select {
	case <-ctx.Done():
	case <-time.After(2 * time.Minute):
	}
	return nil, errors.New("timed out")
}
