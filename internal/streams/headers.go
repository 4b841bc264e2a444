package streams

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"golang.org/x/net/http/httpguts"
)

// CheckHeader returns an error, such as "must not set Host", if a configuration cannot set this
// header. The client or Go's HTTP library sets some headers: others would be ignored, or break requests.
func CheckHeader(name, value string) error {
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		return errors.New("is not a valid header name")
	case !httpguts.ValidHeaderFieldValue(value):
		return errors.New("has a value with characters that a header must not contain, such as a line break")
	}
	switch canonical := http.CanonicalHeaderKey(name); canonical {
	case "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host",
		"Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return fmt.Errorf("must not set %s, which the HTTP client controls", canonical)
	}
	return nil
}

// maxToken is the length of the longest credential that is accepted, in bytes.
const maxToken = 64 << 10

// CheckToken returns an error, such as "it has control characters", if a token cannot be sent as
// "Authorization: Bearer …".
func CheckToken(token string) error {
	scheme, _, found := strings.Cut(token, " ")
	switch {
	case len(token) > maxToken:
		return fmt.Errorf("it is longer than %d KiB", maxToken>>10)
	case found && strings.EqualFold(scheme, "Bearer"):
		return errors.New(`it begins with "Bearer", which is sent before the token`)
	case strings.ContainsFunc(token, unicode.IsControl):
		return errors.New("it has control characters")
	}
	return nil
}

// requestID returns the value of the first header that identifies the request for the service's support, or "".
func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "X-Correlation-Id", "X-Amzn-Requestid", "X-Amz-Request-Id",
		"X-Ms-Request-Id", "X-Amzn-Trace-Id", "X-Trace-Id", "Cf-Ray"} {
		if id := h.Get(name); id != "" {
			return id
		}
	}
	return ""
}
