package streams_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// service gives the n-th request the n-th response, and later requests the last one. It records the requests.
type service struct {
	*httptest.Server
	responses []http.HandlerFunc

	mu       sync.Mutex
	received []receivedRequest
}

// receivedRequest is a request as the service received it.
type receivedRequest struct {
	Method string
	Target string // as on the wire
	Header http.Header
	Body   string
	Proto  string
	Length int64
	at     time.Time
}

func newService(t *testing.T, responses ...http.HandlerFunc) *service {
	t.Helper()
	s := &service{responses: responses}
	s.Server = &httptest.Server{Listener: streamstest.Listen(), EnableHTTP2: true, Config: &http.Server{Handler: s}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // the tests abort responses and handshakes
	t.Cleanup(s.Close)
	return s
}

func startService(t *testing.T, responses ...http.HandlerFunc) *service {
	t.Helper()
	s := newService(t, responses...)
	s.Start()
	return s
}

// startTLSService starts a service whose certificate is for 127.0.0.1 and example.com, from an unknown authority.
func startTLSService(t *testing.T, config *tls.Config, responses ...http.HandlerFunc) *service {
	t.Helper()
	s := newService(t, responses...)
	s.TLS = config
	s.StartTLS()
	return s
}

// startTCPService is like startTLSService, with sockets: in memory, a service that rejects a client and a client that still
// sends would wait for each other. Its clients need dialTCP.
func startTCPService(t *testing.T, config *tls.Config, responses ...http.HandlerFunc) *service {
	t.Helper()
	s := newService(t, responses...)
	var err error
	if s.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.TLS = config
	s.StartTLS()
	return s
}

var dialTCP = new(net.Dialer).DialContext

// relay makes connections that can die without a word, as at a router that has forgotten them.
type relay struct {
	mu    sync.Mutex
	conns []*relayedConn
}

type relayedConn struct {
	net.Conn
	dead, closed chan struct{}
	die, end     func()
}

// Dial connects to a listener in memory.
func (r *relay) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := streamstest.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &relayedConn{Conn: conn, dead: make(chan struct{}), closed: make(chan struct{})}
	c.die, c.end = sync.OnceFunc(func() { close(c.dead) }), sync.OnceFunc(func() { close(c.closed) })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, c)
	return c, nil
}

// freeze lets all connections die, and returns how many there have been. New ones work.
func (r *relay) freeze() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		c.die()
	}
	return len(r.conns)
}

func (c *relayedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case <-c.dead:
		<-c.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (c *relayedConn) Write(b []byte) (int, error) {
	select {
	case <-c.dead:
		return len(b), nil
	default:
		return c.Conn.Write(b)
	}
}

func (c *relayedConn) Close() error {
	c.end()
	return c.Conn.Close()
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	request := receivedRequest{r.Method, r.RequestURI, r.Header.Clone(), string(body), r.Proto, r.ContentLength, time.Now()}
	s.received = append(s.received, request)
	response := s.responses[min(len(s.received), len(s.responses))-1]
	s.mu.Unlock()
	response(w, r)
}

func (s *service) requests() []receivedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]receivedRequest(nil), s.received...)
}

// waits returns the times between the requests.
func (s *service) waits() []time.Duration {
	var waits []time.Duration
	for i, r := range s.requests()[1:] {
		waits = append(waits, r.at.Sub(s.requests()[i].at))
	}
	return waits
}

func (s *service) wantRequests(t *testing.T, want int) {
	t.Helper()
	if got := len(s.requests()); got != want {
		t.Errorf("the service received %d requests, want %d", got, want)
	}
}

// wantReceived expects these requests and no others.
func (s *service) wantReceived(t *testing.T, want ...receivedRequest) {
	t.Helper()
	wantEqual(t, "requests", want, s.requests(), cmpopts.IgnoreUnexported(receivedRequest{}))
}

// newClient returns a client over the in-memory network. It retries at once, unless the configuration says otherwise.
func newClient(t *testing.T, cfg requests.Config) *streams.Client {
	t.Helper()
	if cfg.Retry == (requests.Retry{}) {
		cfg.Retry = requests.Retry{MaxAttempts: 5, MinBackoff: time.Nanosecond, MaxBackoff: time.Nanosecond}
	}
	if cfg.DialContext == nil {
		cfg.DialContext = streamstest.Dial
	}
	c, err := streams.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// update attaches processor p1 to stream s1, within an hour.
func (s *service) update(t *testing.T, cfg requests.Config) (*streams.Stream, error) {
	t.Helper()
	return s.updateWithin(t, cfg, time.Hour)
}

func (s *service) updateWithin(t *testing.T, cfg requests.Config, limit time.Duration) (*streams.Stream, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cfg.BaseURL = s.URL
	return newClient(t, cfg).UpdateStream(ctx, "s1", streams.NewProcessorSet("p1"))
}

// updateError expects that the update fails, and returns its error.
func (s *service) updateError(t *testing.T, cfg requests.Config) *streams.Error {
	t.Helper()
	stream, err := s.update(t, cfg)
	if stream != nil {
		t.Errorf("a failed update returned the stream %+v", stream)
	}
	return asError(t, err)
}

// wantError checks all fields of the error of an update, except the cause.
func (s *service) wantError(t *testing.T, err error, want streams.Error) {
	t.Helper()
	want.Method, want.URL = "PATCH", s.URL+"/v2/streams/s1"
	wantEqual(t, "error", &want, asError(t, err), cmpopts.IgnoreFields(streams.Error{}, "Err", "Header"), ignoreShown)
}

var ignoreShown = cmpopts.IgnoreUnexported(streams.Stream{})

// updateAll updates as many streams as single resources do with the default time limit, and returns the errors.
func updateAll(t *testing.T, c *streams.Client, count int) []error {
	t.Helper()
	return updateParallel(t, c, count, singles, 5*time.Minute)
}

// singles and group are how many operations run at a time: those of single resources, as Terraform does, and of a group.
const singles, group = 10, 64

// updateParallel updates streams, so many at a time. Each operation has a time limit.
func updateParallel(t *testing.T, c *streams.Client, count, parallel int, limit time.Duration) []error {
	t.Helper()
	errs := make([]error, count)
	var workers errgroup.Group
	workers.SetLimit(parallel)
	for n, id := range streamIDs(count) {
		workers.Go(func() error {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			_, errs[n] = c.UpdateStream(ctx, id, streams.NewProcessorSet("p1"))
			return nil
		})
	}
	_ = workers.Wait() // the errors are in errs
	return errs
}

func mustUpdateAll(t *testing.T, c *streams.Client, count int) {
	t.Helper()
	if err := errors.Join(updateAll(t, c, count)...); err != nil {
		t.Errorf("after all updates: %v", err)
	}
}

func asError(t *testing.T, err error) *streams.Error {
	t.Helper()
	e, ok := errors.AsType[*streams.Error](err)
	if !ok {
		t.Fatalf("error %v (%T) is not a *streams.Error", err, err)
	}
	return e
}

func wantFailed(t *testing.T, e *streams.Error, kind streams.Kind, outcome streams.Outcome, attempts int) {
	t.Helper()
	if e.Kind != kind || e.Outcome != outcome || e.Attempts != attempts {
		t.Errorf("error %#v", e)
	}
}

func wantEqual(t *testing.T, what string, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// respond sends a status, a body and pairs of header name and value.
func respond(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func respondError(status int, message string, header ...string) http.HandlerFunc {
	return respond(status, toJSON(map[string]string{"message": message}), header...)
}

// applyUpdate responds with a stream that has the processors of the request; for a read, none.
func applyUpdate(w http.ResponseWriter, r *http.Request) {
	var update struct {
		IDs []string `json:"processor_ids"`
	}
	_ = json.NewDecoder(r.Body).Decode(&update)
	path := r.URL.EscapedPath()
	id, _ := url.PathUnescape(path[strings.LastIndex(path, "/")+1:])
	respond(http.StatusOK, streamJSON(id, update.IDs))(w, r)
}

// respondAfter responds after a time, unless the client gives up before.
func respondAfter(d time.Duration, response http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(d):
			response(w, r)
		case <-r.Context().Done():
		}
	}
}

func resetConnection(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// respondTruncated sends less than the Content-Length and then ends the connection.
func respondTruncated(status int) http.HandlerFunc {
	return respondRaw(fmt.Sprintf("HTTP/1.1 %d cut\r\nContent-Length: 1000\r\n\r\n{", status))
}

// respondRaw sends bytes that need not be HTTP.
func respondRaw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
	}
}

func neverRespond(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func streamJSON(id string, processors []string) string {
	return streamWith(map[string]string{"id": toJSON(id), "processor_ids": toJSON(append([]string{}, processors...))})
}

func toJSON(value any) string {
	encoded, _ := json.Marshal(value)
	return string(encoded)
}

// virtual runs a test with a clock of its own, which goes on when all goroutines wait.
func virtual(t *testing.T, test func(*testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

func runVirtual(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { virtual(t, test) })
}
