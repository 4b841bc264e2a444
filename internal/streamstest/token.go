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
// sections 4.4 and 5). It serves every path. Its n-th token is "token-n". The fields must be set before the first
// request. The methods are safe for concurrent use.
type TokenServer struct {
	// ClientID and ClientSecret are the credentials that a client must send, by HTTP Basic or in the form, not both.
	ClientID, ClientSecret string

	// Assertions, unless nil, checks client assertions, which then replace the client's secret.
	Assertions *Assertions

	// ExpiresIn is how long a token is valid. The response has it as expires_in, in whole seconds. 0 means that tokens
	// do not expire, and that the response has no expires_in.
	ExpiresIn time.Duration

	mu       sync.Mutex
	requests []*Request
	injected []int
	issued   int
	expiry   map[string]time.Time // by token; the zero time means never
}

// Inject queues error statuses, one for each of the next requests.
func (t *TokenServer) Inject(statuses ...int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.injected = append(t.injected, statuses...)
}

// Revoke makes a token invalid.
func (t *TokenServer) Revoke(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.expiry, token)
}

// Requests returns a copy of the requests in the order of arrival. Their bodies may contain the client's secret.
func (t *TokenServer) Requests() []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return copyRequests(t.requests)
}

// Authorize requires a bearer token that this server issued and that is still valid. It is a function for
// Options.Authorize.
func (t *TokenServer) Authorize(r *http.Request) error {
	token, err := bearerToken(r)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if end, ok := t.expiry[token]; !ok || !end.IsZero() && time.Now().After(end) {
		return errors.New("the access token is unknown, revoked or expired")
	}
	return nil
}

// ServeHTTP responds to a token request.
func (t *TokenServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, err := readRequest(r)
	t.mu.Lock()
	t.requests = append(t.requests, req)
	status, body := 0, map[string]any(nil)
	if err == nil {
		status, body = t.respond(r, req)
	}
	req.Status, req.End = status, time.Now()
	t.mu.Unlock()
	if err != nil {
		abortConnection(w)
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
	writeResponse(w, status, mustMarshal(body), false)
}

// respond returns the status and the body for a request. The caller holds t.mu.
func (t *TokenServer) respond(r *http.Request, req *Request) (int, map[string]any) {
	if len(t.injected) > 0 {
		status := t.injected[0]
		t.injected = t.injected[1:]
		return oauthError(status, oauthErrorCode(status), fmt.Sprintf("injected: %d %s", status, http.StatusText(status)))
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
	if t.Assertions != nil {
		if err := t.Assertions.check(form, t.ClientID); err != nil {
			return oauthError(http.StatusUnauthorized, "invalid_client", err.Error())
		}
		return t.issue(form)
	}
	id, secret, inHeader := r.BasicAuth()
	if inHeader {
		if form.Has("client_secret") {
			return oauthError(http.StatusBadRequest, "invalid_request", "the client authenticates twice")
		}
		// Both are form-encoded in the header (RFC 6749, section 2.3.1).
		id, secret = formDecode(id), formDecode(secret)
	} else {
		id, secret = form.Get("client_id"), form.Get("client_secret")
	}
	if id != t.ClientID || secret != t.ClientSecret {
		return oauthError(http.StatusUnauthorized, "invalid_client", "the client is unknown or its secret is wrong")
	}
	return t.issue(form)
}

// issue returns a token for a client that has authenticated. The caller holds t.mu.
func (t *TokenServer) issue(form url.Values) (int, map[string]any) {
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
	if t.expiry == nil {
		t.expiry = map[string]time.Time{}
	}
	t.expiry[token] = end
	return http.StatusOK, body
}

func oauthError(status int, code, description string) (int, map[string]any) {
	return status, map[string]any{"error": code, "error_description": description}
}

func oauthErrorCode(status int) string {
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

// formDecode returns the decoded text, or the text itself if it is not encoded correctly. Then it matches no client.
func formDecode(s string) string {
	if decoded, err := url.QueryUnescape(s); err == nil {
		return decoded
	}
	return s
}
