package requests

import (
	"cmp"
	"context"
	"errors"
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
	sender        *Sender
	config        clientcredentials.Config
	assertionFile secretFile    // has no path if the client has a secret or a fixed assertion
	health        health        // of the token endpoint
	credentials   credentials   // of its requests: none, beside those that package oauth2 sets
	refused       *noCredential // of the last assertion in the file; nil: none
}

// newTokenSource does not send a request.
func newTokenSource(cfg OAuth2, sender *Sender) *tokenSource {
	s := &tokenSource{sender: sender, credentials: credentials{current: noAuthorization()}, config: clientcredentials.Config{
		ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, TokenURL: cfg.TokenURL, Scopes: cfg.Scopes,
		EndpointParams: url.Values{}, AuthStyle: oauth2.AuthStyleInHeader,
	}}
	for name, value := range cfg.EndpointParams {
		s.config.EndpointParams.Set(name, value)
	}
	if cfg.ClientAssertion != "" {
		s.useAssertion(cfg.ClientAssertion)
	}
	s.assertionFile = secretFile{setting: "oauth2.client_assertion_file", path: cfg.ClientAssertionFile, redactor: sender.redactor}
	return s
}

// useAssertion lets an assertion authenticate the client.
func (s *tokenSource) useAssertion(assertion string) {
	s.config.AuthStyle = oauth2.AuthStyleInParams
	s.config.EndpointParams.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	s.config.EndpointParams.Set("client_assertion", assertion)
}

// find requests a token. With a file, it is requested with the assertion that the file has now.
func (s *tokenSource) find(ctx context.Context) (*credential, *noCredential) {
	if s.assertionFile.path == "" {
		return s.requestToken(ctx)
	}
	before := s.assertionFile.last
	assertion, err := s.assertionFile.read(ctx)
	switch {
	case err != nil:
		return nil, unreadable(err)
	case assertion == before && s.refused != nil: // a client that is rejected again and again may get locked
		return nil, s.refused
	}
	s.useAssertion(assertion)
	found, failed := s.requestToken(ctx)
	if s.refused = nil; failed != nil && failed.until.IsZero() {
		s.refused, failed.until = failed, time.Now()
	}
	return found, failed
}

// requestToken requests a token, with the secret in the body if the endpoint refuses it in the header, which RFC 6749 prefers. The
// library's own detection would also repeat every other failure.
func (s *tokenSource) requestToken(ctx context.Context) (*credential, *noCredential) {
	found, failed := s.requestOnce(ctx)
	refused := failed != nil && failed.result.Failure == Unauthenticated && failed.result.Documented() // not by a proxy or a page
	if !refused || s.config.AuthStyle == oauth2.AuthStyleInParams {
		return found, failed
	}
	s.config.AuthStyle = oauth2.AuthStyleInParams
	inHeader := failed.result.Attempts
	if found, failed = s.requestOnce(ctx); failed != nil {
		failed.result.Attempts += inHeader
	}
	return found, failed
}

// requestOnce requests a token, which is current until ten seconds before its end, or for nine tenths of a shorter life. A rejection is
// final, and another failure holds until a retry would be due.
func (s *tokenSource) requestOnce(ctx context.Context) (*credential, *noCredential) {
	cfg := s.sender.settings.OAuth2
	address, _, _ := strings.Cut(cfg.TokenURL, "?") // a query may be secret
	subject := Result{Method: http.MethodPost, URL: address, TokenRequest: true, Credentials: cfg.Credentials, Place: cfg.Place}
	if odd := Suspicion(s.assertionFile.last); odd != "" && s.assertionFile.path != "" {
		subject.Credentials += " (the assertion in the file " + odd + ")"
	}
	request := &tokenRequest{delivery: delivery{sender: s.sender, health: &s.health, credentials: &s.credentials,
		history: history{subject: subject, redactor: s.sender.redactor}}}
	token, err := s.config.Token(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: request}))
	if err == nil {
		err = CheckToken(token.AccessToken)
	}
	if err != nil {
		failed := &noCredential{result: request.result(err), until: request.end.due}
		if failed.hurried = errors.Is(failed.result.Err, ErrRateLimit) || errors.Is(failed.result.Err, ErrNoTime); failed.hurried {
			failed.until = cmp.Or(failed.until, time.Now())
		}
		return nil, failed
	}
	idToken, _ := token.Extra("id_token").(string)
	s.sender.redactor.Add(append(masking.Parts(token.AccessToken), token.AccessToken, token.RefreshToken, idToken)...)
	end := token.Expiry
	if !end.IsZero() {
		end = end.Add(-min(10*time.Second, time.Until(token.Expiry)/10))
	}
	return &credential{value: "Bearer " + token.AccessToken, end: end}, nil // whatever its token_type, which few services mean
}
