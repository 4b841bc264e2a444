package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
)

// tokenRequest sends a request of package oauth2, and rewrites the response as that reads it: strictly by RFC 6749, section 5, which
// many endpoints are not.
type tokenRequest struct {
	delivery *delivery
	end      step
	failure  error  // why there is no response
	isObject bool   // the response is one in JSON
	message  string // what it says about an error, if it is
}

// RoundTrip implements [http.RoundTripper]. Its error says what is wrong with a success.
func (r *tokenRequest) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Accept", "application/json")
	if r.end, r.failure = r.delivery.run(req.Context(), req); r.failure != nil {
		return nil, r.failure
	}
	last := r.delivery.history.last()
	if !last.isResponse() {
		r.failure = last.err
		return nil, r.failure
	}
	resp := &http.Response{StatusCode: last.status, Header: last.head.Clone(), Request: req, Body: io.NopCloser(bytes.NewReader(last.body))}
	resp.Header.Del("Location") // [http.Client] would follow it
	var fields map[string]json.RawMessage
	r.isObject = json.Unmarshal(last.body, &fields) == nil && fields != nil
	switch form, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case r.isObject:
	case last.status/100 != 2, form == "application/x-www-form-urlencoded", form == "text/plain": // see package oauth2
		return resp, nil
	default:
		return nil, errors.New("it is not a JSON object")
	}
	r.message = masking.TextOfError(last.body)
	body, err := rewriteToken(fields)
	switch {
	case err == nil:
		resp.Header.Set("Content-Type", "application/json") // some say text/plain
		resp.Body = io.NopCloser(bytes.NewReader(body))
	case last.status/100 == 2:
		return nil, err
	}
	return resp, nil
}

// result is that of a token request without a token that can be sent. Some endpoints reject with status 200.
func (r *tokenRequest) result(err error) Result {
	if r.failure != nil {
		return r.delivery.history.result(r.end, r.failure)
	}
	result := r.delivery.history.result(r.end, nil)
	if r.isObject {
		result.Form = masking.FormDocumented
	}
	if r.message != "" {
		result.Message = r.delivery.history.redactor.Printable(r.message, masking.MaxMessage)
	}
	refused, isRefused := errors.AsType[*oauth2.RetrieveError](err)
	_, isMissing := errors.AsType[*noAccessToken](err)
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without method and URL, which the result has
	}
	printable := r.delivery.history.redactor.Printable
	unusable := "the response has no usable token: " + printable(strings.TrimPrefix(err.Error(), "oauth2: "), masking.MaxText)
	switch status := result.Status; {
	case isRefused:
		if status/100 == 2 || status/100 == 4 && !isRetryableStatus(status) {
			result.Failure = Unauthenticated
		}
		if refused.ErrorCode != "" && !result.Documented() { // in a form
			message := strings.TrimSuffix(refused.ErrorCode+": "+refused.ErrorDescription, ": ")
			result.Message, result.Form = printable(message, masking.MaxMessage), masking.FormDocumented
		}
		return result
	case isMissing && result.Message != "":
		result.Failure = Unauthenticated
	case status/100 == 2:
		result.Failure = NoToken
	default:
		return r.delivery.history.result(r.end, err)
	}
	return result.because(unusable)
}
