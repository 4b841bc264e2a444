package streamstest

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// TokenServer is the token endpoint of an OAuth 2.0 authorization server for the client credentials grant (RFC 6749,
// sections 4.4 and 5). It serves every path. Its n-th token is "token-n". The fields must be set before the first
// request. The methods are safe for concurrent use.
type TokenServer struct {
	// ClientID and ClientSecret are the credentials that a client must send, by HTTP Basic or in the form, not both.
	// Instead of the secret, a client may send an assertion from [TokenServer.IssueAssertion].
	ClientID, ClientSecret string

	// Scope and Audience, unless empty, are what each token request must ask for: one of the scopes (RFC 6749, section 3.3),
	// and the parameter "audience", which is an extension of several servers.
	Scope, Audience string

	// Shared makes tokens and assertions count at all servers with the same client and secret, also after a restart.
	Shared bool

	record
	injected   []int
	issued     int
	valid      map[string]bool   // by token
	assertions map[string]string // the client of each
}

// IssueAssertion returns an assertion for a client (RFC 7523, section 3), as an identity provider would that this server
// trusts. Clients must not look into it, so it has no claims and no signature: the server knows what it has issued.
func (t *TokenServer) IssueAssertion(clientID string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.assertions == nil {
		t.assertions = map[string]string{}
	}
	issued := "eyJhbGciOiJFUzI1NiJ9." + rand.Text() + "." + rand.Text()
	if t.Shared {
		issued = "eyJhbGciOiJIUzI1NiJ9." + t.sign("client") + "." + t.sign("assertion")
	}
	t.assertions[issued] = clientID
	return issued
}

// sign returns what only a server with the same client and secret can make of a text.
func (t *TokenServer) sign(text string) string {
	hash := hmac.New(sha256.New, []byte(t.ClientSecret))
	hash.Write([]byte(t.ClientID + "\x00" + text))
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil))
}

// Inject queues error statuses, one for each of the next requests.
func (t *TokenServer) Inject(statuses ...int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.injected = append(t.injected, statuses...)
}

// Revoke makes a token invalid. A shared one stays valid.
func (t *TokenServer) Revoke(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.valid, token)
}

// Authorize requires a bearer token that this server issued and did not revoke. It is a function for
// Options.Authorize.
func (t *TokenServer) Authorize(r *http.Request) error {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	t.mu.Lock()
	defer t.mu.Unlock()
	name, signature, _ := strings.Cut(token, ".")
	if !t.valid[token] && (!t.Shared || signature != t.sign(name)) {
		return errors.New("the access token is unknown or revoked")
	}
	return nil
}

// ServeHTTP responds to a token request.
func (t *TokenServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, err := readRequest(r)
	if err != nil {
		panic(http.ErrAbortHandler) // the client has disconnected
	}
	t.mu.Lock()
	t.requests = append(t.requests, req)
	status, body := t.respond(r, req)
	req.Status, req.End = status, time.Now()
	t.mu.Unlock()

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encodeJSON(body))
}

// respond returns the status and the body for a request. The caller holds t.mu.
func (t *TokenServer) respond(r *http.Request, req *Request) (int, map[string]any) {
	if len(t.injected) > 0 {
		status := t.injected[0]
		t.injected = t.injected[1:]
		return oauthError(status, "temporarily_unavailable", injectedMessage(status))
	}
	r.Body = io.NopCloser(strings.NewReader(req.Body))
	_ = r.ParseForm() // without a form, the grant_type is missing
	if r.Method != http.MethodPost || r.PostForm.Get("grant_type") != "client_credentials" {
		return oauthError(http.StatusBadRequest, "unsupported_grant_type", "a form with grant_type=client_credentials is required")
	}
	if err := t.checkClient(r); err != nil {
		return oauthError(http.StatusUnauthorized, "invalid_client", err.Error())
	}
	if t.Scope != "" && !slices.Contains(strings.Fields(r.PostForm.Get("scope")), t.Scope) {
		return oauthError(http.StatusBadRequest, "invalid_scope", fmt.Sprintf("the scope %q is required", t.Scope))
	}
	if t.Audience != "" && r.PostForm.Get("audience") != t.Audience {
		return oauthError(http.StatusBadRequest, "invalid_request", fmt.Sprintf("the audience %q is required", t.Audience))
	}

	t.issued++
	token := fmt.Sprintf("token-%d", t.issued)
	if t.Shared {
		token += "." + t.sign(token)
	}
	if t.valid == nil {
		t.valid = map[string]bool{}
	}
	t.valid[token] = true
	return http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer"}
}

// checkClient returns an error unless the client authenticates in exactly one way. The caller holds t.mu.
func (t *TokenServer) checkClient(r *http.Request) error {
	form := r.PostForm
	id, secret := form.Get("client_id"), form.Get("client_secret")
	user, pass, inHeader := r.BasicAuth()
	if inHeader {
		// Both are form-encoded in the header (RFC 6749, section 2.3.1).
		id, _ = url.QueryUnescape(user)
		secret, _ = url.QueryUnescape(pass)
	}
	client, registered := t.assertions[form.Get("client_assertion")]
	const jsonWebToken = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	switch asserted := form.Has("client_assertion"); {
	case inHeader && (asserted || form.Has("client_secret")), asserted && form.Has("client_secret"):
		return errors.New("the client authenticates twice")
	case !asserted && (id != t.ClientID || secret != t.ClientSecret || secret == ""):
		return errors.New("the client is unknown or its secret is wrong")
	case asserted && (!registered || form.Get("client_assertion_type") != jsonWebToken):
		return errors.New("the assertion is unknown")
	case asserted && client != t.ClientID:
		return errors.New("the assertion is for another client")
	}
	return nil
}

func oauthError(status int, code, description string) (int, map[string]any) {
	return status, map[string]any{"error": code, "error_description": description}
}
