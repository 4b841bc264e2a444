package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
)

// tokenRequest sends a request of package oauth2, and rewrites the response as that reads it: strictly by RFC 6749, section 5, which
// many endpoints are not.
type tokenRequest struct {
	delivery delivery
	end      step
	failure  error                      // why there is no response
	fields   map[string]json.RawMessage // of the response; nil if it is no object in JSON
}

// RoundTrip implements [http.RoundTripper].
func (r *tokenRequest) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Accept", "application/json")
	r.end, r.failure = r.delivery.run(req.Context(), req)
	last := r.delivery.history.last()
	if r.failure == nil && !last.isResponse() {
		r.failure = last.err
	}
	if r.failure != nil {
		return nil, r.failure
	}
	resp := &http.Response{StatusCode: last.status, Header: last.head.Clone(), Request: req, Body: io.NopCloser(bytes.NewReader(last.body))}
	resp.Header.Del("Location") // [http.Client] would follow it
	if json.Unmarshal(last.body, &r.fields) == nil && r.fields != nil {
		resp.Header.Set("Content-Type", "application/json") // some say text/plain
		resp.Body = io.NopCloser(bytes.NewReader(rewriteToken(r.fields)))
	}
	return resp, nil
}

// rewriteToken returns the fields that package oauth2 reads, without what a token can be used without.
func rewriteToken(fields map[string]json.RawMessage) []byte {
	rewritten := map[string]any{"expires_in": parseSeconds(fields["expires_in"])}
	for _, name := range []string{"access_token", "refresh_token", "id_token", "error", "error_description"} {
		var text string
		if json.Unmarshal(fields[name], &text) == nil {
			rewritten[name] = text
		}
	}
	body, _ := json.Marshal(rewritten)
	return body
}

// parseSeconds reads expires_in: a number in any form, also in a text. 0 means that the end is not known.
func parseSeconds(raw json.RawMessage) int64 {
	var number json.Number // also in a text
	_ = json.Unmarshal(raw, &number)
	seconds, _ := number.Float64()
	return int64(max(0, min(seconds, math.MaxInt32)))
}

// result is that of a token request without a token that can be sent. Some endpoints reject with status 200.
func (r *tokenRequest) result(err error) Result {
	result := r.delivery.history.result(r.end, r.failure)
	if r.failure != nil {
		return result
	}
	printable, message := r.delivery.history.redactor.Printable, ""
	if r.fields != nil {
		message, result.Form = masking.TextOfError(r.delivery.history.last().body), masking.FormDocumented
	}
	if message != "" {
		result.Message = printable(message, masking.MaxMessage)
	}
	isSuccess, isRefused := result.Status/100 == 2, errors.As(err, new(*oauth2.RetrieveError))
	switch {
	case isSuccess && message == "":
		result.Failure = NoToken
	case isSuccess, result.Status/100 == 4 && !isRetryableStatus(result.Status):
		result.Failure = Unauthenticated
	}
	if !isSuccess || isRefused && message != "" {
		return result
	}
	return result.because("the response has no usable token: " + printable(r.whyUnusable(err), masking.MaxText))
}

// whyUnusable says why a response has no token that can be sent. One of its fields may have a token, so only their names are shown.
func (r *tokenRequest) whyUnusable(err error) string {
	switch text := err.Error(); {
	case !strings.HasPrefix(text, "oauth2: "):
		return text
	case r.fields == nil:
		return "it is not a JSON object"
	case r.fields["access_token"] != nil:
		return "access_token is empty, or no string"
	case len(r.fields) == 0:
		return "access_token is missing, and so is every other field"
	}
	return "access_token is missing; there is only " + strings.Join(slices.Sorted(maps.Keys(r.fields)), ", ")
}
