// Package scripted is the harness of the client's tests: a service that responds as a test says, and updates that the test
// sends to it. Tests import it with a dot. What the real service would do is in package streamstest.
package scripted

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// Service gives the n-th request the n-th response, and later requests the last one. It records the requests.
type Service struct {
	*httptest.Server
	responses []http.HandlerFunc

	mu       sync.Mutex
	received []ReceivedRequest
}

// ReceivedRequest is a request as the service received it.
type ReceivedRequest struct {
	Method string
	Target string // as on the wire
	Header http.Header
	Body   string
	Proto  string
	Length int64
	At     time.Time
}

// NewService returns a service that is not started yet.
func NewService(t *testing.T, responses ...http.HandlerFunc) *Service {
	t.Helper()
	s := &Service{responses: responses}
	s.Server = &httptest.Server{Listener: streamstest.Listen(), EnableHTTP2: true, Config: &http.Server{Handler: s}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // the tests abort responses and handshakes
	t.Cleanup(s.Close)
	return s
}

// StartService starts a service that speaks plain HTTP.
func StartService(t *testing.T, responses ...http.HandlerFunc) *Service {
	t.Helper()
	s := NewService(t, responses...)
	s.Start()
	return s
}

// StartTLSService starts a service whose certificate is for 127.0.0.1 and example.com, from an unknown authority.
func StartTLSService(t *testing.T, config *tls.Config, responses ...http.HandlerFunc) *Service {
	t.Helper()
	s := NewService(t, responses...)
	s.TLS = config
	s.StartTLS()
	return s
}

// StartTCPService is like StartTLSService, with sockets: in memory, a service that rejects a client and a client that still
// sends would wait for each other. Its clients need DialTCP.
func StartTCPService(t *testing.T, config *tls.Config, responses ...http.HandlerFunc) *Service {
	t.Helper()
	s := NewService(t, responses...)
	var err error
	if s.Listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.TLS = config
	s.StartTLS()
	return s
}

// DialTCP connects with sockets.
var DialTCP = new(net.Dialer).DialContext

// ServeHTTP records a request and responds.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	request := ReceivedRequest{r.Method, r.RequestURI, r.Header.Clone(), string(body), r.Proto, r.ContentLength, time.Now()}
	s.received = append(s.received, request)
	response := s.responses[min(len(s.received), len(s.responses))-1]
	s.mu.Unlock()
	response(w, r)
}

// Requests returns what the service has received so far.
func (s *Service) Requests() []ReceivedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ReceivedRequest(nil), s.received...)
}

// Waits returns the times between the requests.
func (s *Service) Waits() []time.Duration {
	var waits []time.Duration
	for i, r := range s.Requests()[1:] {
		waits = append(waits, r.At.Sub(s.Requests()[i].At))
	}
	return waits
}

// WantRequests checks how many requests the service has received.
func (s *Service) WantRequests(t *testing.T, want int) {
	t.Helper()
	if got := len(s.Requests()); got != want {
		t.Errorf("the service received %d requests, want %d", got, want)
	}
}

// WantReceived expects these requests and no others.
func (s *Service) WantReceived(t *testing.T, want ...ReceivedRequest) {
	t.Helper()
	WantEqual(t, "requests", want, s.Requests(), cmpopts.IgnoreFields(ReceivedRequest{}, "At"))
}

// CAPEM returns the certificate of the service, which is its own authority.
func (s *Service) CAPEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}
