package streams

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// BasicAuth is a user of HTTP Basic authentication.
type BasicAuth struct {
	Username string
	Password string
}

// OAuth2 is a client of the client credentials grant (RFC 6749, section 4.4).
type OAuth2 struct {
	TokenURL       string // see [ParseTokenURL]
	ClientID       string
	ClientSecret   string
	Scopes         []string
	EndpointParams map[string]string
}

// authorization makes the Authorization header of each request; the interface document shows no
// scheme (section 5).
type authorization interface {
	// header returns the header's value, "" for none, and a new one after a 401 to the value refused
	// if there is any to be had.
	header(ctx context.Context, refused string) (string, error)
}

func (cfg Config) authorization(t *transport) authorization {
	switch {
	case cfg.OAuth2 != nil:
		return newTokens(*cfg.OAuth2, t)
	case cfg.BasicAuth != nil:
		return fixed("Basic " + encoded(cfg.BasicAuth.Username, cfg.BasicAuth.Password))
	case cfg.Token != "":
		return fixed("Bearer " + cfg.Token)
	}
	return fixed("")
}

// minSecretHeader is the shortest header value that is hidden: to hide a "1" would maim every text.
const minSecretHeader = 4

// secrets lists what must never be shown, in each form in which it travels.
func (cfg Config) secrets() []string {
	secrets := []string{cfg.Token, cfg.TLS.ClientKeyPEM}
	if a := cfg.BasicAuth; a != nil {
		secrets = append(secrets, a.Password, encoded(a.Username, a.Password))
	}
	if a := cfg.OAuth2; a != nil {
		secrets = append(secrets, a.ClientSecret,
			encoded(url.QueryEscape(a.ClientID), url.QueryEscape(a.ClientSecret)))
	}
	// Go quotes a proxy's address that it cannot read, and that may hold a password.
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if address := os.Getenv(name); strings.Contains(address, "@") {
			secrets = append(secrets, address)
		}
	}
	for _, value := range cfg.Headers {
		if len(value) >= minSecretHeader {
			secrets = append(secrets, value)
		}
		// "Bearer abc": the credential alone is as secret as the whole value.
		if _, credential, found := strings.Cut(value, " "); found && len(credential) >= minSecretHeader {
			secrets = append(secrets, credential)
		}
	}
	return secrets
}

func encoded(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

// fixed is a credential that does not change.
type fixed string

func (f fixed) header(context.Context, string) (string, error) { return string(f), nil }

// tokens gets one OAuth2 token and shares it among all operations until it expires or is refused.
// Not oauth2.TokenSource: a wait for that one cannot be interrupted, and it keeps a refused token.
type tokens struct {
	*transport
	config clientcredentials.Config
	turn   chan struct{} // held by the one operation that looks at the token or renews it
	token  *oauth2.Token
}

func newTokens(a OAuth2, t *transport) *tokens {
	params := url.Values{}
	for name, value := range a.EndpointParams {
		params.Set(name, value)
	}
	return &tokens{
		transport: t,
		config: clientcredentials.Config{
			ClientID:       a.ClientID,
			ClientSecret:   a.ClientSecret,
			TokenURL:       a.TokenURL,
			Scopes:         a.Scopes,
			EndpointParams: params,
			AuthStyle:      oauth2.AuthStyleInHeader,
		},
		turn: make(chan struct{}, 1),
	}
}

func (t *tokens) header(ctx context.Context, refused string) (string, error) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if !t.token.Valid() || value(t.token) == refused {
		token, err := t.request(ctx)
		if err != nil {
			return "", err
		}
		t.secrets.add(token.AccessToken)
		t.token = token
	}
	return value(t.token), nil
}

// request asks for a token with the credentials in the header, which RFC 6749 prefers, and if they
// are refused there, in the body. The library's own detection would repeat an outage's retries too.
func (t *tokens) request(ctx context.Context) (*oauth2.Token, error) {
	token, err := t.ask(ctx)
	if t.config.AuthStyle == oauth2.AuthStyleInParams || !refusedCredentials(err) {
		return token, err
	}
	t.config.AuthStyle = oauth2.AuthStyleInParams
	if token, second := t.ask(ctx); second == nil {
		return token, nil
	}
	t.config.AuthStyle = oauth2.AuthStyleInHeader
	return nil, err
}

func refusedCredentials(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && (e.Status == http.StatusBadRequest || e.Status == http.StatusUnauthorized)
}

func (t *tokens) ask(ctx context.Context) (*oauth2.Token, error) {
	o := &operation{transport: t.transport, method: http.MethodPost, url: t.config.TokenURL, secret: true}
	token, err := t.config.Token(context.WithValue(ctx, oauth2.HTTPClient, o.client().StandardClient()))
	if err == nil {
		return token, nil
	}
	refused := (*oauth2.RetrieveError)(nil)
	if !errors.As(err, &refused) {
		e := o.failure(err)
		if e.Status/100 == 2 {
			e.Kind = KindAuthentication
		}
		return nil, e
	}
	e := o.error(kindOf(o.status))
	if o.status/100 == 2 || o.status/100 == 4 && !retryableStatus(o.status) {
		e.Kind = KindAuthentication
	}
	if refused.ErrorCode != "" {
		said := strings.TrimSuffix(fmt.Sprintf("%s: %s", refused.ErrorCode, refused.ErrorDescription), ": ")
		e.Message, e.Documented = cut(visible(t.secrets.hide(said)), maxMessage), true
	}
	return nil, e
}

// value is the Authorization header for a token.
func value(t *oauth2.Token) string {
	if t == nil {
		return ""
	}
	return t.Type() + " " + t.AccessToken
}
