package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"mime"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
)

// tokenResponses asks a token endpoint for JSON, and rewrites it as package oauth2 reads it: strictly by RFC 6749, section 5, which
// many endpoints are not.
type tokenResponses struct {
	*operation
	retries http.RoundTripper
	failure error // of the last request: it has no response
}

// RoundTrip implements [http.RoundTripper]. Its error says what is wrong with a success.
func (a *tokenResponses) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Accept", "application/json")
	resp, err := a.retries.RoundTrip(req)
	if a.failure = err; err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	isObject := json.Unmarshal(a.result.Body, &fields) == nil && fields != nil
	switch form, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case isObject:
	case resp.StatusCode/100 != 2, form == "application/x-www-form-urlencoded", form == "text/plain": // see package oauth2
		return resp, nil
	default:
		return nil, errors.New("it is not a JSON object")
	}
	a.result.Form = masking.FormDocumented
	if text := masking.TextOfError(a.result.Body); text != "" {
		a.result.Message = a.Printable(text, masking.MaxMessage)
	}
	body, err := rewriteToken(fields)
	switch {
	case err == nil:
		resp.Header.Set("Content-Type", "application/json") // some say text/plain
		resp.Body = io.NopCloser(bytes.NewReader(body))
	case resp.StatusCode/100 == 2:
		return nil, err
	}
	return resp, nil
}

// noAccessToken is the error of a success in JSON without a token. Its fields may have another one, so only their names are shown.
type noAccessToken struct{ names []string }

func (e *noAccessToken) Error() string {
	switch {
	case len(e.names) == 0:
		return "access_token is missing, and so is every other field"
	case slices.Contains(e.names, "access_token"):
		return "access_token is empty"
	}
	return "access_token is missing; there is only " + strings.Join(e.names, ", ")
}

// rewriteToken writes the fields that package oauth2 reads. It leaves out what a token can be used without.
func rewriteToken(fields map[string]json.RawMessage) ([]byte, error) {
	rewritten := map[string]any{"expires_in": parseSeconds(fields["expires_in"])}
	for _, name := range []string{"access_token", "token_type", "refresh_token", "id_token", "error", "error_description"} {
		var text *string
		raw, found := fields[name]
		switch err := json.Unmarshal(raw, &text); {
		case err == nil && text != nil:
			rewritten[name] = *text
		case err != nil && found && (name == "access_token" || name == "token_type"):
			return nil, fmt.Errorf("%s is not a string", name)
		}
	}
	has := func(name string) bool { return rewritten[name] != nil && rewritten[name] != "" }
	if !has("access_token") && !has("error") {
		return nil, &noAccessToken{slices.Sorted(maps.Keys(fields))}
	}
	return json.Marshal(rewritten)
}

// parseSeconds reads expires_in: a number in any form, also in a text. 0 means that the end is not known.
func parseSeconds(raw json.RawMessage) int64 {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	var seconds float64
	if json.Unmarshal([]byte(strings.TrimSpace(text)), &seconds) != nil {
		return 0
	}
	return int64(max(0, min(seconds, math.MaxInt32)))
}

// schemes are those of HTTP (RFC 9110, section 16.4.1), and one of an early draft of OAuth.
var schemes = []string{
	"Basic", "Bearer", "Concealed", "Digest", "DPoP", "GNAP", "HOBA", "MAC", "Mutual", "Negotiate", "OAuth", "PrivateToken",
	"SCRAM-SHA-1", "SCRAM-SHA-256", "vapid",
}

// tokenHeader returns the header that sends a token, and its type if that is no scheme and so not sent. Some endpoints use the
// type for the format of the token, or call a bearer token a BearerToken.
func tokenHeader(token *oauth2.Token) (value, unsent string, err error) {
	scheme := token.Type()
	if !slices.ContainsFunc(schemes, func(known string) bool { return strings.EqualFold(known, scheme) }) {
		if !strings.Contains(strings.ToLower(scheme), "bearer") {
			unsent = scheme
		}
		scheme = "Bearer"
	}
	return scheme + " " + token.AccessToken, unsent, CheckToken(token.AccessToken)
}
