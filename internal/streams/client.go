// Package streams is a client for version 2 of the stream management service. Comments cite INTERFACE.md.
package streams

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Client sends requests to one deployment of the service. It is safe for concurrent use.
type Client struct {
	sender   *requests.Sender
	baseURL  *url.URL
	decoding sync.Mutex // bodies are read one at a time, because a set in JSON needs many times its size
}

// New returns a client for a deployment. It does not send a request.
func New(cfg requests.Config) (*Client, error) {
	baseURL, err := ParseBaseURL(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL %w", err)
	}
	return &Client{sender: requests.New(cfg, baseURL), baseURL: baseURL}, nil
}

// Redact masks known secrets in a text that the service reported, such as a field of a [Stream]. It cuts a long text.
func (c *Client) Redact(text string) string { return c.sender.Redactor().Mask(text, masking.MaxShown) }

// Address returns the base URL in its normal form.
func (c *Client) Address() string { return transport.NormalURL(c.baseURL) }

// MaxUnderWay is how many requests are under way, or wait for a retry, at the same time.
func (c *Client) MaxUnderWay() int { return c.sender.MaxUnderWay() }

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
	if err := CheckStreamID(id); err != nil {
		return nil, &Error{Kind: KindBadRequest, Result: requests.Result{Reason: "stream id " + err.Error()}}
	}
	address := c.baseURL.String() + "/v2/streams/" + url.PathEscape(id) // always one segment of the path
	result := c.sender.Send(ctx, requests.Request{Method: method, URL: address, Body: bodyOf(update)})
	if result.Failure != requests.Responded || result.Status/100 != 2 {
		return nil, newError(result)
	}
	return c.accept(result, id, update)
}

// bodyOf returns the body of an update, or nil for a read.
func bodyOf(update *ProcessorSet) []byte {
	if update == nil {
		return nil
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)                                           // ids are sent as they were written
	_ = encoder.Encode(map[string][]string{"processor_ids": update.IDs()}) // fails for no strings
	return bytes.TrimSpace(body.Bytes())
}

// accept returns the stream in a 2xx response.
func (c *Client) accept(result requests.Result, id string, update *ProcessorSet) (*Stream, error) {
	c.decoding.Lock()
	stream, err := decode(result.Body, id, c.sender.Redactor())
	c.decoding.Unlock()
	if err != nil {
		if !errors.Is(err, ErrOtherStream) { // the body is the best clue to what has responded: a login page, for example
			result.Message, result.Form = c.sender.Redactor().Message(result.Body)
		}
		result.Err = errors.Unwrap(err)
		return nil, unexpected(result, err.Error(), Unknown, nil)
	}
	if update == nil {
		return stream, nil
	}
	sent := update.nfc()
	if stream.ProcessorIDs.Equal(sent) {
		return stream, nil
	}
	stream.shown = describe(stream.ProcessorIDs, sent, c.sender.Redactor())
	return nil, unexpected(result, difference(sent, stream.ProcessorIDs, c.sender.Redactor()), Changed, stream)
}

// unexpected returns the error for a 2xx response that is no success.
func unexpected(result requests.Result, reason string, outcome Outcome, stream *Stream) *Error {
	e := newError(result)
	e.Kind, e.Reason, e.Outcome, e.Stream = KindUnexpected, masking.Truncate(reason, masking.MaxMessage), outcome, stream
	return e
}

// difference says how the reported set differs from the sent one. An update may replace or merge (INTERFACE.md, section 4).
func difference(sent, reported ProcessorSet, secrets *masking.Redactor) string {
	var parts []string
	missing, additional := sent.Minus(reported), reported.Minus(sent)
	if missing.Len() > 0 {
		parts = append(parts, "the service did not attach "+missing.String())
	}
	if additional.Len() > 0 {
		parts = append(parts, "the service reports additional processors "+describe(additional, ProcessorSet{}, secrets))
	}
	if missing.Len() == 0 {
		parts = append(parts, "it may have merged the set instead of replacing it")
	}
	return strings.Join(parts, "; ")
}

// describe describes a set that the service reported. The ids that the user wrote are shown as they are.
func describe(reported, own ProcessorSet, secrets *masking.Redactor) string {
	shown := reported.IDs()
	shown = shown[:min(len(shown), masking.MaxMessage)] // more do not fit in a message
	for i, id := range shown {
		if !own.contains(id) {
			shown[i] = secrets.Mask(id, masking.MaxText)
		}
	}
	return masking.Truncate(ProcessorSet{shown}.String(), masking.MaxMessage)
}
