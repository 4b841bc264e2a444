package transport

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Why a request failed.
var (
	ErrNotSent       = errors.New("the request cannot be sent")                   // by Go's library, because of a setting or a variable
	ErrLongHeader    = errors.New("its header is longer than the server accepts") // as the server has said over HTTP/2; wraps ErrNotSent
	ErrNoConnection  = errors.New("no connection was made")                       // in time
	ErrNoCertificate = errors.New("the server asked for a client certificate, and none is set")
	ErrNoPong        = errors.New("the connection has died: a ping got no answer within " + pingTimeout.String())
	ErrNeedsHTTP1    = errors.New("the server requires HTTP/1.1") // it has not processed the request (RFC 9113, section 7)
	ErrNotHTTP       = errors.New("the response is not HTTP/1.1") // such as TLS, or HTTP/2 without TLS
)

// WouldFailAgain reports whether the same request would fail again, because client and host have no protocol, certificate or
// setting in common.
func WouldFailAgain(err error) bool {
	return IsTLSFailure(err) || errors.Is(err, ErrNotHTTP) || errors.Is(err, ErrNeedsHTTP1) || errors.Is(err, ErrNotSent)
}

// StatusText returns a status code with its name, such as "404 Not Found".
func StatusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
