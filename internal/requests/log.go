package requests

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Attempt describes one HTTP request and its result, for a log. Known secrets are masked in the texts from outside.
type Attempt struct {
	Number       int // 1 is the first
	Method       string
	URL          string
	Status       int // 0 without a response
	Duration     time.Duration
	Err          string // why there was no response
	Retry        bool   // another attempt follows, after RetryWait
	RetryWait    time.Duration
	RequestBody  string // empty for a token request, because it is secret
	ResponseBody Text   // likewise
}

// Text is a text from outside. Masking takes time, so only a log that shows the text does it.
type Text struct {
	redactor *masking.Redactor
	text     []byte
}

// String returns the beginning of the text.
func (t Text) String() string { return t.redactor.Mask(string(t.text), transport.MaxBody/8) }

// MarshalText is like String. Loggers call it for the lines that they write.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// observe passes the last attempt, and what follows it, to a log.
func (d *delivery) observe(ctx context.Context, req *http.Request, next step) {
	if d.client.settings.Observe == nil {
		return
	}
	a := d.attempts[len(d.attempts)-1]
	line := Attempt{
		Number: len(d.attempts), Method: d.subject.Method, URL: d.subject.URL, Duration: a.ended.Sub(a.began),
		ResponseBody: Text{redactor: d.client.redactor},
	}
	if a.isResponse() {
		line.Status = a.status
	} else {
		line.Err = d.client.redactor.Printable(a.err.Error(), masking.MaxMessage)
	}
	if !d.subject.TokenRequest {
		line.ResponseBody.text = a.body
		line.RequestBody = bodyOf(req)
	}
	if line.Retry = next.ending == goesOn && next.cause == again; line.Retry {
		line.RetryWait = next.due.Sub(a.ended)
	}
	d.client.settings.Observe(ctx, line)
}

// bodyOf returns the body of a request.
func bodyOf(req *http.Request) string {
	if req.GetBody == nil {
		return ""
	}
	body, _ := req.GetBody() // which is in memory
	text, _ := io.ReadAll(body)
	return string(text)
}
