// Package transport reaches hosts: it parses their addresses, and sends one request over a connection, directly or through a
// proxy. It says what became of the request as a value, and why it failed as an error that has a type or a name. Whether another
// request follows, and what a person reads, is decided elsewhere.
package transport

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Network sends requests to the service and to the token endpoint, which may have the same origin. It is safe for concurrent use.
type Network map[string]*host

// NewNetwork returns the network of a client. tokenURL may be nil.
func NewNetwork(settings Settings, baseURL, tokenURL *url.URL) Network {
	n := Network{origin(baseURL): newHost(settings, baseURL)}
	if tokenURL == nil || n[origin(tokenURL)] != nil {
		return n
	}
	if normalHost(tokenURL) != normalHost(baseURL) {
		settings.TLS.ServerName = ""
	}
	n[origin(tokenURL)] = newHost(settings, tokenURL)
	return n
}

func origin(u *url.URL) string { return u.Scheme + "://" + normalHost(u) }

// Exchange is what is known of a request beside its response.
type Exchange struct {
	// MayBeRead reports whether the host may have read the request: a connection was used, and the host did not reject the client on a
	// new one, as with TLS 1.3 it does after the request.
	MayBeRead bool
	// Renew makes later requests use new connections, unless another exchange over the same ones has done so already. Requests that
	// are under way go on.
	Renew func()
}

// Send sends a request. The error is ErrNotSent if Go's library refuses to. If the context has ended, the error is its cause.
func (n Network) Send(req *http.Request) (*http.Response, Exchange, error) {
	h := n[origin(req.URL)]
	p := h.pool.Load()
	var seen trace
	resp, err := p.RoundTrip(req.WithContext(seen.record(req.Context())))
	x := Exchange{MayBeRead: seen.used.Conn != nil, Renew: func() { h.renew(p) }}
	switch {
	case err == nil:
		p.answered.Store(true)
		return resp, x, nil
	case req.Context().Err() != nil:
		err = context.Cause(req.Context()) // package http reports it in several ways
	case !seen.asked && seen.used.Conn == nil: // with HTTP/2, another request may have asked for the connection
		err = fmt.Errorf("%w: %w", ErrNotSent, err)
	default:
		err = h.explain(err, req.URL, &seen)
	}
	isNew := !seen.used.Reused || !p.answered.Load() // requests of HTTP/2 share a connection from its beginning
	if isNew && rejectsClient(err) {
		x.MayBeRead = false
	}
	return nil, x, err
}
