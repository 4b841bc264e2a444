package streams

import (
	"errors"
	"fmt"
	"net/http"

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
