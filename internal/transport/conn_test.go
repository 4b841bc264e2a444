package transport_test

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

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
