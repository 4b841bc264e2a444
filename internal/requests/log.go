package requests

import (
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

// describe describes the last attempt, and what follows it.
func (h *history) describe(req *http.Request, next step) Attempt {
	a := h.last()
	described := Attempt{
		Number: len(h.attempts), Method: h.subject.Method, URL: h.subject.URL, Duration: a.ended.Sub(a.began),
		ResponseBody: Text{redactor: h.redactor},
	}
	if a.isResponse() {
		described.Status = a.status
	} else {
		described.Err = h.redactor.Printable(a.err.Error(), masking.MaxMessage)
	}
	if !h.subject.TokenRequest {
		described.ResponseBody.text = a.body
		described.RequestBody = bodyOf(req)
	}
	if described.Retry = next.ending == goesOn && next.kind == again; described.Retry {
		described.RetryWait = next.due.Sub(a.ended)
	}
	return described
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
