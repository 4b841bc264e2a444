package requests

import (
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
