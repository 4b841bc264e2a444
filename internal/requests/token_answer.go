package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/oauth2"
)

// tokenAnswers rewrites the JSON of a token endpoint as package oauth2 reads it: strictly by RFC 6749, section 5, which many
// endpoints are not.
type tokenAnswers struct {
	*operation
	retries http.RoundTripper
}

// RoundTrip implements [http.RoundTripper]. Its error says what is wrong with a success.
func (a tokenAnswers) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := a.retries.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(a.result.Body, &fields) != nil || fields == nil {
		return resp, nil
	}
	a.result.Documented = true
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

// rewriteToken writes the fields that package oauth2 reads. It leaves out what a token can be used without.
func rewriteToken(fields map[string]json.RawMessage) ([]byte, error) {
	rewritten := map[string]any{}
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
	seconds, err := parseSeconds(fields["expires_in"])
	if err != nil {
		return nil, err
	}
	rewritten["expires_in"] = seconds
	return json.Marshal(rewritten)
}

// parseSeconds reads expires_in: a number in any form, also in a text. 0 means that the end is not known.
func parseSeconds(raw json.RawMessage) (int64, error) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	if text = strings.TrimSpace(text); text == "" {
		return 0, nil
	}
	var seconds float64
	if json.Unmarshal([]byte(text), &seconds) != nil {
		return 0, errors.New("expires_in is not a number of seconds")
	}
	return int64(max(0, min(seconds, math.MaxInt32))), nil
}

// tokenHeader returns the header that sends a token. Some gateways call a bearer token a BearerToken.
func tokenHeader(token *oauth2.Token) (string, error) {
	scheme := token.Type()
	if strings.EqualFold(strings.Join(strings.Fields(scheme), ""), "BearerToken") {
		scheme = "Bearer"
	}
	if !httpguts.ValidHeaderFieldName(scheme) { // a scheme has the same characters
		return "", errors.New("token_type cannot be the scheme of a header")
	}
	return scheme + " " + token.AccessToken, checkSendable(token.AccessToken)
}
