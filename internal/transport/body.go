package transport

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"
)

// MaxBody is how many bytes of a response body are read. A stream has a few hundred.
const MaxBody = 1 << 20

// byteOrderMark begins a text that some programs wrote. JSON does not allow it.
var byteOrderMark = []byte("\ufeff")

// ReadBody returns the body without a byte order mark, up to one byte more than MaxBody, and why it is not all of it.
func ReadBody(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	if err == nil && isCut(resp, body) {
		err = io.ErrUnexpectedEOF
	}
	if err = errors.Join(err, resp.Body.Close()); err == nil {
		body, err = plainBody(resp.Header, body)
	}
	return bytes.TrimPrefix(body, byteOrderMark), err
}

// isCut reports whether a body ended too early. Without a length, HTTP/1 ends a body with the connection (RFC 9112, section
// 6.3), so only JSON shows it.
func isCut(resp *http.Response, body []byte) bool {
	hasEnd := resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0 || resp.ProtoMajor > 1
	if hasEnd || len(body) > MaxBody {
		return false
	}
	err := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, byteOrderMark))).Decode(new(json.RawMessage))
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// NoCoding is the Accept-Encoding of requests. Package http would ask for gzip, and then trust a header that some servers put
// on plain bodies.
const NoCoding = "identity"

// magic is how a compressed body begins (RFC 1952, section 2.3.1; RFC 8878, section 3.1.1).
var magic = map[string]string{"gzip": "\x1f\x8b", "zstd": "\x28\xb5\x2f\xfd"}

// plainBody returns a body as the service wrote it. Some servers compress it although they were asked not to: gzip is undone
// if the response says so, up to one byte more than MaxBody. What cannot be read is replaced by a text that says so.
func plainBody(header http.Header, body []byte) ([]byte, error) {
	said := strings.ToLower(header.Get("Content-Encoding"))
	for coding, begin := range magic {
		switch {
		case !bytes.HasPrefix(body, []byte(begin)):
		case coding == "gzip" && strings.Contains(said, coding):
			return gunzip(body)
		case said == "":
			return fmt.Appendf(nil, "(compressed with %s, although the response does not say so)", coding), nil
		}
	}
	if said != "" && said != NoCoding && !utf8.Valid(body) {
		return fmt.Appendf(nil, "(compressed with %s, although the request asks for no compression)", said), nil
	}
	return body, nil
}

func gunzip(body []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body, err
	}
	return io.ReadAll(io.LimitReader(reader, MaxBody+1)) // Close would only repeat the error
}
