package transport

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Why a request failed.
var (
	ErrNotSent       = errors.New("the request cannot be sent") // by Go's library, because of a setting or a variable
	ErrNoConnection  = errors.New("no connection was made")     // in time
	ErrNoCertificate = errors.New("the server asked for a client certificate, and none is set")
	ErrNoPong        = errors.New("the connection has died: a ping got no answer within " + pingTimeout.String())
	ErrNotHTTP       = errors.New("the response is not HTTP/1.1") // such as TLS, or HTTP/2 without TLS
)

// WouldFailAgain reports whether the same request would fail again, because client and host have no protocol, certificate or
// setting in common.
func WouldFailAgain(err error) bool {
	return IsTLSFailure(err) || errors.Is(err, ErrNotHTTP) || errors.Is(err, ErrNotSent)
}

// StatusText returns a status code with its name, such as "404 Not Found".
func StatusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
