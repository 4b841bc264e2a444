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

// script is a connection on which the n-th attempt takes the n-th step, and later ones the last.
type scriptedTransport struct {
	responses []func(*http.Request) (*http.Response, error)
	times     []time.Time // of each attempt
}

func (s *scriptedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	s.times = append(s.times, time.Now())
	step := s.responses[min(len(s.times), len(s.responses))-1]
	return step(req)
}

// waits are the times between the attempts.
func (s *scriptedTransport) waits() []time.Duration {
	var waits []time.Duration
	for i := 1; i < len(s.times); i++ {
		waits = append(waits, s.times[i].Sub(s.times[i-1]))
	}
	return waits
}

func traceConnection(req *http.Request) {
	httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{})
}

func respond(status int, text string, header ...string) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		traceConnection(req)
		resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewBufferString(text)), Request: req}
		for i := 0; i < len(header); i += 2 {
			resp.Header.Add(header[i], header[i+1])
		}
		return resp, nil
	}
}

func failWith(err error) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// silence takes the request and never answers.
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

// play runs an update over a script, in the bubble's time.
func runUpdate(t *testing.T, cfg Config, limit time.Duration, steps ...func(*http.Request) (*http.Response, error)) (*scriptedTransport, *Error) {
	t.Helper()
	cfg.BaseURL = "https://host.example"
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &scriptedTransport{responses: steps}
	c.base = s
	ctx := t.Context()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	_, err = c.UpdateStream(ctx, "s1", NewProcessorSet("p1"))
	e := (*Error)(nil)
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("%v (%T) is no *Error", err, err)
	}
	return s, e
}
