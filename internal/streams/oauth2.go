package streams

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

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

// tokenSource requests tokens.
type tokenSource struct {
	*transport
	config        clientcredentials.Config
	assertion     string      // "": none
	assertionFile *secretFile // nil: none
	worked        bool        // the endpoint has issued a token
	endpoint      verdict
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
	}
	if cfg.ClientAssertionFile != "" {
		s.assertionFile = &secretFile{"oauth2.client_assertion_file", cfg.ClientAssertionFile}
	}
	return s
}

// find requests a token. A refusal holds for the run, unless the file with the assertion changes: a client that is
// refused again and again may get locked. Other failures hold until a retry would be due.
func (s *tokenSource) find(ctx context.Context, _ string) found {
	unchanged := always
	if s.assertionFile != nil {
		unchanged = s.assertionFile.unchanged(s.assertionFile.info())
	}
	assertion, err := s.readAssertion()
	if err != nil {
		return found{err: err, holds: unchanged}
	}
	token, retryAt, err := s.getToken(ctx, assertion)
	if isRefusal(err) && s.assertionFile != nil && s.worked {
		// The file worked before, so a new assertion may be on its way.
		other, info, readErr := s.assertionFile.readUntil(ctx, func(text string, err error) bool { return err == nil && text != assertion })
		if unchanged = s.assertionFile.unchanged(info); readErr == nil && other != assertion {
			s.redactor.add(other)
			token, retryAt, err = s.getToken(ctx, other)
		}
	}
	if err != nil {
		return found{err: err, holds: func() bool { return unchanged() && (retryAt.IsZero() || time.Now().Before(retryAt)) }}
	}
	s.worked = true
	s.redactor.add(tokenSecrets(token)...)
	return found{header: token.Type() + " " + token.AccessToken, holds: validFor(token)}
}

// validFor returns a function that reports whether a token is worth another request: it is about to expire
// in its last ten seconds, or in the last tenth of a shorter life.
func validFor(t *oauth2.Token) func() bool {
	if t.Expiry.IsZero() {
		return always
	}
	end := t.Expiry.Add(-min(10*time.Second, time.Until(t.Expiry)/10))
	return func() bool { return time.Now().Before(end) }
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

// getToken requests a token with an assertion, or else with the secret: in the header, which RFC 6749 prefers,
// and if that is refused, in the body. The library's own detection would also repeat every other failure. After a
// failure, retryAt is the time for another try, or zero if a repeated request would fail in the same way.
func (s *tokenSource) getToken(ctx context.Context, assertion string) (token *oauth2.Token, retryAt time.Time, err error) {
	config := s.config
	if assertion != "" {
		config.AuthStyle = oauth2.AuthStyleInParams
		config.EndpointParams = maps.Clone(config.EndpointParams)
		config.EndpointParams.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		config.EndpointParams.Set("client_assertion", assertion)
	}
	token, retryAt, err = s.requestToken(ctx, config)
	if config.AuthStyle == oauth2.AuthStyleInParams || !isRefusal(err) {
		return token, retryAt, err
	}
	config.AuthStyle = oauth2.AuthStyleInParams
	if token, _, bodyErr := s.requestToken(ctx, config); bodyErr == nil {
		s.config.AuthStyle = oauth2.AuthStyleInParams
		return token, time.Time{}, nil
	}
	return nil, retryAt, err
}

// isRefusal reports whether the token endpoint has refused the client.
func isRefusal(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && (e.Status == http.StatusBadRequest || e.Status == http.StatusUnauthorized)
}

func (s *tokenSource) requestToken(ctx context.Context, config clientcredentials.Config) (*oauth2.Token, time.Time, error) {
	known := Error{Method: http.MethodPost, URL: s.config.TokenURL, TokenRequest: true}
	o := &operation{transport: s.transport, known: known, endpoint: &s.endpoint}
	token, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, o.httpClient().StandardClient()))
	var retryAt time.Time
	if o.retryable {
		retryAt = time.Now().Add(o.retryWait)
	}
	retrieveErr := (*oauth2.RetrieveError)(nil)
	switch {
	case err == nil:
		if err = CheckToken(token.AccessToken); err == nil {
			return token, time.Time{}, nil
		}
		return nil, retryAt, o.fail(KindUnexpected, "the token in the response cannot be sent: "+err.Error())
	case errors.As(err, &retrieveErr):
		return nil, retryAt, s.refused(o, retrieveErr)
	}
	e := o.noResponse(err)
	if e.Kind == KindConnection && e.Status/100 == 2 {
		e.Kind = KindUnexpected
		e.Reason = "the response has no token: " + s.redactor.printable(strings.TrimPrefix(err.Error(), "oauth2: "), maxText)
	}
	return nil, retryAt, e
}

// refused is the error for an error response of the token endpoint. Some endpoints send it with status 200.
func (s *tokenSource) refused(o *operation, err *oauth2.RetrieveError) *Error {
	status := o.known.Status
	e := o.fail(kindOf(status), "")
	if status/100 == 4 && !isRetryableStatus(status) || status/100 == 2 && err.ErrorCode != "" {
		e.Kind = KindAuthentication
	}
	if err.ErrorCode != "" {
		message := strings.TrimSuffix(fmt.Sprintf("%s: %s", err.ErrorCode, err.ErrorDescription), ": ")
		e.Message, e.Documented = s.redactor.printable(message, maxMessage), true
	}
	return e
}
