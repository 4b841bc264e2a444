package requests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
)

// tokenSource requests tokens from a token endpoint.
type tokenSource struct {
	client        *client
	config        clientcredentials.Config
	credentials   string     // see [OAuth2]
	assertionFile secretFile // has no path if the client has a secret or a fixed assertion
	health        health     // of the token endpoint
}

// newTokenSource does not send a request.
func newTokenSource(cfg OAuth2, c *client) *tokenSource {
	s := &tokenSource{client: c, credentials: cfg.Credentials, config: clientcredentials.Config{
		ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, TokenURL: cfg.TokenURL, Scopes: cfg.Scopes,
		EndpointParams: url.Values{}, AuthStyle: oauth2.AuthStyleInHeader,
	}}
	for name, value := range cfg.EndpointParams {
		s.config.EndpointParams.Set(name, value)
	}
	if cfg.ClientAssertion != "" {
		s.useAssertion(cfg.ClientAssertion)
	}
	s.assertionFile = secretFile{setting: "oauth2.client_assertion_file", path: cfg.ClientAssertionFile, redactor: c.redactor}
	return s
}

// useAssertion lets an assertion authenticate the client.
func (s *tokenSource) useAssertion(assertion string) {
	s.config.AuthStyle = oauth2.AuthStyleInParams
	s.config.EndpointParams.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	s.config.EndpointParams.Set("client_assertion", assertion)
}

// find requests a token. A rejection is final, unless the file with the assertion changes: a client that is
// rejected again and again may get locked. Other failures hold until a retry would be due.
func (s *tokenSource) find(ctx context.Context, _ string) *credential {
	if s.assertionFile.path != "" {
		return s.findByFile(ctx)
	}
	inHeader := s.requestToken(ctx, s.credentials)
	search, failed := errors.AsType[*failedSearch](inHeader.err)
	refused := failed && search.result.Failure == Unauthenticated && search.result.Documented() // not by a proxy or a page
	if !refused || s.config.AuthStyle == oauth2.AuthStyleInParams {
		return inHeader
	}
	// RFC 6749 prefers the secret in the header. The library's own detection would also repeat every other failure.
	s.config.AuthStyle = oauth2.AuthStyleInParams
	inBody := s.requestToken(ctx, s.credentials)
	if second, failed := errors.AsType[*failedSearch](inBody.err); failed {
		second.result.Attempts += search.result.Attempts
	}
	return inBody
}

// findByFile requests a token with the assertion in the file, as it is now.
func (s *tokenSource) findByFile(ctx context.Context) *credential {
	assertion, unchanged, err := s.assertionFile.read(ctx, "", rotationDelay)
	if err != nil {
		return &credential{err: err, holds: unchanged}
	}
	s.useAssertion(assertion)
	credentials := s.credentials
	if odd := Suspicion(assertion); odd != "" {
		credentials += " (the assertion in the file " + odd + ")"
	}
	found := s.requestToken(ctx, credentials)
	if holds := found.holds; found.err != nil {
		found.holds = func() bool { return unchanged() && holds() }
	}
	return found
}

// requestToken returns a token for most of its life: until ten seconds before its end, or for nine tenths of a shorter one. An error
// says that the request carried these credentials.
func (s *tokenSource) requestToken(ctx context.Context, credentials string) *credential {
	address, _, _ := strings.Cut(s.config.TokenURL, "?") // a query may be secret
	subject := Result{
		Method: http.MethodPost, URL: address, TokenRequest: true, Credentials: credentials, Place: s.client.settings.OAuth2.Place,
	}
	request := &tokenRequest{delivery: s.client.newDelivery(&s.health, nil, subject)}
	token, err := s.config.Token(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: request}))
	value, unsentType := "", ""
	if err == nil {
		value, unsentType, err = tokenHeader(token)
	}
	if err != nil {
		return &credential{err: &failedSearch{request.result(err)}, holds: until(request.end.due)}
	}
	idToken, _ := token.Extra("id_token").(string)
	s.client.redactor.Add(append(masking.Parts(token.AccessToken), token.AccessToken, token.RefreshToken, idToken)...)
	end := token.Expiry
	if !end.IsZero() {
		end = end.Add(-min(10*time.Second, time.Until(token.Expiry)/10))
	}
	found := &credential{value: value, holds: until(end)}
	if unsentType != "" {
		found.note = fmt.Sprintf(`the token was sent as Bearer, because its token_type is "%s", which is no scheme of HTTP`,
			s.client.redactor.Printable(unsentType, masking.MaxText))
	}
	return found
}

// until returns a function that reports whether it is before the given time. Zero means that there is no end.
func until(end time.Time) func() bool {
	return func() bool { return end.IsZero() || time.Now().Before(end) }
}
