package streams

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/net/http/httpguts"
	"golang.org/x/time/rate"
)

// DefaultRequestTimeout bounds one attempt where [Config] does not.
const DefaultRequestTimeout = 30 * time.Second

// Config says where the service is and how to talk to it. Only BaseURL is needed.
type Config struct {
	BaseURL string // see [ParseBaseURL]

	// At most one of these; the interface document shows no scheme (section 5).
	Token     string
	BasicAuth *BasicAuth
	OAuth2    *OAuth2

	Headers           map[string]string // for the service, not for a token endpoint; the values are secret
	TLS               TLS
	RequestTimeout    time.Duration // of one attempt; 0 means DefaultRequestTimeout
	Retry             Retry         // the zero value means DefaultRetry
	RequestsPerSecond float64       // 0 means no limit
	UserAgent         string
	Observe           func(context.Context, Attempt) // called after each attempt; may be nil
}

// Client talks to one deployment of the service. It is safe for concurrent use.
type Client struct {
	*transport
	endpoint *url.URL
	headers  http.Header
	auth     authorization
	dial     *firstDial
}

// New returns a client for a deployment. It sends nothing yet.
func New(cfg Config) (*Client, error) {
	endpoint, err := ParseBaseURL(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL %w", err)
	}
	tlsConfig, err := cfg.TLS.config()
	if err != nil {
		return nil, err
	}
	if cfg.RequestTimeout == 0 {
		cfg.RequestTimeout = DefaultRequestTimeout
	}
	if cfg.Retry == (Retry{}) {
		cfg.Retry = DefaultRetry
	}
	t := &transport{
		base:      newHTTPTransport(tlsConfig),
		timeout:   cfg.RequestTimeout,
		retry:     cfg.Retry,
		userAgent: cfg.UserAgent,
		secrets:   new(mask),
		observe:   cfg.Observe,
	}
	if cfg.RequestsPerSecond > 0 {
		t.limiter = rate.NewLimiter(rate.Limit(cfg.RequestsPerSecond), 1)
	}
	t.secrets.add(cfg.secrets()...)

	c := &Client{
		transport: t,
		endpoint:  endpoint,
		headers:   http.Header{"Accept": {"application/json"}},
		auth:      cfg.authorization(t),
	}
	if endpoint.Scheme == "https" {
		c.dial = &firstDial{done: make(chan struct{})}
	}
	for name, value := range cfg.Headers {
		c.headers.Set(name, value)
	}
	return c, nil
}

// CheckHeader says why a header cannot be set by configuration, or returns nil. What the client or
// Go sets by itself would be ignored, or break the request.
func CheckHeader(name, value string) error {
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		return errors.New("is not a legal header name")
	case !httpguts.ValidHeaderFieldValue(value):
		return errors.New("has a value that a header cannot carry, such as a line break")
	}
	switch canonical := http.CanonicalHeaderKey(name); canonical {
	case "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host",
		"Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return fmt.Errorf("must not set %s, which belongs to the request itself", canonical)
	}
	return nil
}

// UpdateStream attaches exactly the given processors to a stream, and detaches all others: PATCH
// /v2/streams/{id} (INTERFACE.md, section 4). If the response is not this stream with this set, the
// update has failed. Every failure is an [*Error].
func (c *Client) UpdateStream(ctx context.Context, id string, processors ProcessorSet) (*Stream, error) {
	body, err := marshalUnescaped(map[string]ProcessorSet{"processor_ids": processors})
	if err != nil {
		return nil, fmt.Errorf("encoding the processor ids: %w", err)
	}
	o := &operation{transport: c.transport, method: http.MethodPatch, body: body}
	got, err := c.do(ctx, o, id)
	if err != nil {
		return nil, err
	}
	if !got.ProcessorIDs.Equal(processors) {
		e := o.error(KindGeneric)
		e.Reason = describeDifference(processors, got.ProcessorIDs)
		e.Outcome, e.Stream = Changed, got
		return nil, c.clean(e)
	}
	return got, nil
}

// ReadStream reads a stream: GET /v2/streams/{id}. The interface document does not specify this
// route (section 4, "Other endpoints: not shown"): call it only where it is known to exist. Every
// failure is an [*Error]; its outcome is always NotChanged.
func (c *Client) ReadStream(ctx context.Context, id string) (*Stream, error) {
	o := &operation{transport: c.transport, method: http.MethodGet}
	s, err := c.do(ctx, o, id)
	if e := (*Error)(nil); errors.As(err, &e) {
		e.Outcome = NotChanged
	}
	return s, err
}

// do runs an operation on a stream and returns the stream of a valid success (section 4, rule 2).
func (c *Client) do(ctx context.Context, o *operation, id string) (*Stream, error) {
	o.dial = c.dial
	var err error
	if o.url, err = streamURL(c.endpoint, id); err != nil {
		e := o.error(KindBadRequest)
		e.Reason = err.Error()
		return nil, e
	}
	credential, err := c.credential(ctx, o, "")
	if err != nil {
		return nil, err
	}
	resp, err := c.send(ctx, o, credential)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		renewed, failed := c.credential(ctx, o, credential)
		if failed != nil {
			return nil, failed
		}
		if renewed != credential {
			resp, err = c.send(ctx, o, renewed)
		}
	}
	if err != nil {
		return nil, o.failure(err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, o.error(kindOf(resp.StatusCode))
	}

	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, o.failure(err)
	}
	if len(body) > maxBody {
		err = fmt.Errorf("the answer is longer than %d MiB", maxBody>>20)
	}
	var s *Stream
	if err == nil {
		s, err = decodeStream(body)
	}
	if err == nil && s.ID != id {
		err = fmt.Errorf("the answer is about another stream, %q", s.ID)
	}
	if err != nil {
		// A success, but of what: the body is the best clue (a login page, say).
		o.message, o.documented = readMessage(body, c.secrets)
		o.outcome = Unknown
		e := o.error(KindGeneric)
		e.Reason = err.Error()
		return nil, c.clean(e)
	}
	return s, nil
}

// credential returns the Authorization header. A token endpoint's failure says nothing of the
// stream: there only counts what earlier attempts did.
func (c *Client) credential(ctx context.Context, o *operation, refused string) (string, error) {
	header, err := c.auth.header(ctx, refused)
	if err != nil {
		e := o.failure(err)
		e.Outcome = o.outcome
		return "", e
	}
	return header, nil
}

func (c *Client) send(ctx context.Context, o *operation, credential string) (*http.Response, error) {
	var body any // a typed nil would count as an empty body
	if o.body != nil {
		body = o.body
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, o.method, o.url, body)
	if err != nil {
		return nil, err
	}
	req.Header = c.headers.Clone()
	if o.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if credential != "" {
		req.Header.Set("Authorization", credential)
	}
	return o.client().Do(req)
}

// clean hides secrets in a reason that quotes the service.
func (c *Client) clean(e *Error) *Error {
	e.Reason = cut(visible(c.secrets.hide(e.Reason)), maxMessage)
	return e
}

// describeDifference says how the reported set differs from the sent one. Whether an update replaces
// or merges is not shown (INTERFACE.md, section 4).
func describeDifference(sent, reported ProcessorSet) string {
	var parts []string
	missing, extra := sent.Minus(reported), reported.Minus(sent)
	if missing.Len() > 0 {
		parts = append(parts, "the service did not attach "+missing.String())
	}
	if extra.Len() > 0 {
		parts = append(parts, "the service reports additional processors "+extra.String())
	}
	if missing.Len() == 0 {
		parts = append(parts, "it may have merged the set instead of replacing it")
	}
	return strings.Join(parts, "; ")
}
