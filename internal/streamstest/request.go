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

// maxBody bounds what is read of a request body, in bytes. The document names no limit (section 8).
const maxBody = 16 << 20

// maxShown bounds the body in [Request.String], in characters.
const maxShown = 1000

// Request is a request as it arrived, and how it ended.
type Request struct {
	Method     string
	Target     string // the request target as on the wire: escaped, with its query
	StreamID   string // decoded; empty if the path is no stream's
	Host       string
	Header     http.Header
	Body       string
	Proto      string               // "HTTP/1.1", "HTTP/2.0"
	TLS        *tls.ConnectionState // nil without TLS; not to be changed
	RemoteAddr string

	Status int       // of the answer; 0: no answer was completed, or not yet
	Start  time.Time // when its first line had arrived
	End    time.Time // when its answer was settled, before the client can have it; zero: not yet
}

// String returns the request and its outcome in one line, such as
//
//	PATCH /v2/streams/a%2Fb {"processor_ids":["p1"]} → 200
//
// JSON is compacted, control characters are escaped and a long body is cut. Headers are not shown.
func (r Request) String() string {
	line := []string{r.Method, r.Target}
	if r.Body != "" {
		line = append(line, oneLine(r.Body))
	}
	line = append(line, "→")
	switch {
	case r.Status != 0:
		line = append(line, strconv.Itoa(r.Status))
	case r.End.IsZero():
		line = append(line, "no answer yet")
	default:
		line = append(line, "connection cut")
	}
	return strings.Join(line, " ")
}

func oneLine(body string) string {
	if compact := new(bytes.Buffer); json.Compact(compact, []byte(body)) == nil {
		body = compact.String()
	}
	var b strings.Builder
	n := 0
	for _, c := range body {
		if n == maxShown {
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

// readRequest reads the whole request, so that from here on its context ends when the client leaves. A body over
// maxBody is kept one byte longer than that. The error is the client's: it left, or broke the framing.
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
