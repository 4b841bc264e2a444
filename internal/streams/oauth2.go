package streams

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// OAuth2 is a client of the client credentials grant (RFC 6749, section 4.4).
type OAuth2 struct {
	TokenURL       string // see [ParseTokenURL]
	ClientID       string
	Scopes         []string
	EndpointParams map[string]string // the values are secret

	// Set one of these. An assertion authenticates the client instead of a secret (RFC 7523, section
	// 2.2); its file is read for each token request.
	ClientSecret        string
	ClientAssertion     string
	ClientAssertionFile string
}

// tokenSource gets one token and shares it among all operations until it expires or is refused. An
// [oauth2.TokenSource] cannot interrupt its wait for a token, and keeps a refused token.
type tokenSource struct {
	*transport
	config        clientcredentials.Config
	assertion     string      // "": none
	assertionFile *secretFile // nil: none
	renewal       renewal
	failures      atomic.Int64 // of token requests
	reachability  reachability // of the token endpoint

	lock    chan struct{} // a mutex whose wait a context can end; guards the fields below
	token   *oauth2.Token
	failure error    // of the last token request; nil if it succeeded or was interrupted
	refusal *refusal // nil: the endpoint has not refused the client
}

// refusal is a definitive refusal by the token endpoint. It holds for the run, because a client that
// is refused again and again may get locked.
type refusal struct {
	err       error
	assertion string // that was refused; another one in the file is worth another request
}

func newTokenSource(cfg OAuth2, t *transport) *tokenSource {
	params := url.Values{}
	for name, value := range cfg.EndpointParams {
		params.Set(name, value)
	}
	s := &tokenSource{
		transport: t,
		config: clientcredentials.Config{
			ClientID:       cfg.ClientID,
			ClientSecret:   cfg.ClientSecret,
			TokenURL:       cfg.TokenURL,
			Scopes:         cfg.Scopes,
			EndpointParams: params,
			AuthStyle:      oauth2.AuthStyleInHeader,
		},
		assertion: cfg.ClientAssertion,
		lock:      make(chan struct{}, 1),
	}
	if cfg.ClientAssertionFile != "" {
		s.assertionFile = &secretFile{"oauth2.client_assertion_file", cfg.ClientAssertionFile}
	}
	return s
}

func (s *tokenSource) accepted(header string) { s.renewal.accept(header) }

func (s *tokenSource) header(ctx context.Context, refused string) (string, error) {
	failures := s.failures.Load()
	select {
	case s.lock <- struct{}{}:
		defer func() { <-s.lock }()
	case <-ctx.Done():
		return "", fmt.Errorf("%w: %w", ErrTokenWait, ctx.Err())
	}
	current := tokenHeader(s.token)
	wasRefused := s.token != nil && current == refused
	switch {
	case s.token.Valid() && (!wasRefused || !s.renewal.worthwhile()):
		return current, nil
	case s.failure != nil && s.failures.Load() != failures:
		return "", s.failure // of a request that was made while this operation waited
	}
	token, err := s.getToken(ctx)
	if s.failure = nil; err != nil {
		if ctx.Err() == nil {
			s.failure = err
			s.failures.Add(1)
		}
		return "", err
	}
	s.redactor.add(tokenSecrets(token)...)
	s.renewal.replace(tokenHeader(token), wasRefused)
	s.token = token
	return tokenHeader(token), nil
}

// getToken requests a token, unless the endpoint has refused the client before.
func (s *tokenSource) getToken(ctx context.Context) (*oauth2.Token, error) {
	assertion, err := s.readAssertion()
	if err != nil {
		return nil, err
	}
	if s.refusal != nil && s.refusal.assertion == assertion {
		return nil, s.refusal.err
	}
	token, err := s.getTokenWith(ctx, assertion)
	if isRefusal(err) && s.assertionFile != nil && s.token != nil {
		// The file worked before, so a new assertion may be on its way.
		if other, readErr := s.assertionFile.readOther(ctx, assertion); readErr == nil && other != assertion {
			assertion = other
			s.redactor.add(assertion)
			token, err = s.getTokenWith(ctx, assertion)
		}
	}
	if s.refusal = nil; isRefusal(err) {
		s.refusal = &refusal{err, assertion}
	}
	return token, err
}

// readAssertion returns the client's assertion, or "" if the client has a secret.
func (s *tokenSource) readAssertion() (string, error) {
	if s.assertionFile == nil {
		return s.assertion, nil
	}
	assertion, err := s.assertionFile.read()
	s.redactor.add(assertion)
	return assertion, err
}

// getTokenWith requests a token with an assertion, or else with the secret: in the header, which RFC
// 6749 prefers, and if that is refused, in the body. The library's own detection would also repeat
// every other failure.
func (s *tokenSource) getTokenWith(ctx context.Context, assertion string) (*oauth2.Token, error) {
	config := s.config
	if assertion != "" {
		config.AuthStyle = oauth2.AuthStyleInParams
		config.EndpointParams = maps.Clone(config.EndpointParams)
		config.EndpointParams.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		config.EndpointParams.Set("client_assertion", assertion)
	}
	token, err := s.requestToken(ctx, config)
	if config.AuthStyle == oauth2.AuthStyleInParams || !isRefusal(err) {
		return token, err
	}
	config.AuthStyle = oauth2.AuthStyleInParams
	token, bodyErr := s.requestToken(ctx, config)
	if bodyErr != nil {
		return nil, err
	}
	s.config.AuthStyle = oauth2.AuthStyleInParams
	return token, nil
}

// isRefusal reports whether the token endpoint has refused the client.
func isRefusal(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && (e.Status == http.StatusBadRequest || e.Status == http.StatusUnauthorized)
}

func (s *tokenSource) requestToken(ctx context.Context, config clientcredentials.Config) (*oauth2.Token, error) {
	o := &operation{transport: s.transport, method: http.MethodPost, url: s.config.TokenURL, tokenRequest: true, reachability: &s.reachability}
	client := o.httpClient().StandardClient()
	client.Transport = tolerantTokens{client.Transport}
	token, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err == nil {
		return token, nil
	}
	retrieveErr := (*oauth2.RetrieveError)(nil)
	if !errors.As(err, &retrieveErr) {
		e := o.noResponse(err)
		if e.Kind == KindConnection && e.Status/100 == 2 {
			e.Kind = KindUnexpected
			e.Reason = "the response has no token: " + s.redactor.printable(strings.TrimPrefix(err.Error(), "oauth2: "), maxText)
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
