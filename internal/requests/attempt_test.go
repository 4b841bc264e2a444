package requests_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// The request timeout covers the body of the response. HTTP/1.1 and HTTP/2 report it in different ways.
func TestRequestTimeout(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		noBody := func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
		cfg := requests.Config{RequestTimeout: time.Second, TLS: transport.TLS{InsecureSkipVerify: true}}
		for _, s := range []*Service{StartService(t, noBody), StartTLSService(t, nil, noBody), StartTLSService(t, nil, NeverRespond)} {
			e := s.UpdateError(t, cfg)
			switch e.Status {
			case 0:
				if e.Kind != streams.KindTimeout || e.Reason != "the service did not respond within 1s" ||
					!errors.Is(e.Err, requests.ErrRequestTimeout) {
					t.Errorf("%s: error %#v", s.URL, e)
				}
			default:
				if e.Kind != streams.KindConnection || e.Reason != "the response is incomplete: its end did not arrive within 1s" ||
					!errors.Is(e.Err, requests.ErrIncomplete) || e.Outcome != streams.Unknown {
					t.Errorf("%s: error %#v", s.URL, e)
				}
			}
		}
	})
}

// However short a request timeout is, it ends each attempt, and nothing else.
func TestShortRequestTimeout(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{1, 2, time.Microsecond} {
		RunVirtual(t, timeout.String(), func(t *testing.T) {
			s := StartService(t, NeverRespond)
			for _, err := range UpdateAll(t, NewClient(t, requests.Config{BaseURL: s.URL, RequestTimeout: timeout}), 20) {
				if e := AsError(t, err); e.Kind != streams.KindTimeout || !errors.Is(e, requests.ErrRequestTimeout) {
					t.Errorf("error %#v", e)
				}
			}
		})
	}
}

// Temporary faults and a success take no other requests, and all are the same. Observe gets each attempt once, with its
// result and the wait before the next one.
func TestObserve(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		later := RespondError(503, "later")
		s := StartService(t, later, ResetConnection, RespondTruncated(200), ApplyUpdate)
		var got []string
		key := struct{ name string }{"key"}
		ctx := context.WithValue(t.Context(), key, "value")
		c := NewClient(t, requests.Config{BaseURL: s.URL, Observe: func(ctx context.Context, a requests.Attempt) {
			if ctx.Value(key) != "value" || a.Method != "PATCH" || a.URL != s.URL+"/v2/streams/s1" || a.Retry != (a.RetryWait > 0) {
				t.Errorf("attempt %+v", a)
			}
			got = append(got, fmt.Sprintf("%d: %s → %d %s %s, retry %t", a.Number, a.RequestBody, a.Status, a.Err, a.ResponseBody, a.Retry))
		}})
		if _, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet("p1")); err != nil {
			t.Fatal(err)
		}
		const sent = `{"processor_ids":["p1"]}`
		WantEqual(t, "attempts", []string{
			"1: " + sent + ` → 503  {"message":"later"}, retry true`,
			"2: " + sent + " → 0 EOF , retry true",
			"3: " + sent + " → 0 the response is incomplete: unexpected EOF {, retry true",
			"4: " + sent + " → 200  " + StreamJSON("s1", []string{"p1"}) + ", retry false",
		}, got)
		first := s.Requests()[0]
		s.WantReceived(t, first, first, first, first)
	})
}

// The body of a 101 is the connection. The client closes it and does not wait for its end.
func TestSwitchingProtocols(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		closed := make(chan struct{})
		s := StartService(t, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Upgrade\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn) // until the client closes the connection
			close(closed)
		})
		s.WantError(t, s.UpdateError(t, requests.Config{}),
			streams.KindUnexpected, streams.Unknown, requests.Result{Status: 101, Attempts: 1})
		<-closed
	})
}
