package streamstest

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// TokenServer is the token endpoint of an OAuth 2.0 authorization server for the client credentials grant (RFC 6749,
// sections 4.4 and 5). It serves every path. The n-th token it issues is "token-n". Set the fields before serving; the
// methods are safe for concurrent use.
type TokenServer struct {
	// ClientID and ClientSecret are what a client must show, by HTTP Basic or in the form, not both.
	ClientID, ClientSecret string

	// ExpiresIn is the life of a token, answered as expires_in in whole seconds. 0: it lives for ever, unsaid.
	ExpiresIn time.Duration

	mu       sync.Mutex
	requests []*Request
	failures []int
	issued   int
	live     map[string]time.Time // token to its end; the zero time is never
}

// Inject queues statuses, one for each of the next requests, answered with an error body.
func (t *TokenServer) Inject(statuses ...int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, statuses...)
}

// Revoke ends a token's life.
func (t *TokenServer) Revoke(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.live, token)
}

// Requests returns a copy of the requests so far, in order of arrival. Bodies may hold the client's secret.
func (t *TokenServer) Requests() []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return copyRequests(t.requests)
}

// Authorize demands a bearer token that this server issued and that still lives, for Options.Authorize.
func (t *TokenServer) Authorize(r *http.Request) error {
	token, err := bearerToken(r)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if end, ok := t.live[token]; !ok || !end.IsZero() && time.Now().After(end) {
		return errors.New("the access token is unknown, revoked or expired")
	}
	return nil
}

// ServeHTTP answers a token request.
func (t *TokenServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, err := readRequest(r)
	t.mu.Lock()
	t.requests = append(t.requests, req)
	status, body := 0, map[string]any(nil)
	if err == nil {
		status, body = t.answer(r, req)
	}
	req.Status, req.End = status, time.Now()
	t.mu.Unlock()
	if err != nil {
		cut(w)
		return
	}

	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	switch status {
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", `Basic realm="token"`)
	case http.StatusMethodNotAllowed:
		header.Set("Allow", "POST")
	}
	send(w, status, encode(body), false)
}

// answer decides on a request; t.mu is held.
func (t *TokenServer) answer(r *http.Request, req *Request) (int, map[string]any) {
	if len(t.failures) > 0 {
		status := t.failures[0]
		t.failures = t.failures[1:]
		return oauthError(status, injectedCode(status), fmt.Sprintf("injected: %d %s", status, http.StatusText(status)))
	}
	if req.Method != http.MethodPost {
		return oauthError(http.StatusMethodNotAllowed, "invalid_request", "the method must be POST")
	}
	mediaType, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	form, err := url.ParseQuery(req.Body)
	if mediaType != "application/x-www-form-urlencoded" || err != nil {
		return oauthError(http.StatusBadRequest, "invalid_request", "the body must be a form")
	}
	for name, values := range form {
		if len(values) > 1 {
			return oauthError(http.StatusBadRequest, "invalid_request", "the parameter "+name+" is repeated")
		}
	}
	id, secret, inHeader := r.BasicAuth()
	if inHeader {
		if form.Has("client_secret") {
			return oauthError(http.StatusBadRequest, "invalid_request", "the client authenticates twice")
		}
		// RFC 6749, section 2.3.1: both are form-encoded before they go into the header.
		id, secret = formDecoded(id), formDecoded(secret)
	} else {
		id, secret = form.Get("client_id"), form.Get("client_secret")
	}
	if id != t.ClientID || secret != t.ClientSecret {
		return oauthError(http.StatusUnauthorized, "invalid_client", "the client is unknown or its secret is wrong")
	}
	switch form.Get("grant_type") {
	case "client_credentials":
	case "":
		return oauthError(http.StatusBadRequest, "invalid_request", "the parameter grant_type is missing")
	default:
		return oauthError(http.StatusBadRequest, "unsupported_grant_type", "the grant_type must be client_credentials")
	}

	t.issued++
	token := fmt.Sprintf("token-%d", t.issued)
	body := map[string]any{"access_token": token, "token_type": "Bearer"}
	end := time.Time{}
	if t.ExpiresIn != 0 {
		end = time.Now().Add(t.ExpiresIn)
		body["expires_in"] = int64(t.ExpiresIn / time.Second)
	}
	if scope := form.Get("scope"); scope != "" {
		body["scope"] = scope
	}
	if t.live == nil {
		t.live = map[string]time.Time{}
	}
	t.live[token] = end
	return http.StatusOK, body
}

func oauthError(status int, code, description string) (int, map[string]any) {
	return status, map[string]any{"error": code, "error_description": description}
}

func injectedCode(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "invalid_client"
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		return "temporarily_unavailable"
	case status >= 500:
		return "server_error"
	}
	return "invalid_request"
}

// formDecoded returns the decoded text, or the text itself where it is not encoded: it then matches no known client.
func formDecoded(s string) string {
	if decoded, err := url.QueryUnescape(s); err == nil {
		return decoded
	}
	return s
}
