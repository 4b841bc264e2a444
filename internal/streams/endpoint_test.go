package streams_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func TestParseBaseURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://host":                    "https://host",
		"https://host/":                   "https://host",
		"https://host/v2":                 "https://host",
		"https://host/v2/":                "https://host",
		"https://host/eu/v2":              "https://host/eu",
		"https://host/eu//v2/":            "https://host/eu",
		"https://host/myv2":               "https://host/myv2",
		"https://host/v2/v2":              "https://host/v2", // the path prefix is /v2
		"https://host/v2/eu":              "https://host/v2/eu",
		"https://host/a%2Fb/v2":           "https://host/a%2Fb",
		"https://host/grün":               "https://host/gr%C3%BCn",
		"https://host/a+b;c,d=e@f:g!$&'*": "https://host/a+b;c,d=e@f:g!$&'*",
		"HTTPS://Host:8443/x":             "https://Host:8443/x",
		"http://[::1]:8080/v2":            "http://[::1]:8080",
		"https://host/v2/streams/eu/a":    "https://host/v2/streams/eu/a",
		"https://host/v2/mystreams/a":     "https://host/v2/mystreams/a",
	} {
		u, err := streams.ParseBaseURL(raw)
		if err != nil {
			t.Errorf("ParseBaseURL(%q): %v", raw, err)
		} else if got := u.String(); got != want {
			t.Errorf("ParseBaseURL(%q) = %q, want %q", raw, got, want)
		} else if again, err := streams.ParseBaseURL(got); err != nil || raw != "https://host/v2/v2" && again.String() != got {
			t.Errorf("ParseBaseURL(%q) = %v, %v, want it unchanged", got, again, err)
		}
	}
}

// Addresses of one deployment have one form.
func TestNormalURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://host":                 "https://host",
		"HTTPS://Host.Example:443/v2/": "https://host.example",
		"https://host:":                "https://host",
		"https://host:80":              "https://host:80",
		"http://HOST:80/":              "http://host",
		"http://host:443":              "http://host:443",
		"https://host:8443//v2":        "https://host:8443",
		"https://host:443/EU/v2":       "https://host/EU",
		"https://host/a%2Fb/":          "https://host/a%2Fb",
		"https://[::1]:443/v2":         "https://[::1]",
		"https://[FE80::443]":          "https://[fe80::443]",
		"http://127.0.0.1:8080":        "http://127.0.0.1:8080",
	} {
		u, err := streams.ParseBaseURL(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := streams.NormalURL(u); got != want {
			t.Errorf("NormalURL(%s) = %q, want %q", raw, got, want)
		}
	}
}

func TestParseInvalidURL(t *testing.T) {
	t.Parallel()
	const (
		notURL   = `is not a URL; write it as "https://host"`
		scheme   = `must begin with "https://" (or "http://")`
		noHost   = `has no host; write it as "https://host"`
		userinfo = "must not contain a user name or password; use an authentication attribute"
		query    = "must not have a query or a fragment"
		fragment = "must not have a fragment"
		port     = "has a port that is not between 1 and 65535"
		dots     = `must not have "." or ".." in its path`
		stream   = "must be the address of the service, not of its streams; write "
	)
	for _, test := range []struct{ raw, base, token string }{
		{"", scheme, scheme},
		{"host:443", scheme, scheme},
		{"ftp://host", scheme, scheme},
		{"https:host", noHost, noHost},
		{"https://", noHost, noHost},
		{"https://ho st", notURL, notURL},
		{"https://host\n", notURL, notURL},
		{"https://host/%zz", notURL, notURL},
		{"https://user:s3cret@host", userinfo, userinfo},
		{"https://user:s3cret%zz@host", notURL, notURL},
		{"https://host?", query, ""},
		{"https://host#", query, fragment},
		{"https://host/token?tenant=a", query, ""},
		{"https://host:0", port, port},
		{"https://[::1]:70000", port, port},
		{"https://host/eu/../us", dots, dots},
		{"https://host/%2e%2E/v2", dots, dots},
		{"https://host/v2/streams", stream + `"https://host"`, ""},
		{"https://host:8443/eu%2F1/v2/streams/cam-1", stream + `"https://host:8443/eu%2F1"`, ""},
		{"https://host/v2/streams/a%2Fb/", stream + `"https://host"`, ""},
	} {
		_, err := streams.ParseBaseURL(test.raw)
		if got := errorText(err); got != test.base {
			t.Errorf("ParseBaseURL(%q) reports %q, want %q", test.raw, got, test.base)
		}
		u, err := streams.ParseTokenURL(test.raw)
		if got := errorText(err); got != test.token {
			t.Errorf("ParseTokenURL(%q) reports %q, want %q", test.raw, got, test.token)
		} else if err == nil && u.String() != test.raw {
			t.Errorf("ParseTokenURL(%q) = %q", test.raw, u)
		}
		if _, err := streams.New(streams.Config{BaseURL: test.raw}); errorText(err) != "base URL "+test.base {
			t.Errorf("New with base URL %q reports %q, want %q", test.raw, errorText(err), "base URL "+test.base)
		}
	}
}

func TestSentInClear(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		"https://host": false, "http://host": true, "http://10.0.0.1": true, "http://localhost.evil": true, "http://127.0.0.1.evil": true,
		"http://LOCALHOST:80": false, "http://127.9.9.9": false, "http://[::1]:8080": false,
	} {
		u, err := streams.ParseBaseURL(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := streams.SentInClear(u); got != want {
			t.Errorf("SentInClear(%s) = %t", raw, got)
		}
	}
}

// A server gets exactly one path segment and decodes it to the id.
func TestStreamIDIsOneSegment(t *testing.T) {
	t.Parallel()
	s := startService(t, applyUpdate)
	mux := http.NewServeMux() // routes as a service does
	got := make(chan string, 1)
	mux.HandleFunc("PATCH /eu west/v2/streams/{id}", func(w http.ResponseWriter, r *http.Request) {
		got <- r.PathValue("id")
		applyUpdate(w, r)
	})
	s.responses = []http.HandlerFunc{mux.ServeHTTP}
	c := newClient(t, streams.Config{BaseURL: s.URL + "/eu%20west/v2/"})
	for _, id := range []string{
		"s1", "a/b", "a b", "a%2Fb", "%2e%2e", "...", "a?b=c", "a#b", "a;b,c", "a:b@c&d=e+f$g!h*i'(j)", `a\b`, "{a|b}^`~<[\"", "grün 流 😀",
		"a\u202eb", "~", "v2", "//", "../x", "a/../b", "%", "%zz", strings.Repeat("long/", 200),
	} {
		stream, err := c.UpdateStream(t.Context(), id, streams.NewProcessorSet())
		if err != nil {
			t.Errorf("%q: %v", id, err)
			continue
		}
		if received := <-got; received != id || stream.ID != id {
			t.Errorf("%q arrived as %q, and the response was read as %q", id, received, stream.ID)
		}
	}
	for _, r := range s.requests() {
		segment := strings.TrimPrefix(r.Target, "/eu%20west/v2/streams/")
		if segment == r.Target || strings.ContainsAny(segment, "/?#; ") {
			t.Errorf("%s is not one segment below the prefix", r.Target)
		}
	}
}

// An id that a path cannot contain is refused without a request.
func TestInvalidStreamID(t *testing.T) {
	t.Parallel()
	s := startService(t, applyUpdate)
	c := newClient(t, streams.Config{BaseURL: s.URL})
	for _, id := range []string{"", ".", "..", " s1", "s1\n", "s\x001"} {
		for name, call := range map[string]func() (*streams.Stream, error){
			"update": func() (*streams.Stream, error) { return c.UpdateStream(t.Context(), id, streams.NewProcessorSet()) },
			"read":   func() (*streams.Stream, error) { return c.ReadStream(t.Context(), id) },
		} {
			stream, err := call()
			e := asError(t, err)
			if stream != nil || e.Kind != streams.KindBadRequest || e.Outcome != streams.NotChanged || e.Attempts != 0 || e.Status != 0 {
				t.Errorf("%s of %q: %v, %#v", name, id, stream, e)
			}
			wantText(t, e.Reason, "stream id must not ")
		}
	}
	s.wantRequests(t, 0)
}
