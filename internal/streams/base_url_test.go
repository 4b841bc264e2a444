package streams_test

import (
	"cmp"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// An address keeps its path prefix. Addresses of one deployment have one normal form; the default is the address itself.
func TestParseBaseURL(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ raw, want, normal string }{
		{"https://host/", "https://host", ""},
		{"https://host/eu//v2/", "https://host/eu", ""},
		{"https://host/myv2", "https://host/myv2", ""},
		{"https://host/v2/v2", "https://host/v2", ""}, // the path prefix is /v2
		{"https://host/v2/eu", "https://host/v2/eu", ""},
		{"https://host/a%2Fb/v2", "https://host/a%2Fb", ""},
		{"https://host/grün", "https://host/gr%C3%BCn", ""},
		{"https://host/a+b;c,d=e@f:g!$&'*", "https://host/a+b;c,d=e@f:g!$&'*", ""},
		{"HTTPS://Host:8443/X", "https://Host:8443/X", "https://host:8443/X"},
		{"https://host:80", "https://host:80", ""},
		{"http://http:8080/v2", "http://http:8080", ""},
		{"http://HOST:80/", "http://HOST:80", "http://host"},
		{"https://[FE80::443]", "https://[FE80::443]", "https://[fe80::443]"},
		{"https://[::1]:443/v2", "https://[::1]:443", "https://[::1]"},
		{"https://host/v2/streams/eu/a", "https://host/v2/streams/eu/a", ""},
		{"https://host/v2/mystreams/a", "https://host/v2/mystreams/a", ""},
		{"https://zürich_1.example:8443/$metadata", "https://z%C3%BCrich_1.example:8443/$metadata", ""},
	} {
		u, err := streams.ParseBaseURL(test.raw)
		if err != nil || u.String() != test.want {
			t.Errorf("ParseBaseURL(%q) = %v, %v, want %q", test.raw, u, err, test.want)
			continue
		}
		if got := transport.NormalURL(u); got != cmp.Or(test.normal, test.want) {
			t.Errorf("NormalURL(%s) = %q, want %q", test.raw, got, cmp.Or(test.normal, test.want))
		}
		if again, err := streams.ParseBaseURL(test.want); err != nil || test.raw != "https://host/v2/v2" && again.String() != test.want {
			t.Errorf("ParseBaseURL(%q) = %v, %v, want it unchanged", test.want, again, err)
		}
	}
}

// A base URL must not have a query, and no URL must have a fragment.
func TestParseInvalidURL(t *testing.T) {
	t.Parallel()
	const (
		notURL   = `is not a URL; write it as "https://host"`
		scheme   = `must begin with "https://" (or "http://")`
		noHost   = `has no host; write it as "https://host"`
		userinfo = "must not contain a user name or password; use an authentication attribute"
		query    = "must not have a query"
		fragment = "must not have a fragment"
		port     = "has a port that is not between 1 and 65535"
		badHost  = "has a host that cannot be one; a variable may be empty, or may not have been replaced"
		unfilled = "has characters that no URL has, such as braces; a variable may not have been replaced"
		dots     = `must not have "." or ".." in its path`
		stream   = "must be the address of the service, not of its streams; write "
	)
	for _, test := range []struct{ raw, base, token string }{
		{"", scheme, scheme},
		{"ftp://host", scheme, scheme},
		{"https:host", noHost, noHost},
		{"https://ho st", notURL, notURL},
		{"https://host\n", notURL, notURL},
		{"https://user:s3cret%zz@host", notURL, notURL},
		{"https://user:s3cret@host", userinfo, userinfo},
		{"https://host?", query, ""},
		{"https://host#", fragment, fragment},
		{"https://host:0", port, port},
		{"https://[::1]:70000", port, port},
		{"https://host:99999999999999999999", port, port},
		{"https://host:/v2", port, port},
		{"http://[::1]:", port, port},
		{`"https://host"`, notURL, notURL},
		{"'https://host'", notURL, notURL},
		{"https://https://host", port, port},
		{"https://$HOST", badHost, badHost},
		{"https://$(HOST):8443/v2", badHost, badHost},
		{"https://streams.*.example.com", badHost, badHost},
		{"https://.example.com", badHost, badHost},
		{"https://streams..example.com/v2", badHost, badHost},
		{"https://.", badHost, badHost},
		{"https://host/${PREFIX}/v2", unfilled, unfilled},
		{"https://host/{tenant}", unfilled, unfilled},
		{"https://host/<tenant>", unfilled, unfilled},
		{"https://host/%2e%2E/v2", dots, dots},
		{"https://host/./us", dots, dots},
		{"https://host/v2/streams", stream + `"https://host"`, ""},
		{"https://host:8443/eu%2F1/v2/streams/cam-1/", stream + `"https://host:8443/eu%2F1"`, ""},
	} {
		_, baseErr := streams.ParseBaseURL(test.raw)
		u, tokenErr := transport.ParseURL(test.raw)
		_, newErr := streams.New(requests.Config{BaseURL: test.raw})
		if ErrorText(baseErr) != test.base || ErrorText(tokenErr) != test.token || ErrorText(newErr) != "base URL "+test.base {
			t.Errorf("%q: %v; %v; %v", test.raw, baseErr, tokenErr, newErr)
		}
		if tokenErr == nil && u.String() != test.raw {
			t.Errorf("ParseURL(%q) = %q", test.raw, u)
		}
	}
}
