package streams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http/httpproxy"
	"golang.org/x/time/rate"
)

// Config is the address of a deployment and the settings for requests to it. Only BaseURL is required.
type Config struct {
	BaseURL string // see [ParseBaseURL]

	// Set at most one of these. No scheme is specified (INTERFACE.md, section 5).
	Token     string
	TokenFile string // the path of a file with a bearer token, which may change at any time
	BasicAuth *BasicAuth
	OAuth2    *OAuth2

	// Credentials says in errors what authenticates requests, such as "a bearer token". It must hold no secret.
	Credentials string

	Headers           map[string]string // sent to the service, not to a token endpoint; the values are secret
	TLS               TLS
	RequestTimeout    time.Duration // of one attempt; 0 means 30 seconds
	Retry             Retry         // the zero value means DefaultRetry
	RequestsPerSecond float64       // 0 means no limit
	MaxConcurrent     int           // requests at the same time; 0 means 64
	UserAgent         string
	Observe           func(context.Context, Attempt) // called after each attempt; may be nil

	// DialContext makes connections, as in [http.Transport]; nil means the network.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client sends requests to one deployment of the service. It is safe for concurrent use.
type Client struct {
	*transport
	baseURL    *url.URL
	credential *credential
	endpoint   verdict
	decoding   sync.Mutex
}

// New returns a client for a deployment. It does not send a request.
func New(cfg Config) (*Client, error) {
	baseURL, err := ParseBaseURL(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL %w", err)
	}
	tlsConfig, err := cfg.TLS.config()
	if err != nil {
		return nil, fmt.Errorf("TLS settings: %w", err)
	}
	cfg.RequestTimeout = cmp.Or(cfg.RequestTimeout, 30*time.Second)
	cfg.Retry = cmp.Or(cfg.Retry, DefaultRetry)
	cfg.MaxConcurrent = cmp.Or(cfg.MaxConcurrent, 64)
	proxy := httpproxy.FromEnvironment()
	if err := checkProxy(proxy, baseURL); err != nil {
		return nil, err
	}
	if cfg.OAuth2 != nil {
		tokenURL, err := ParseTokenURL(cfg.OAuth2.TokenURL)
		if err != nil {
			return nil, fmt.Errorf("token URL %w", err)
		}
		if err := checkProxy(proxy, tokenURL); err != nil {
			return nil, err
		}
	}
	if !httpguts.ValidHeaderFieldValue(cfg.UserAgent) {
		return nil, errors.New("the User-Agent, which TF_APPEND_USER_AGENT is a part of, has a line break or another control character")
	}
	t := &transport{
		settings: cfg,
		base:     newHTTPTransport(cfg, tlsConfig, proxy),
		slots:    make(chan struct{}, cfg.MaxConcurrent),
		limiter:  rate.NewLimiter(cmp.Or(rate.Limit(cfg.RequestsPerSecond), rate.Inf), 1),
		redactor: new(redactor),
	}
	t.redactor.add(cfg.secrets()...)
	return &Client{transport: t, baseURL: baseURL, credential: newCredential(cfg, t)}, nil
}

// Redact masks known secrets in a text that the service reported, such as a field of a [Stream].
func (c *Client) Redact(text string) string { return c.redactor.mask(text) }

// MaxConcurrent is the limit of requests at the same time.
func (c *Client) MaxConcurrent() int { return cap(c.slots) }

// UpdateStream attaches exactly the given processors to a stream, and detaches all others: PATCH
// /v2/streams/{id} (INTERFACE.md, section 4). The update fails if the response is not this stream
// with this set. Every failure is an [*Error].
func (c *Client) UpdateStream(ctx context.Context, id string, processors ProcessorSet) (*Stream, error) {
	body, _ := marshalUnescaped(map[string][]string{"processor_ids": processors.IDs()}) // fails for no strings
	o := &operation{transport: c.transport, known: Error{Method: http.MethodPatch}, body: body}
	updated, e := c.run(ctx, o, id)
	if e != nil {
		return nil, e
	}
	if !updated.ProcessorIDs.Equal(processors) {
		updated.shown = c.redactor.processors(updated.ProcessorIDs, processors)
		e = o.fail(KindUnexpected, c.redactor.difference(processors, updated.ProcessorIDs))
		e.Outcome, e.Stream = Changed, updated
		return nil, e
	}
	return updated, nil
}

// ReadStream reads a stream: GET /v2/streams/{id}. This operation is not shown (INTERFACE.md,
// section 4), so call it only for a deployment that is known to have it. Every failure is an
// [*Error] with the outcome NotChanged.
func (c *Client) ReadStream(ctx context.Context, id string) (*Stream, error) {
	o := &operation{transport: c.transport, known: Error{Method: http.MethodGet}}
	stream, e := c.run(ctx, o, id)
	if e != nil {
		e.Outcome = NotChanged
		return nil, e
	}
	stream.shown = c.redactor.processors(stream.ProcessorIDs, ProcessorSet{})
	return stream, nil
}

// run sends an operation's request for a stream and returns the stream from the response.
func (c *Client) run(ctx context.Context, o *operation, id string) (*Stream, *Error) {
	o.endpoint, o.known.Credentials = &c.endpoint, c.settings.Credentials
	if err := CheckStreamID(id); err != nil {
		return nil, o.fail(KindBadRequest, "stream id "+err.Error())
	}
	// INTERFACE.md, section 4. The id is always one path segment.
	o.known.URL = c.baseURL.String() + "/v2/streams/" + url.PathEscape(id)
	resp, err := c.sendAuthorized(ctx, o)
	if err != nil {
		return nil, o.noResponse(err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, o.fail(kindOf(resp.StatusCode), "")
	}
	stream, err := c.decode(resp, o.response, id)
	if err != nil {
		// The body is the best clue to what has responded: a login page, for example.
		o.known.Message, o.known.Documented = readMessage(o.response, c.redactor)
		o.known.Outcome = Unknown
		return nil, o.fail(KindUnexpected, err.Error())
	}
	return stream, nil
}

// decode reads a successful response. Bodies are read one at a time, because a set in JSON needs many times
// its size.
func (c *Client) decode(resp *http.Response, body []byte, id string) (*Stream, error) {
	if coding := resp.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return nil, fmt.Errorf("the response has the Content-Encoding %q, which the request does not allow", c.redactor.mask(coding))
	}
	c.decoding.Lock()
	defer c.decoding.Unlock()
	stream, err := decodeStream(body)
	if err == nil && stream.ID != id {
		return nil, fmt.Errorf("the response describes another stream, %q", c.redactor.mask(stream.ID))
	}
	return stream, err
}

// sendAuthorized sends the request, and once more with a new credential if the service refuses the
// first one.
func (c *Client) sendAuthorized(ctx context.Context, o *operation) (*http.Response, error) {
	first, err := c.credential.header(ctx, "")
	if err != nil {
		return nil, err
	}
	sent, before := first, first.count()
	resp, err := c.send(ctx, o, sent.header)
	if err == nil && resp.StatusCode == http.StatusUnauthorized && first.header != "" {
		sent, err = c.credential.header(ctx, first.header)
		if err == nil && sent != first {
			before = sent.count()
			resp, err = c.send(ctx, o, sent.header)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusUnauthorized:
		c.credential.refused(sent, before, o.fail(KindAuthentication, ""))
	case resp.StatusCode/100 == 2:
		sent.succeeded()
	}
	return resp, nil
}

func (c *Client) send(ctx context.Context, o *operation, credential string) (*http.Response, error) {
	req, err := retryablehttp.NewRequestWithContext(ctx, o.known.Method, o.known.URL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	for name, value := range c.settings.Headers {
		req.Header.Set(name, value)
	}
	if o.body != nil {
		req.Header.Set("Content-Type", "application/json")
		_ = req.SetBody(o.body) // fails for no bytes
	}
	if credential != "" {
		req.Header.Set("Authorization", credential)
	}
	return o.httpClient().Do(req)
}

// difference says how the reported set differs from the sent one. Whether an update replaces
// or merges is not shown (INTERFACE.md, section 4).
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
