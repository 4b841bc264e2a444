package streams

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// ParseBaseURL reads the address of a deployment (interface document, section 4: {base_url}).
// A trailing slash or /v2 makes no difference and is cut; a path prefix is kept.
func ParseBaseURL(raw string) (*url.URL, error) {
	u, err := parseHTTPURL(raw)
	if err != nil {
		return nil, err
	}
	// The raw text decides: an empty query or fragment leaves no trace in u.
	if strings.ContainsAny(raw, "?#") {
		return nil, errors.New("must not have a query or a fragment")
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	path = strings.TrimRight(strings.TrimSuffix(path, "/v2"), "/")
	if u.Path, err = url.PathUnescape(path); err != nil {
		return nil, errors.New("is not a URL")
	}
	u.RawPath = path
	return u, nil
}

// ParseTokenURL reads the address of an OAuth2 token endpoint. A query is legal there (RFC 6749,
// section 3.2), a fragment is not.
func ParseTokenURL(raw string) (*url.URL, error) {
	u, err := parseHTTPURL(raw)
	if err == nil && strings.Contains(raw, "#") {
		err = errors.New("must not have a fragment")
	}
	return u, err
}

// parseHTTPURL never quotes raw in an error: it may hold a password.
func parseHTTPURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || strings.TrimSpace(raw) != raw:
		return nil, errors.New(`is not a URL; write it as "https://host"`)
	case u.User != nil:
		return nil, errors.New("must not hold a user name or password; use an authentication attribute")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New(`must begin with "https://" (or "http://")`)
	case u.Hostname() == "":
		return nil, errors.New(`has no host; write it as "https://host"`)
	}
	return u, nil
}

// SentInClear reports whether what is sent to u can be read on the way: http to another machine.
func SentInClear(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	loopback := strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
	return u.Scheme == "http" && !loopback
}

// streamURL addresses a stream (section 4, path): its id is one path segment, whatever it contains.
func streamURL(base *url.URL, id string) (string, error) {
	if err := CheckStreamID(id); err != nil {
		return "", fmt.Errorf("stream id %w", err)
	}
	return base.String() + "/v2/streams/" + url.PathEscape(id), nil
}
