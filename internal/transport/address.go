package transport

import (
	"cmp"
	"errors"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// NormalURL returns the parsed address of a deployment in one form: a host in lower case, and no default port.
func NormalURL(base *url.URL) string {
	u := *base
	u.Host = normalHost(base)
	return u.String()
}

func normalHost(u *url.URL) string {
	defaultPort := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return strings.TrimSuffix(strings.ToLower(u.Host), defaultPort)
}

// ParseURL parses an address of requests. Its errors do not quote it, because it may contain a password.
func ParseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil, strings.TrimSpace(raw) != raw:
		return nil, errors.New(`is not a URL; write it as "https://host"`)
	case u.User != nil:
		return nil, errors.New("must not contain a user name or password; use an authentication attribute")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New(`must begin with "https://" (or "http://")`)
	case u.Hostname() == "":
		return nil, errors.New(`has no host; write it as "https://host"`)
	case !validHost(u):
		return nil, errors.New("has a host that cannot be one; a variable may be empty, or may not have been replaced")
	case strings.HasSuffix(u.Host, ":"):
		return nil, errors.New("has a colon without a port")
	case !validPort(u):
		return nil, errors.New("has a port that is not between 1 and 65535")
	case strings.ContainsAny(raw, notInURL):
		return nil, errors.New("has characters that no URL has, such as braces; a variable may not have been replaced")
	case strings.Contains(raw, "#"): // u.Fragment is also empty for a bare #
		return nil, errors.New("must not have a fragment")
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(s string) bool { return s == "." || s == ".." }):
		return nil, errors.New(`must not have "." or ".." in its path`)
	}
	return u, nil
}

const notInURL = `{}<>"\^|` + "`" // RFC 3986, appendix A; Go escapes them

// validHost reports whether the host of an address is an IP address, or a name that DNS or a hosts file may have.
func validHost(u *url.URL) bool {
	return strings.HasPrefix(u.Host, "[") || hostName.MatchString(u.Hostname())
}

var hostName = regexp.MustCompile(`^[\pL\pM\pN_-]+(\.[\pL\pM\pN_-]+)*\.?$`)

// ParseProxy parses the address of a proxy, which may lack its scheme. Package httpproxy ignores an address that it cannot
// parse, and requests would go past the proxy. The error does not quote the address, because it may contain a password.
func ParseProxy(address string) (*url.URL, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	isHere := err == nil && u.Hostname() == "" && u.Host != "" // such as :3128
	if err != nil || !slices.Contains(proxySchemes, u.Scheme) || !isHere && !validHost(u) || !validPort(u) {
		return nil, errors.New(`is not the address of a proxy; write it as "http://host:port", with escapes such as %40 for an @ ` +
			"in a user name or password")
	}
	return u, nil
}

// MayBeProxied reports whether requests to u go through a proxy, if there is one: not to this machine, nor to a host of NO_PROXY.
func MayBeProxied(u *url.URL, noProxy string) bool {
	const some = "http://proxy"
	proxy, err := (&httpproxy.Config{HTTPProxy: some, HTTPSProxy: some, NoProxy: noProxy}).ProxyFunc()(u)
	return proxy != nil && err == nil
}

// proxySchemes are those that package http knows. It would send CONNECT to a proxy of another one.
var proxySchemes = []string{"http", "https", "socks5", "socks5h"}

// validPort reports whether the port of an address is missing or possible.
func validPort(u *url.URL) bool {
	port, _ := strconv.Atoi(cmp.Or(u.Port(), "443")) // out of range, port is the largest number
	return port >= 1 && port <= 65535
}

// SentInClear reports whether requests to u can be read in transit: plain HTTP to another machine.
func SentInClear(u *url.URL) bool { return u.Scheme == "http" && !isThisMachine(u.Hostname()) }

// isThisMachine reports whether a host is a loopback address or a name for one (RFC 6761, section 6.3). Go connects to this
// machine for an unspecified address, too.
func isThisMachine(hostname string) bool {
	name, ip := strings.ToLower(strings.TrimSuffix(hostname, ".")), net.ParseIP(hostname)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || shortLoopback.MatchString(name) ||
		ip.IsLoopback() || ip.IsUnspecified()
}

var shortLoopback = regexp.MustCompile(`^127(\.\d+){1,2}$`) // such as 127.1
