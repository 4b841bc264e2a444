package streams

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ParseBaseURL parses the address of a deployment (INTERFACE.md, section 4). The address may end with a slash or /v2,
// which are removed. A path prefix is kept. The address of a stream is an error that names the right address.
func ParseBaseURL(raw string) (*url.URL, error) {
	u, err := parseHTTPURL(raw)
	if err != nil {
		return nil, err
	}
	// Not u.RawQuery or u.Fragment: they are also empty for a bare ? or #.
	if strings.ContainsAny(raw, "?#") {
		return nil, errors.New("must not have a query or a fragment")
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	path = strings.TrimRight(strings.TrimSuffix(path, "/v2"), "/")
	if end := streamPath.FindString(path); end != "" {
		return nil, fmt.Errorf("must be the address of the service, not of its streams; write %q",
			u.Scheme+"://"+u.Host+strings.TrimSuffix(path, end))
	}
	u.RawPath = path
	u.Path, err = url.PathUnescape(path)
	return u, err
}

// streamPath is the end of a path to streams or to one stream.
var streamPath = regexp.MustCompile(`/v2/streams(/[^/]+)?$`)

// NormalURL returns the parsed address of a deployment in one form: a host in lower case, and no default port.
func NormalURL(base *url.URL) string {
	u := *base
	defaultPort := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	u.Host = strings.TrimSuffix(strings.ToLower(u.Host), defaultPort)
	u.Host = strings.TrimSuffix(u.Host, ":") // a port that is left out after its colon
	return u.String()
}

// ParseTokenURL parses the address of an OAuth2 token endpoint. It may have a query, but not a
// fragment (RFC 6749, section 3.2).
func ParseTokenURL(raw string) (*url.URL, error) {
	u, err := parseHTTPURL(raw)
	if err == nil && strings.Contains(raw, "#") {
		err = errors.New("must not have a fragment")
	}
	return u, err
}

// parseHTTPURL does not quote raw in an error, because it may contain a password.
func parseHTTPURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || strings.TrimSpace(raw) != raw:
		return nil, errors.New(`is not a URL; write it as "https://host"`)
	case u.User != nil:
		return nil, errors.New("must not contain a user name or password; use an authentication attribute")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New(`must begin with "https://" (or "http://")`)
	case u.Hostname() == "":
		return nil, errors.New(`has no host; write it as "https://host"`)
	case !isPort(u.Port()):
		return nil, errors.New("has a port that is not between 1 and 65535")
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(s string) bool { return s == "." || s == ".." }):
		return nil, errors.New(`must not have "." or ".." in its path`)
	}
	return u, nil
}

func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && port > 0
}

// SentInClear reports whether requests to u can be read in transit: plain HTTP to another machine.
func SentInClear(u *url.URL) bool {
	loopback := strings.EqualFold(u.Hostname(), "localhost") || net.ParseIP(u.Hostname()).IsLoopback()
	return u.Scheme == "http" && !loopback
}
