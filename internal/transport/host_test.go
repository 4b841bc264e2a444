package transport_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// resetStreams resets each request over HTTP/2, and counts them.
func resetStreams(code http2.ErrCode, count *atomic.Int32) map[string]func(*http.Server, *tls.Conn, http.Handler) {
	return map[string]func(*http.Server, *tls.Conn, http.Handler){"h2": func(_ *http.Server, conn *tls.Conn, _ http.Handler) {
		framer, writes := http2.NewFramer(conn, conn), make(chan func() error, 10)
		defer close(writes)
		go func() { // not before the next read, because both sides of a connection in memory would wait for each other
			for write := range writes {
				_ = write()
			}
		}()
		writes <- func() error { return framer.WriteSettings() }
		_, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface)))
		for err == nil {
			var frame http2.Frame
			if frame, err = framer.ReadFrame(); err == nil && frame.Header().Type == http2.FrameHeaders {
				count.Add(1)
				id := frame.Header().StreamID
				writes <- func() error { return framer.WriteRSTStream(id, code) }
			}
		}
	}}
}

// A reset is retried over HTTP/2. Its text is the same for each request: the number that HTTP/2 gave to one says nothing.
func TestReset(t *testing.T) {
	t.Parallel()
	var resets atomic.Int32
	s := NewService(t, ApplyUpdate)
	s.Config.TLSNextProto = resetStreams(http2.ErrCodeInternal, &resets)
	s.StartTLS()
	e := s.UpdateError(t, requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM()}})
	if WantFailed(t, e, streams.KindConnection, streams.Unknown, 5); resets.Load() != 5 {
		t.Errorf("%d resets", resets.Load())
	}
	WantEqual(t, "reason", "the connection failed: the server ended the request: stream error INTERNAL_ERROR", e.Reason)
	s.WantRequests(t, 0)
}

// A connection of HTTP/2 that dies without a word costs an attempt at most, however many streams it has, and whether it dies
// before the request, during it, or long before the next one.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	const latency = time.Second
	for name, test := range map[string]struct {
		idle, during time.Duration // before and after the requests are sent
		attempts     int
	}{
		"before the requests": {0, 0, 2}, "during the requests": {0, latency / 2, 2}, "idle": {time.Minute, 0, 1},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			s := StartTLSService(t, nil, RespondAfter(latency, ApplyUpdate))
			var network Relay
			var attempts atomic.Int32
			c := NewClient(t, requests.Config{
				BaseURL: s.URL, TLS: transport.TLS{CACertPEM: s.CAPEM()}, Retry: requests.DefaultRetry, DialContext: network.Dial,
				Observe: func(_ context.Context, a requests.Attempt) { attempts.Store(max(attempts.Load(), int32(a.Number))) },
			})
			MustUpdateAll(t, c, 1)
			if test.during > 0 {
				time.AfterFunc(test.during, func() { network.Freeze() })
			} else if conns := network.Freeze(); conns != 1 {
				t.Errorf("%d connections", conns)
			}
			<-time.After(test.idle)
			start := time.Now()
			MustUpdateAll(t, c, 10)
			if took := time.Since(start); attempts.Load() != int32(test.attempts) || took > 25*time.Second {
				t.Errorf("%d attempts, %s", attempts.Load(), took)
			}
		})
	}
}

// After an attempt without a response, the next one uses a new connection: one over which nothing comes costs one attempt,
// with HTTP/1.1 and with HTTP/2, whether it dies before the response or in it, and however many others have died with it.
func TestNewConnectionAfterNoResponse(t *testing.T) {
	t.Parallel()
	slowly := RespondAfter(time.Second, ApplyUpdate)
	inBody := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		slowly(w, r)
	}
	for name, test := range map[string]struct {
		response http.HandlerFunc
		during   time.Duration // the requests; 0: before them
	}{"before": {slowly, 0}, "during": {slowly, time.Second / 2}, "in the body": {inBody, time.Second / 2}} {
		for protocol, config := range map[string]*tls.Config{"HTTP/2": nil, "HTTP/1.1": {NextProtos: []string{"http/1.1"}}} {
			for _, parallel := range []int{1, Singles, Group} {
				RunVirtual(t, fmt.Sprint(name, "/", protocol, "/", parallel), func(t *testing.T) {
					s := StartTLSService(t, config, test.response)
					var network Relay
					var attempts atomic.Int32
					c := NewClient(t, requests.Config{
						BaseURL: s.URL, TLS: transport.TLS{CACertPEM: s.CAPEM()}, Retry: requests.DefaultRetry, RequestTimeout: 5 * time.Second, MaxConcurrent: parallel, DialContext: network.Dial,
						Observe: func(_ context.Context, a requests.Attempt) { attempts.Store(max(attempts.Load(), int32(a.Number))) },
					})
					if err := errors.Join(UpdateParallel(t, c, parallel, parallel, time.Minute)...); err != nil {
						t.Fatal(err)
					}
					if test.during > 0 {
						time.AfterFunc(test.during, func() { network.Freeze() })
					} else {
						network.Freeze()
					}
					start := time.Now()
					err := errors.Join(UpdateParallel(t, c, parallel, parallel, time.Minute)...)
					if took := time.Since(start); err != nil || attempts.Load() != 2 || took > 9*time.Second {
						t.Errorf("%d attempts, %s: %.300v", attempts.Load(), took, err)
					}
					<-time.After(time.Minute) // pings end what has died
				})
			}
		}
	}
}

// If every connection dies after the handshake, the service counts as one that does not respond.
func TestDeadConnections(t *testing.T) {
	Virtual(t, func(t *testing.T) {
		s := StartTLSService(t, nil, NeverRespond)
		var network Relay
		c := NewClient(t, requests.Config{
			BaseURL: s.URL, TLS: transport.TLS{CACertPEM: s.CAPEM()}, Retry: requests.DefaultRetry,
			DialContext: func(ctx context.Context, net, address string) (net.Conn, error) {
				time.AfterFunc(time.Second, func() { network.Freeze() })
				return network.Dial(ctx, net, address)
			},
		})
		start := time.Now()
		for _, err := range UpdateAll(t, c, 300) {
			if !errors.Is(err, transport.ErrNoPong) && !errors.Is(err, requests.ErrRequestTimeout) {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took > 240*time.Second {
			t.Errorf("300 streams took %s", took)
		}
	})
}

// The header of a response is bounded, so that 64 of them at a time fit into memory.
func TestLongResponseHeader(t *testing.T) {
	t.Parallel()
	for length, works := range map[int]bool{200 << 10: true, 300 << 10: false} {
		for _, protocol := range []string{"HTTP/2.0", "HTTP/1.1"} {
			s := NewService(t, Respond(200, StreamJSON("s1", []string{"p1"}), "X-Long", strings.Repeat("a", length)))
			s.EnableHTTP2 = protocol == "HTTP/2.0"
			s.StartTLS()
			_, err := s.Update(t, requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM()}, Retry: requests.Retry{MaxAttempts: 1}})
			if (err == nil) != works {
				t.Errorf("%d bytes over %s: %v", length, protocol, err)
			}
			WantEqual(t, "protocol", protocol, s.Requests()[0].Proto)
		}
	}
}

// Requests reuse connections, in sequence and in parallel, also after rejections.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]http.HandlerFunc{
		"success": ApplyUpdate, "HTML": Respond(409, "<h1>No</h1>"),
		"redirect": RespondError(302, "moved", "Location", "/"), "no content": Respond(204, ""),
	} {
		RunVirtual(t, name, func(t *testing.T) {
			const parallel = 10 // as in updateAll; Go's default would keep two idle connections
			s := StartService(t, RespondAfter(time.Second, ApplyUpdate), RespondAfter(time.Second, response))
			var connections atomic.Int32
			count := func(ctx context.Context, network, address string) (net.Conn, error) {
				connections.Add(1)
				return streamstest.Dial(ctx, network, address)
			}
			c := NewClient(t, requests.Config{BaseURL: s.URL, Retry: requests.Retry{MaxAttempts: 1}, DialContext: count})
			for range 4 {
				UpdateAll(t, c, parallel)
				<-time.After(time.Second) // until all connections are idle
			}
			s.WantRequests(t, 4*parallel)
			if got := connections.Load(); got != parallel {
				t.Errorf("%d connections, want %d", got, parallel)
			}
		})
	}
}
