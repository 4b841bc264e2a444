package streams_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// quick retries at once, as often as the default.
var quick = streams.Retry{MaxAttempts: 5, MinBackoff: time.Nanosecond, MaxBackoff: time.Nanosecond}

// service answers the n-th request with its n-th step and all others with the last. It keeps what it saw.
type service struct {
	*httptest.Server
	steps []http.HandlerFunc

	mu    sync.Mutex
	seen  []request
	conns map[net.Conn]bool
}

// request is a request as it arrived.
type request struct {
	Method string
	Target string // as on the wire
	Header http.Header
	Body   string
	Proto  string
	Length int64
}

func newService(t *testing.T, steps ...http.HandlerFunc) *service {
	t.Helper()
	s := &service{steps: steps, conns: map[net.Conn]bool{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // aborted answers and handshakes are what is tested
	s.Config.ConnState = func(c net.Conn, _ http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conns[c] = true
	}
	t.Cleanup(s.Close)
	return s
}

// serve starts a service over plain HTTP.
func serve(t *testing.T, steps ...http.HandlerFunc) *service {
	t.Helper()
	s := newService(t, steps...)
	s.Start()
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	s.seen = append(s.seen, request{r.Method, r.RequestURI, r.Header.Clone(), string(body), r.Proto, r.ContentLength})
	step := s.steps[min(len(s.seen), len(s.steps))-1]
	s.mu.Unlock()
	step(w, r)
}

func (s *service) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.seen...)
}

func (s *service) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// wantRequests checks how many requests arrived.
func (s *service) wantRequests(t *testing.T, want int) {
	t.Helper()
	if got := len(s.requests()); got != want {
		t.Errorf("the service saw %d requests, want %d", got, want)
	}
}

// answer sends a status and a body as they are.
func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// refuse sends the documented error body.
func refuse(status int, message string, header ...string) http.HandlerFunc {
	body, _ := json.Marshal(map[string]string{"message": message})
	return answer(status, string(body), header...)
}

// accept does what the update says and answers with the stream; a read finds no processors.
func accept(w http.ResponseWriter, r *http.Request) {
	var update struct {
		IDs []string `json:"processor_ids"`
	}
	_ = json.NewDecoder(r.Body).Decode(&update)
	path := r.URL.EscapedPath()
	id, _ := url.PathUnescape(path[strings.LastIndex(path, "/")+1:])
	answer(http.StatusOK, streamJSON(id, update.IDs))(w, r)
}

// reset cuts the connection without an answer, by a TCP reset.
func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2: resets the stream
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// truncated promises more than it sends.
func truncated(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"id":`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// hang never answers, until the client leaves.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func streamJSON(id string, processors []string) string {
	if processors == nil {
		processors = []string{}
	}
	body, _ := json.Marshal(map[string]any{
		"id": id, "terminal_id": "t1", "fragment_type_id": "image-jpg", "processor_ids": processors,
		"last_edited": 1718000000000, "compatible_namespaces": []string{"ns1"},
	})
	return string(body)
}

// connect returns a client that retries at once unless told otherwise.
func connect(t *testing.T, cfg streams.Config) *streams.Client {
	t.Helper()
	if cfg.Retry == (streams.Retry{}) {
		cfg.Retry = quick
	}
	c, err := streams.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// update sends one set to stream s1 of the service.
func (s *service) update(t *testing.T, cfg streams.Config) (*streams.Stream, error) {
	t.Helper()
	cfg.BaseURL = s.URL
	return connect(t, cfg).UpdateStream(t.Context(), "s1", streams.NewProcessorSet("p1"))
}

// fail expects that the update fails, and returns how.
func (s *service) fail(t *testing.T, cfg streams.Config) *streams.Error {
	t.Helper()
	stream, err := s.update(t, cfg)
	if stream != nil {
		t.Errorf("a failed update returned the stream %+v", stream)
	}
	return failure(t, err)
}

func failure(t *testing.T, err error) *streams.Error {
	t.Helper()
	e := (*streams.Error)(nil)
	if !errors.As(err, &e) {
		t.Fatalf("error %v (%T) is no *streams.Error", err, err)
	}
	return e
}

// wantText checks that text holds each part.
func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
}

// ended waits for an operation that a cancellation must end. The bound is for a busy machine; by
// itself, what these tests cancel would last for minutes.
func ended(t *testing.T, done <-chan error) error {
	t.Helper()
	bound, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	select {
	case err := <-done:
		return err
	case <-bound.Done():
		t.Fatal("still running long after its end")
		return nil
	}
}
