package streams

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// byteOrderMark begins a text in UTF-8 that some programs wrote. JSON does not allow it.
var byteOrderMark = []byte("\ufeff")

// tolerantTokens lets package oauth2 read responses that differ from RFC 6749 in a harmless way: JSON
// with another Content-Type or with a byte order mark, and an expires_in that is not an integer.
type tolerantTokens struct{ http.RoundTripper }

func (t tolerantTokens) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if normalized, ok := normalizeTokenResponse(body); ok {
		body = normalized
		resp.Header.Set("Content-Type", "application/json")
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// normalizeTokenResponse reports false for a body that is not a JSON object.
func normalizeTokenResponse(body []byte) ([]byte, bool) {
	body = bytes.TrimPrefix(body, byteOrderMark)
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return nil, false
	}
	seconds := strings.Trim(string(fields["expires_in"]), `"`)
	if _, err := strconv.ParseInt(seconds, 10, 64); err == nil {
		return body, true
	}
	if f, err := strconv.ParseFloat(seconds, 64); err == nil && f >= 0 {
		fields["expires_in"] = json.RawMessage(strconv.FormatInt(int64(min(f, math.MaxInt32)), 10))
		if normalized, err := json.Marshal(fields); err == nil {
			return normalized, true
		}
	}
	return body, true
}
