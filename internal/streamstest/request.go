package streamstest

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxBody is the longest request body that is accepted, in bytes. No limit is specified (INTERFACE.md, section 8).
const maxBody = 16 << 20

// maxStringBody is the longest body in [Request.String], in characters.
const maxStringBody = 1000

// Request is a request as the service received it, and its result.
type Request struct {
	Method     string
	Target     string // as received: escaped, with the query
	StreamID   string // decoded; empty if the path is not that of a stream
	Host       string
	Header     http.Header
	Body       string
	Proto      string               // "HTTP/1.1", "HTTP/2.0"
	TLS        *tls.ConnectionState // nil without TLS; must not be changed
	RemoteAddr string

	Status  int       // of the response; 0 if there is no complete response, or not yet
	Applied bool      // the service set the processors of the stream
	Start   time.Time // when the header had been received
	End     time.Time // just before the response was sent; zero before that
}

// String returns the request and its result in one line, such as
//
//	PATCH /v2/streams/a%2Fb {"processor_ids":["p1"]} → 200
//
// JSON is compacted, control characters are escaped and a long body is truncated. Headers are not shown.
func (r Request) String() string {
	line := []string{r.Method, r.Target}
	if r.Body != "" {
		line = append(line, compactBody(r.Body))
	}
	line = append(line, "→")
	switch {
	case r.Status != 0:
		line = append(line, strconv.Itoa(r.Status))
	case r.End.IsZero():
		line = append(line, "no response yet")
	default:
		line = append(line, "connection closed")
	}
	return strings.Join(line, " ")
}

// compactBody returns a body for [Request.String].
func compactBody(body string) string {
	if compact := new(bytes.Buffer); json.Compact(compact, []byte(body)) == nil {
		body = compact.String()
	}
	var b strings.Builder
	n := 0
	for _, c := range body {
		if n == maxStringBody {
			b.WriteString("…")
			break
		}
		n++
		if unicode.IsPrint(c) {
			b.WriteRune(c)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
		}
	}
	return b.String()
}

// readRequest reads the whole request: only then does its context end when the client disconnects. It reads at most one
// byte more than maxBody. An error means that the client disconnected or sent an invalid body.
func readRequest(r *http.Request) (*Request, error) {
	start := time.Now()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	return &Request{
		Method:     r.Method,
		Target:     r.RequestURI,
		Host:       r.Host,
		Header:     r.Header.Clone(),
		Body:       string(body),
		Proto:      r.Proto,
		TLS:        r.TLS,
		RemoteAddr: r.RemoteAddr,
		Start:      start,
	}, err
}

func (r Request) clone() Request {
	r.Header = r.Header.Clone()
	return r
}

func copyRequests(requests []*Request) []Request {
	copies := make([]Request, len(requests))
	for i, r := range requests {
		copies[i] = r.clone()
	}
	return copies
}
