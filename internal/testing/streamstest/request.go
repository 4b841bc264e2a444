package streamstest

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Request is a request as the service received it, and its result. Its Header must not be changed.
type Request struct {
	Method   string
	Target   string // as received: escaped, with the query
	StreamID string // decoded; empty if the path is not that of a stream
	Header   http.Header
	Body     string

	Status  int       // of the response; 0 if there is no complete response, or not yet
	Applied bool      // the service set the processors of the stream
	Message bool      // the response has the error body of the service (section 2)
	Start   time.Time // when the header had been received
	End     time.Time // just before the response was sent; zero before that

	path string // escaped
}

// String returns the request and its result in one line, such as
//
//	PATCH /v2/streams/a%2Fb {"processor_ids":["p1"]} → 200
func (r Request) String() string {
	if r.Status == 0 {
		return r.line() + " → no response"
	}
	return r.line() + " → " + strconv.Itoa(r.Status)
}

func (r Request) line() string {
	return strings.TrimSpace(r.Method + " " + r.Target + " " + r.Body)
}

// readRequest reads the whole request: only then does its context end when the client disconnects. An error means that
// the client disconnected or sent an invalid body.
func readRequest(r *http.Request) (*Request, error) {
	start := time.Now()
	body, err := io.ReadAll(r.Body)
	return &Request{
		Method: r.Method, Target: r.RequestURI, Header: r.Header.Clone(), Body: string(body),
		Start: start, path: r.URL.EscapedPath(),
	}, err
}

// record is the requests of a server in the order of arrival.
type record struct {
	mu       sync.Mutex // also guards what the server keeps beside it
	requests []*Request
}

// Requests returns a copy of the requests in the order of arrival, including those without a response yet. When a client
// has its response, the request is recorded with its status.
func (r *record) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	copies := make([]Request, len(r.requests))
	for i, request := range r.requests {
		copies[i] = *request
	}
	return copies
}

// ForgetRequests deletes the recorded requests.
func (r *record) ForgetRequests() {
	r.DrainRequests()
}

// DrainRequests deletes the recorded requests and returns them, one "METHOD target body" for each.
func (r *record) DrainRequests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for _, request := range r.requests {
		lines = append(lines, request.line())
	}
	r.requests = nil
	return lines
}
