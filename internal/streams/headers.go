package streams

import (
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/net/http/httpguts"
)

// CheckHeader says why a configuration cannot set a header, or returns nil. It refuses the headers
// that the client or Go's HTTP library sets: they would be ignored, or break the request.
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
