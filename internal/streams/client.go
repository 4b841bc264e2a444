// Package streams is a client for version 2 of the stream management service. Comments cite INTERFACE.md.
package streams

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Client sends requests to one deployment of the service. It is safe for concurrent use.
type Client struct {
	sender
	baseURL    *url.URL
	credential *credential
	endpoint   health
	decoding   sync.Mutex // bodies are read one at a time, because a set in JSON needs many times its size
}

// New returns a client for a deployment. It does not send a request.
func New(cfg Config) (*Client, error) {
	baseURL, err := ParseBaseURL(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL %w", err)
	}
	if _, problems := cfg.TLS.Config(); len(problems) > 0 {
		return nil, fmt.Errorf("tls.%s %w", problems[0].Setting, problems[0].Err)
	}
	var tokenURL *url.URL
	if cfg.OAuth2 != nil {
		if tokenURL, err = ParseURL(cfg.OAuth2.TokenURL); err != nil {
			return nil, fmt.Errorf("oauth2.token_url %w", err)
		}
	}
	cfg.RequestTimeout = cmp.Or(cfg.RequestTimeout, 30*time.Second) // also covers connecting and the TLS handshake
	cfg.Retry = cmp.Or(cfg.Retry, DefaultRetry)
	cfg.MaxConcurrent = cmp.Or(cfg.MaxConcurrent, 64)
	c := &Client{baseURL: baseURL, sender: sender{
		settings: cfg,
		network:  newNetwork(cfg, baseURL, tokenURL),
		slots:    make(chan struct{}, cfg.MaxConcurrent),
		limiter:  rate.NewLimiter(cmp.Or(rate.Limit(cfg.RequestsPerSecond), rate.Inf), 1),
		redactor: new(redactor),
	}}
	c.redactor.add(cfg.secrets()...)
	c.credential = newCredential(&c.sender)
	return c, nil
}

// Redact masks known secrets in a text that the service reported, such as a field of a [Stream]. It cuts a long text.
func (c *Client) Redact(text string) string { return c.redactor.mask(text, maxShown) }

// MaxConcurrent is the limit of requests at the same time.
func (c *Client) MaxConcurrent() int { return cap(c.slots) }

// UpdateStream attaches exactly the given processors to a stream: PATCH /v2/streams/{id} (INTERFACE.md, section 4).
// Every failure is an [*Error], also a response without the stream or with another set.
func (c *Client) UpdateStream(ctx context.Context, id string, processors ProcessorSet) (*Stream, error) {
	return c.do(ctx, http.MethodPatch, id, &processors)
}

// ReadStream reads a stream: GET /v2/streams/{id}, which a deployment may not have (INTERFACE.md, section 4).
// Every failure is an [*Error].
func (c *Client) ReadStream(ctx context.Context, id string) (*Stream, error) {
	stream, err := c.do(ctx, http.MethodGet, id, nil)
	if e, failed := errors.AsType[*Error](err); failed {
		e.Outcome = NotChanged
	}
	return stream, err
}

// do sends a request. It fails if the response is not this stream, or does not have the set of an update.
func (c *Client) do(ctx context.Context, method, id string, update *ProcessorSet) (*Stream, error) {
	r := &request{sender: &c.sender, endpoint: &c.endpoint, draft: Error{Credentials: c.settings.Credentials}}
	if err := CheckStreamID(id); err != nil {
		return nil, r.fail(KindBadRequest, "stream id "+err.Error())
	}
	r.draft.Method = method
	r.draft.URL = c.baseURL.String() + "/v2/streams/" + url.PathEscape(id) // always one segment of the path
	if update != nil {
		var body bytes.Buffer
		encoder := json.NewEncoder(&body)
		encoder.SetEscapeHTML(false)                                           // ids are sent as they were written
		_ = encoder.Encode(map[string][]string{"processor_ids": update.IDs()}) // fails for no strings
		r.body = bytes.TrimSpace(body.Bytes())
	}
	resp, err := r.sendAuthorized(ctx, c.credential)
	if err != nil {
		return nil, r.noResponse(err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, r.fail(kindOf(resp.StatusCode), "")
	}
	c.decoding.Lock()
	stream, err := decode(r.response, id, c.redactor)
	c.decoding.Unlock()
	if err != nil {
		// The body is the best clue to what has responded: a login page, for example.
		r.draft.Message, r.draft.Documented = readMessage(r.response, c.redactor)
		r.draft.Outcome = Unknown
		return nil, r.fail(KindUnexpected, err.Error())
	}
	sent := cmp.Or(update, new(ProcessorSet)).nfc()
	if update != nil && stream.ProcessorIDs.Equal(sent) { // all of its ids are the user's own
		return stream, nil
	}
	stream.shown = c.redactor.processors(stream.ProcessorIDs, sent)
	if update == nil {
		return stream, nil
	}
	r.draft.Outcome, r.draft.Stream = Changed, stream
	return nil, r.fail(KindUnexpected, c.redactor.difference(sent, stream.ProcessorIDs))
}

// difference says how the reported set differs from the sent one. An update may replace or merge (INTERFACE.md, section 4).
func (r *redactor) difference(sent, reported ProcessorSet) string {
	var parts []string
	missing, additional := sent.Minus(reported), reported.Minus(sent)
	if missing.Len() > 0 {
		parts = append(parts, "the service did not attach "+missing.String())
	}
	if additional.Len() > 0 {
		parts = append(parts, "the service reports additional processors "+r.processors(additional, ProcessorSet{}))
	}
	if missing.Len() == 0 {
		parts = append(parts, "it may have merged the set instead of replacing it")
	}
	return strings.Join(parts, "; ")
}

// processors describes a set that the service reported. The ids that the user wrote are shown as they are.
func (r *redactor) processors(reported, own ProcessorSet) string {
	var shown ProcessorSet
	for length := 0; len(shown.ids) < reported.Len() && length < maxMessage; {
		id := reported.ids[len(shown.ids)]
		if !own.contains(id) {
			id = r.mask(id, maxText)
		}
		shown.ids, length = append(shown.ids, id), length+len(id)
	}
	if shown.Len() < reported.Len() {
		return strings.TrimSuffix(shown.String(), "]") + ", …]"
	}
	return shown.String()
}
