// Package requests sends requests to a service, each with all its attempts: waits and retries, and credentials. It knows nothing
// about streams. How a host is reached is in package transport, and what is masked in package masking. Comments cite the
// INTERFACE.md of package streams. DESIGN.md has its words.
package requests

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/time/rate"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Sender sends requests with one configuration. It is safe for concurrent use.
type Sender struct {
	client      *client
	credentials *credentials
	health      health // of the service
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
	cfg.MaxConcurrent = cmp.Or(cfg.MaxConcurrent, 10)
	c := &client{
		settings: cfg,
		redactor: new(masking.Redactor),
		network: transport.NewNetwork(
			transport.Settings{TLS: cfg.TLS, MaxConcurrent: cfg.MaxConcurrent, DialContext: cfg.DialContext}, baseURL, tokenURL),
		limits: limits{
			slots:   make(chan struct{}, cfg.MaxConcurrent),
			limiter: rate.NewLimiter(cmp.Or(rate.Limit(cfg.RequestsPerSecond), rate.Inf), 1),
		},
	}
	c.redactor.Add(cfg.secrets()...)
	return &Sender{client: c, credentials: newCredentials(c)}, nil
}

// newCredentials returns the credentials of a configuration, which may have none.
func newCredentials(c *client) *credentials {
	all, cfg := &credentials{search: make(chan struct{}, 1)}, c.settings
	fixed := &credential{trial: newTrial(), holds: func() bool { return all.source == nil }}
	all.last.Store(fixed)
	switch {
	case cfg.OAuth2 != nil:
		all.source, all.issued = newTokenSource(*cfg.OAuth2, c).find, true
	case cfg.TokenFile != "":
		all.source = (&secretFile{setting: "token_file", path: cfg.TokenFile, redactor: c.redactor}).findToken
	case cfg.BasicAuth != nil:
		fixed.value = "Basic " + basicCredentials(cfg.BasicAuth.Username, cfg.BasicAuth.Password)
	case cfg.Token != "":
		fixed.value = "Bearer " + cfg.Token
	}
	return all
}

// MaxConcurrent is the limit of requests at the same time.
func (s *Sender) MaxConcurrent() int { return cap(s.client.limits.slots) }

// Redactor masks the secrets of the configuration, and those that were received.
func (s *Sender) Redactor() *masking.Redactor { return s.client.redactor }

// Request is what the service gets, beside its credential and the configured headers.
type Request struct {
	Method string
	URL    string
	Body   []byte // JSON; nil: none
}

// Send sends a request to the service until there is a response that would not be another one later, or the operation ends.
func (s *Sender) Send(ctx context.Context, request Request) Result {
	cfg := s.client.settings
	subject := Result{Method: request.Method, URL: request.URL, Credentials: cfg.Credentials, Unused: cfg.Unused}
	d := s.client.newDelivery(&s.health, s.credentials, subject)
	req, err := http.NewRequestWithContext(ctx, request.Method, request.URL, bytes.NewReader(request.Body))
	if err != nil {
		return d.history.result(step{}, fmt.Errorf("%w: %w", transport.ErrNotSent, err))
	}
	s.setHeader(req, request)
	end, err := d.run(ctx, req)
	return d.history.result(end, err)
}

// setHeader sets all but the credential.
func (s *Sender) setHeader(req *http.Request, request Request) {
	req.Header.Set("Accept", "application/json")
	for name, value := range s.client.settings.Headers {
		req.Header.Set(name, value)
	}
	if request.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if request.Method == http.MethodGet { // a cache must not respond for the service (RFC 9111, section 5.2.1.4)
		req.Header.Set("Cache-Control", "no-cache")
	}
}
