// Package requests sends requests to a service, each with all its attempts: waits and retries, and credentials. It knows nothing
// about streams. How a host is reached is in package transport, and what is masked in package masking. Comments cite the INTERFACE.md of package streams. Its words:
//
//   - operation: one request of the caller, or a token request, with all its attempts.
//   - result: what came of an operation. A response but a 2xx is one, too.
//   - endpoint: the service or the token endpoint.
//   - health: what all operations together have learned about an endpoint. It works, fails, or is mute.
//   - patience: how long an operation retries. Then it has lost its patience.
//   - header: a value of the Authorization header. A credential has one at a time; a search finds the next one.
//   - rejection: a response with 401. Other failures do not show that a header is wrong.
//   - trial: what the responses to requests with a header show, until there is a verdict.
//   - turn: of an operation that may send a header while it is on trial. Each of its requests is a try.
//   - secret: what is masked in texts from outside.
package requests

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"

	"golang.org/x/time/rate"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Sender sends requests with one configuration. It is safe for concurrent use.
type Sender struct {
	*masking.Redactor
	settings   Config // with the defaults
	network    transport.Network
	slots      chan struct{} // has an element for each attempt under way
	limiter    *rate.Limiter
	credential *credential
	service    health
}

// New returns a sender for a deployment at this address. It does not send a request.
func New(cfg Config, baseURL *url.URL) (*Sender, error) {
	if _, problems := cfg.TLS.Config(); len(problems) > 0 {
		return nil, fmt.Errorf("tls.%s %w", problems[0].Setting, problems[0].Err)
	}
	var tokenURL *url.URL
	if cfg.OAuth2 != nil {
		var err error
		if tokenURL, err = transport.ParseURL(cfg.OAuth2.TokenURL); err != nil {
			return nil, fmt.Errorf("oauth2.token_url %w", err)
		}
	}
	cfg.RequestTimeout = cmp.Or(cfg.RequestTimeout, 30*time.Second) // also covers connecting and the TLS handshake
	cfg.Retry = cmp.Or(cfg.Retry, DefaultRetry)
	cfg.MaxConcurrent = cmp.Or(cfg.MaxConcurrent, 64)
	s := &Sender{
		Redactor: new(masking.Redactor),
		settings: cfg,
		network:  transport.NewNetwork(transport.Settings{TLS: cfg.TLS, MaxConcurrent: cfg.MaxConcurrent, DialContext: cfg.DialContext}, baseURL, tokenURL),
		slots:    make(chan struct{}, cfg.MaxConcurrent),
		limiter:  rate.NewLimiter(cmp.Or(rate.Limit(cfg.RequestsPerSecond), rate.Inf), 1),
	}
	s.Add(cfg.secrets()...)
	s.credential = newCredential(s)
	return s, nil
}

func newCredential(s *Sender) *credential {
	c, cfg := &credential{search: make(chan struct{}, 1)}, s.settings
	fixed := &header{trial: newTrial(), holds: func() bool { return c.source == nil }}
	c.last.Store(fixed)
	switch {
	case cfg.OAuth2 != nil:
		c.source, c.issued = newTokenSource(*cfg.OAuth2, s).find, true
	case cfg.TokenFile != "":
		c.source = (&secretFile{setting: "token_file", path: cfg.TokenFile, redactor: s.Redactor}).findToken
	case cfg.BasicAuth != nil:
		fixed.value = "Basic " + basicCredentials(cfg.BasicAuth.Username, cfg.BasicAuth.Password)
	case cfg.Token != "":
		fixed.value = "Bearer " + cfg.Token
	}
	return c
}

// MaxConcurrent is the limit of requests at the same time.
func (s *Sender) MaxConcurrent() int { return cap(s.slots) }

// Request is what the service gets, beside its credential and the configured headers.
type Request struct {
	Method string
	URL    string
	Body   []byte // JSON; nil: none
}

// Send sends a request to the service until there is a response that would not be another one later, or the operation ends.
func (s *Sender) Send(ctx context.Context, request Request) Result {
	o := &operation{Sender: s, endpoint: &s.service, request: request}
	o.result = Result{Method: request.Method, URL: request.URL, Credentials: s.settings.Credentials, Unused: s.settings.Unused}
	if err := o.sendAuthorized(ctx); err != nil {
		return o.failed(err)
	}
	return o.result
}
