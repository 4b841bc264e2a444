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
	Connected bool // a connection was used
	Answered  bool // a response has come over it, perhaps to another request
	Written   bool // the whole header was written: the host may have read it

	// Abandon makes later requests use new connections, unless another exchange over the same ones has done so already. Requests
	// that are under way go on.
	Abandon func()
	// Avoid makes later requests avoid what has responded, which may be one replica of the service: its connection, and all others
	// that are open if it had responded over its connection before, because each of them may reach it.
	Avoid func()
}

// Send sends a request. The error is ErrNotSent if Go's library refuses to. If the context has ended, the error is its cause.
func (n Network) Send(req *http.Request) (*http.Response, Exchange, error) {
	h := n[origin(req.URL)]
	t := h.transport.Load()
	var seen trace
	resp, err := t.RoundTrip(req.WithContext(seen.record(req.Context())))
	x := Exchange{Connected: seen.conn != nil, Written: seen.wrote.Load(), Abandon: func() { h.abandon(t) }}
	x.Avoid = x.Abandon
	if err == nil {
		isFirst := noteAnswer(seen.conn)
		if isFirst && resp.ProtoMajor == 1 { // HTTP/2 has one connection for all requests
			x.Avoid = func() { retire(seen.conn) }
		}
	}
	x.Answered = hasAnswered(seen.conn)
	switch {
	case err == nil:
		return resp, x, nil
	case req.Context().Err() != nil:
		err = context.Cause(req.Context()) // package http reports it in several ways
	case !seen.asked && seen.conn == nil: // with HTTP/2, another request may have asked for the connection
		err = fmt.Errorf("%w: %w", ErrNotSent, err)
	default:
		err = h.explain(err, req.URL, &seen)
	}
	return nil, x, err
}

// WantsCertificate reports whether a host has asked for a client certificate, and none is set.
func (n Network) WantsCertificate(u *url.URL) bool { return n[origin(u)].wantsCertificate.Load() }
