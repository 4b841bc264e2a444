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

type tokenSource struct {
	sender        *Sender
	config        clientcredentials.Config
	credentials   string
	assertionFile secretFile // has no path if the client has a secret or a fixed assertion
	endpoint      health
}

func newTokenSource(cfg OAuth2, shared *Sender) *tokenSource {
	s := &tokenSource{sender: shared, credentials: cfg.Credentials, config: clientcredentials.Config{
		ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, TokenURL: cfg.TokenURL, Scopes: cfg.Scopes,
		EndpointParams: url.Values{}, AuthStyle: oauth2.AuthStyleInHeader,
	}}
	for name, value := range cfg.EndpointParams {
		s.config.EndpointParams.Set(name, value)
	}
	if cfg.ClientAssertion != "" {
		s.useAssertion(cfg.ClientAssertion)
	}
	s.assertionFile = secretFile{setting: "oauth2.client_assertion_file", path: cfg.ClientAssertionFile, redactor: shared.Redactor}
	return s
}

func (s *tokenSource) useAssertion(assertion string) {
	s.config.AuthStyle = oauth2.AuthStyleInParams
	s.config.EndpointParams.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	s.config.EndpointParams.Set("client_assertion", assertion)
}

// find requests a token. A rejection is final, unless the file with the assertion changes: a client that is
// rejected again and again may get locked. Other failures hold until a retry would be due.
func (s *tokenSource) find(ctx context.Context, _ string) *header {
	if s.assertionFile.path != "" {
		return s.findByFile(ctx)
	}
	first := s.requestToken(ctx)
	search, failed := errors.AsType[*failedSearch](first.err)
	refused := failed && search.result.Failure == Unauthenticated && search.result.Documented() // not by a proxy or a page
	if !refused || s.config.AuthStyle == oauth2.AuthStyleInParams {
		return first
	}
	// RFC 6749 prefers the secret in the header. The library's own detection would also repeat every other failure.
	s.config.AuthStyle = oauth2.AuthStyleInParams
	if inBody := s.requestToken(ctx); inBody.err == nil {
		return inBody
	}
	return first
}

func (s *tokenSource) findByFile(ctx context.Context) *header {
	assertion, unchanged, err := s.assertionFile.read(ctx, "", rotationDelay)
	if err != nil {
		return &header{err: err, holds: unchanged}
	}
	s.useAssertion(assertion)
	found := s.requestToken(ctx)
	if holds := found.holds; found.err != nil {
		found.holds = func() bool { return unchanged() && holds() }
	}
	return found
}

// requestToken returns a token for most of its life: until ten seconds before its end, or for nine tenths of a shorter one.
func (s *tokenSource) requestToken(ctx context.Context) *header {
	o := &operation{Sender: s.sender, endpoint: &s.endpoint, request: Request{Method: http.MethodPost, URL: s.config.TokenURL}}
	o.header = &header{trial: newTrial()}
	o.result = Result{Method: http.MethodPost, URL: s.config.TokenURL, TokenRequest: true, Credentials: s.credentials}
	responses := &tokenResponses{operation: o, retries: o.httpClient().StandardClient().Transport}
	token, err := s.config.Token(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: responses}))
	if responses.failure != nil {
		return &header{err: &failedSearch{o.failed(responses.failure)}, holds: until(o.next.due)}
	}
	value, unsentType := "", ""
	if err == nil {
		value, unsentType, err = tokenHeader(token)
	}
	if err != nil {
		return &header{err: &failedSearch{o.noToken(err)}, holds: until(o.next.due)}
	}
	idToken, _ := token.Extra("id_token").(string)
	s.sender.Add(append(masking.Parts(token.AccessToken), token.AccessToken, token.RefreshToken, idToken)...)
	end := token.Expiry
	if !end.IsZero() {
		end = end.Add(-min(10*time.Second, time.Until(token.Expiry)/10))
	}
	found := &header{value: value, holds: until(end)}
	if unsentType != "" {
		found.note = fmt.Sprintf(`the token was sent as Bearer, because its token_type is "%s", which is no scheme of HTTP`,
			s.sender.Printable(unsentType, masking.MaxText))
	}
	return found
}

// until returns a function that reports whether it is before the given time. Zero means that there is no end.
func until(end time.Time) func() bool {
	return func() bool { return end.IsZero() || time.Now().Before(end) }
}

// noToken is the result of a token request without a token that can be sent. Some endpoints reject with status 200.
func (o *operation) noToken(err error) Result {
	result := o.result
	rejected, isRejected := errors.AsType[*oauth2.RetrieveError](err)
	_, isMissing := errors.AsType[*noAccessToken](err)
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without method and URL, which the result has
	}
	unusable := "the response has no usable token: " + o.Printable(strings.TrimPrefix(err.Error(), "oauth2: "), masking.MaxText)
	switch status := result.Status; {
	case isRejected:
		if status/100 == 2 || status/100 == 4 && !isRetryableStatus(status) {
			result.Failure = Unauthenticated
		}
		if rejected.ErrorCode != "" && !result.Documented() { // in a form
			message := strings.TrimSuffix(rejected.ErrorCode+": "+rejected.ErrorDescription, ": ")
			result.Message, result.Form = o.Printable(message, masking.MaxMessage), masking.FormDocumented
		}
		return result
	case isMissing && result.Message != "":
		result.Failure = Unauthenticated
		return result.because(unusable)
	case status/100 == 2:
		result.Failure = NoToken
		return result.because(unusable)
	}
	return o.failed(err)
}
