package requests

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"
)

// noCoding is the Accept-Encoding of requests. Package http would ask for gzip, and then trust a header that some servers put
// on plain bodies.
const noCoding = "identity"

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
	if said != "" && said != noCoding && !utf8.Valid(body) {
		return fmt.Appendf(nil, "(compressed with %s, although the request asks for no compression)", said), nil
	}
	return body, nil
}

func gunzip(body []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body, err
	}
	plain, err := io.ReadAll(io.LimitReader(reader, MaxBody+1))
	return plain, errors.Join(err, reader.Close())
}
