package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// MaxBody is how many bytes of a response body are read, after decompression. A stream has a few hundred.
const MaxBody = 1 << 20

// byteOrderMark begins a text that some programs wrote. JSON does not allow it.
var byteOrderMark = []byte("\ufeff")

// ReadBody returns the body without a byte order mark, up to one byte more than MaxBody, and why it is not all of it.
func ReadBody(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	return bytes.TrimPrefix(body, byteOrderMark), errors.Join(err, resp.Body.Close())
}
