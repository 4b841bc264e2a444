package streams

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"syscall"
	"testing"
	"time"
)

// roundTrip is one attempt: the response to a request, or the error of the connection.
type roundTrip func(*http.Request) (*http.Response, error)

// scriptedTransport gives the n-th attempt the n-th response, and later attempts the last one.
type scriptedTransport struct {
	responses []roundTrip
	times     []time.Time // of each attempt
}

func scripted(responses ...roundTrip) *scriptedTransport {
	return &scriptedTransport{responses: responses}
}

func (s *scriptedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	s.times = append(s.times, time.Now())
	response := s.responses[min(len(s.times), len(s.responses))-1]
	return response(req)
}

// waits returns the times between the attempts.
func (s *scriptedTransport) waits() []time.Duration {
	var waits []time.Duration
	for i := 1; i < len(s.times); i++ {
		waits = append(waits, s.times[i].Sub(s.times[i-1]))
	}
	return waits
}

// traceConnection reports a new connection, as [http.Transport] does.
func traceConnection(req *http.Request) {
	httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{})
}

func respond(status int, text string, header ...string) roundTrip {
	return func(req *http.Request) (*http.Response, error) {
		traceConnection(req)
		resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewBufferString(text)), Request: req}
		for i := 0; i < len(header); i += 2 {
			resp.Header.Add(header[i], header[i+1])
		}
		return resp, nil
	}
}

func failWith(err error) roundTrip {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// neverRespond waits until the client gives up.
func neverRespond(req *http.Request) (*http.Response, error) {
	traceConnection(req)
	<-req.Context().Done()
	return nil, req.Context().Err()
}

const laterBody = `{"message":"later"}`

var (
	respondSuccess       = respond(200, streamBody(map[string]string{"processor_ids": `["p1"]`}))
	respond503           = respond(503, laterBody)
	errConnectionRefused = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
)

// transportFunc is a transport that responds to each attempt in the same way.
type transportFunc roundTrip

func (f transportFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// clientOver returns a client whose requests go to a transport.
func clientOver(t *testing.T, cfg Config, base http.RoundTripper) *Client {
	t.Helper()
	cfg.BaseURL = "https://host.example"
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.base = base
	return c
}

// asError returns nil for nil, and fails the test for an error of another type.
func asError(t *testing.T, err error) *Error {
	t.Helper()
	e := (*Error)(nil)
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("%v (%T) is not an *Error", err, err)
	}
	return e
}

// update attaches processor p1 to stream s1.
func update(t *testing.T, c *Client) *Error {
	t.Helper()
	_, err := c.UpdateStream(t.Context(), "s1", NewProcessorSet("p1"))
	return asError(t, err)
}

// runUpdate attaches processor p1 to stream s1, over a transport with these responses. A limit of 0
// means none.
func runUpdate(t *testing.T, cfg Config, limit time.Duration, responses ...roundTrip) (*scriptedTransport, *Error) {
	t.Helper()
	s := scripted(responses...)
	c := clientOver(t, cfg, s)
	ctx := t.Context()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	_, err := c.UpdateStream(ctx, "s1", NewProcessorSet("p1"))
	return s, asError(t, err)
}
