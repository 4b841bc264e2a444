package streams_test

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func TestCheckHeader(t *testing.T) {
	t.Parallel()
	const (
		name  = "is not a valid header name"
		value = "has a value with characters that a header must not contain, such as a line break"
	)
	for _, test := range []struct{ name, value, want string }{
		{"X-Api-Key", "k3y", ""},
		{"authorization", "ApiKey abc", ""},
		{"User-Agent", "me", ""},
		{"X-Empty", "", ""},
		{"X-Latin", "gr\xfcn", ""},
		{"", "x", name},
		{"X\r\nY", "x", name},
		{"X-Key", "a\nb", value},
		{"X-Key", "a\x00b", value},
		{"content-type", "text/plain", "must not set Content-Type, which the HTTP client controls"},
		{"Host", "x", "must not set Host, which the HTTP client controls"},
		{"Transfer-Encoding", "chunked", "must not set Transfer-Encoding, which the HTTP client controls"},
		{"Connection", "close", "must not set Connection, which the HTTP client controls"},
		{"Content-Encoding", "gzip", "must not set Content-Encoding, which the HTTP client controls"},
	} {
		if got := errorText(streams.CheckHeader(test.name, test.value)); got != test.want {
			t.Errorf("CheckHeader(%q, %q) = %q, want %q", test.name, test.value, got, test.want)
		}
	}
}

// An error has the id of the request, for the service's support.
func TestRequestID(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"x-request-id", "X-Correlation-ID", "x-amzn-RequestId", "CF-Ray"} {
		s := startService(t, respondError(500, "broken", header, "req-4711 t0ken\u202e"))
		if e := s.updateError(t, streams.Config{Token: "t0ken"}); e.RequestID != `req-4711 ***\u202e` {
			t.Errorf("%s: %#v", header, e)
		}
	}
}
