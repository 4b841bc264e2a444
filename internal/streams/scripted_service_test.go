package streams_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// scriptedService gives the n-th request the n-th response, and later requests the last one. It
// records the requests.
type scriptedService struct {
	*httptest.Server
	responses []http.HandlerFunc

	mu       sync.Mutex
	received []receivedRequest
	conns    map[net.Conn]bool
}

// receivedRequest is a request as the service received it.
type receivedRequest struct {
	Method string
	Target string // as on the wire
	Header http.Header
	Body   string
	Proto  string
	Length int64
}

func newScriptedService(t *testing.T, responses ...http.HandlerFunc) *scriptedService {
	t.Helper()
	s := &scriptedService{responses: responses, conns: map[net.Conn]bool{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // the tests abort responses and handshakes
	s.Config.ConnState = func(c net.Conn, _ http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conns[c] = true
	}
	t.Cleanup(s.Close)
	return s
}

// startService starts a service over plain HTTP.
func startService(t *testing.T, responses ...http.HandlerFunc) *scriptedService {
	t.Helper()
	s := newScriptedService(t, responses...)
	s.Start()
	return s
}

func (s *scriptedService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	s.received = append(s.received, receivedRequest{r.Method, r.RequestURI, r.Header.Clone(), string(body), r.Proto, r.ContentLength})
	response := s.responses[min(len(s.received), len(s.responses))-1]
	s.mu.Unlock()
	response(w, r)
}

func (s *scriptedService) requests() []receivedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]receivedRequest(nil), s.received...)
}

func (s *scriptedService) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// wantRequests checks the number of requests.
func (s *scriptedService) wantRequests(t *testing.T, want int) {
	t.Helper()
	if got := len(s.requests()); got != want {
		t.Errorf("the service received %d requests, want %d", got, want)
	}
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

// respondError sends the documented error body.
func respondError(status int, message string, header ...string) http.HandlerFunc {
	body, _ := json.Marshal(map[string]string{"message": message})
	return respond(status, string(body), header...)
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

// resetConnection ends the connection by a TCP reset, without a response.
func resetConnection(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // resets the HTTP/2 stream
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// respondTruncated sends less than the Content-Length and then ends the connection.
func respondTruncated(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"id":`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// neverRespond waits until the client gives up.
func neverRespond(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func streamJSON(id string, processors []string) string {
	if processors == nil {
		processors = []string{}
	}
	body, _ := json.Marshal(map[string]any{
		"id": id, "terminal_id": "t1", "fragment_type_id": "image-jpg", "processor_ids": processors,
		"last_edited": int64(1718000000000), "compatible_namespaces": []string{"ns1"},
	})
	return string(body)
}
