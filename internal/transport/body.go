package transport

import (
	"bytes"
	"encoding/json"
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
	body = bytes.TrimPrefix(body, byteOrderMark)
	if err == nil && isCut(resp, body) {
		err = io.ErrUnexpectedEOF
	}
	return body, errors.Join(err, resp.Body.Close())
}

// isCut reports whether a body ended too early. Without a length, HTTP/1 ends a body with the connection (RFC 9112, section
// 6.3), so only JSON shows it. What package http has decompressed has an end of its own.
func isCut(resp *http.Response, body []byte) bool {
	hasEnd := resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0 || resp.ProtoMajor > 1 || resp.Uncompressed
	if hasEnd || len(body) > MaxBody {
		return false
	}
	err := json.NewDecoder(bytes.NewReader(body)).Decode(new(json.RawMessage))
	return errors.Is(err, io.ErrUnexpectedEOF)
}
