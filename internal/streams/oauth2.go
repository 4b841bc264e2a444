package streams

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// OAuth2 is a client of the client credentials grant (RFC 6749, section 4.4).
type OAuth2 struct {
	TokenURL       string // see [ParseTokenURL]
	ClientID       string
	ClientSecret   string
	Scopes         []string
	EndpointParams map[string]string
}

// tokenSource gets one token and shares it among all operations until it expires or is refused. An
// [oauth2.TokenSource] cannot interrupt its wait for a token, and keeps a refused token.
type tokenSource struct {
	*transport
	config clientcredentials.Config
	lock   chan struct{} // a mutex whose wait a context can end; guards config.AuthStyle and token
	token  *oauth2.Token
}

func newTokenSource(cfg OAuth2, t *transport) *tokenSource {
	params := url.Values{}
	for name, value := range cfg.EndpointParams {
		params.Set(name, value)
	}
	return &tokenSource{
		transport: t,
		config: clientcredentials.Config{
			ClientID:       cfg.ClientID,
			ClientSecret:   cfg.ClientSecret,
			TokenURL:       cfg.TokenURL,
			Scopes:         cfg.Scopes,
			EndpointParams: params,
			AuthStyle:      oauth2.AuthStyleInHeader,
		},
		lock: make(chan struct{}, 1),
	}
}

func (s *tokenSource) header(ctx context.Context, refused string) (string, error) {
	select {
	case s.lock <- struct{}{}:
		defer func() { <-s.lock }()
	case <-ctx.Done():
		return "", fmt.Errorf("%w: %w", ErrTokenWait, ctx.Err())
	}
	if !s.token.Valid() || tokenHeader(s.token) == refused {
		token, err := s.getToken(ctx)
		if err != nil {
			return "", err
		}
		s.redactor.add(token.AccessToken)
		s.token = token
	}
	return tokenHeader(s.token), nil
}

// getToken requests a token with the credentials in the header, which RFC 6749 prefers, and if that
// is refused, in the body. The library's own detection would also repeat every other failure.
func (s *tokenSource) getToken(ctx context.Context) (*oauth2.Token, error) {
	token, err := s.requestToken(ctx)
	if s.config.AuthStyle == oauth2.AuthStyleInParams || !credentialsRefused(err) {
		return token, err
	}
	s.config.AuthStyle = oauth2.AuthStyleInParams
	if token, bodyErr := s.requestToken(ctx); bodyErr == nil {
		return token, nil
	}
	s.config.AuthStyle = oauth2.AuthStyleInHeader
	return nil, err
}

func credentialsRefused(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && (e.Status == http.StatusBadRequest || e.Status == http.StatusUnauthorized)
}

func (s *tokenSource) requestToken(ctx context.Context) (*oauth2.Token, error) {
	o := &operation{transport: s.transport, method: http.MethodPost, url: s.config.TokenURL, tokenRequest: true}
	token, err := s.config.Token(context.WithValue(ctx, oauth2.HTTPClient, o.httpClient().StandardClient()))
	if err == nil {
		return token, nil
	}
	retrieveErr := (*oauth2.RetrieveError)(nil)
	if !errors.As(err, &retrieveErr) {
		e := o.noResponse(err)
		if e.Kind == KindConnection && e.Status/100 == 2 {
			e.Kind = KindUnexpected
		}
		return nil, e
	}
	e := o.newError(kindOf(o.status))
	if o.status/100 == 4 && !isRetryableStatus(o.status) {
		e.Kind = KindAuthentication
	}
	if retrieveErr.ErrorCode != "" {
		message := strings.TrimSuffix(fmt.Sprintf("%s: %s", retrieveErr.ErrorCode, retrieveErr.ErrorDescription), ": ")
		e.Message, e.Documented = s.redactor.printable(message, maxMessage), true
	}
	return nil, e
}

// tokenHeader returns the Authorization header for a token.
func tokenHeader(t *oauth2.Token) string {
	if t == nil {
		return ""
	}
	return t.Type() + " " + t.AccessToken
}
