package streams_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// The request has exactly what INTERFACE.md, section 4 specifies, and what is configured.
func TestUpdateRequest(t *testing.T) {
	t.Parallel()
	s := startService(t, applyUpdate)
	c := newClient(t, streams.Config{
		BaseURL:   s.URL + "/eu/v2/",
		Token:     "t0ken",
		Headers:   map[string]string{"x-api-key": "k3y", "X-Empty": ""},
		UserAgent: "terraform-provider-stream/1.2.3 Terraform/1.14.0",
	})
	got, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet("<ä&b>", "9", "10", "9"))
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "stream", streamOf("s1", "10", "9", "<ä&b>"), got, ignoreShown)
	s.wantReceived(t, receivedRequest{
		Method: "PATCH", Target: "/eu/v2/streams/s1", Proto: "HTTP/1.1",
		Body: `{"processor_ids":["10","9","<ä&b>"]}`, Length: 37,
		Header: http.Header{
			"Accept":          {"application/json"},
			"Accept-Encoding": {"gzip"},
			"Authorization":   {"Bearer t0ken"},
			"Content-Length":  {"37"},
			"Content-Type":    {"application/json"},
			"User-Agent":      {"terraform-provider-stream/1.2.3 Terraform/1.14.0"},
			"X-Api-Key":       {"k3y"},
			"X-Empty":         {""},
		},
	})
}

// A read has no body: over HTTP/2, an empty one would be sent with an unknown length.
func TestReadRequest(t *testing.T) {
	t.Parallel()
	s := startTLSService(t, nil, respond(http.StatusOK, streamJSON("s1", []string{"p2", "p1", "p1"})))
	c := newClient(t, streams.Config{BaseURL: s.URL, TLS: streams.TLS{CACertPEM: s.caPEM()}})
	got, err := c.ReadStream(t.Context(), "s1")
	if err != nil || got.ProcessorIDs.String() != `["p1", "p2"]` {
		t.Errorf("%+v, %v", got, err)
	}
	s.wantReceived(t, receivedRequest{
		Method: "GET", Target: "/v2/streams/s1", Proto: "HTTP/2.0",
		Header: http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}},
	})
}

// A configured header takes precedence, except over an authentication scheme.
func TestConfiguredHeaders(t *testing.T) {
	t.Parallel()
	apiKey := map[string]string{"AUTHORIZATION": "ApiKey abc"}
	for _, test := range []struct {
		cfg          streams.Config
		header, want string
	}{
		{streams.Config{UserAgent: "terraform", Headers: map[string]string{"user-agent": "me"}}, "User-Agent", "me"},
		{streams.Config{Headers: apiKey}, "Authorization", "ApiKey abc"},
		{streams.Config{Headers: apiKey, Token: "t0ken"}, "Authorization", "Bearer t0ken"},
		{streams.Config{BasicAuth: &streams.BasicAuth{Username: "me", Password: "pa:ss"}}, "Authorization", "Basic bWU6cGE6c3M="},
		{streams.Config{Headers: map[string]string{"Accept": "application/x+json"}}, "Accept", "application/x+json"},
	} {
		s := startService(t, applyUpdate)
		if _, err := s.update(t, test.cfg); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, test.header, []string{test.want}, s.requests()[0].Header.Values(test.header))
	}
}

// What internal/config refuses, the client refuses, too, and without showing a key.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	a, b := ca.Issue(t, "a"), ca.Issue(t, "b")
	for want, cfg := range map[string]streams.Config{
		"TLS settings: contains no PEM":         {TLS: streams.TLS{CACertPEM: a.KeyPEM}},
		"TLS settings: tls: private key does":   {TLS: streams.TLS{ClientCertPEM: a.CertPEM, ClientKeyPEM: b.KeyPEM}},
		"TLS settings: tls: failed to find any": {TLS: streams.TLS{ClientCertPEM: a.CertPEM}},
		"TLS settings: tls: failed to find":     {TLS: streams.TLS{ClientKeyPEM: a.KeyPEM}},
	} {
		cfg.BaseURL = "https://host.example"
		_, err := streams.New(cfg)
		if text := errorText(err); !strings.HasPrefix(text, want) || strings.Contains(text, a.KeyPEM[40:80]) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A server gets exactly one path segment and decodes it to the id. An id that a path cannot contain is refused.
func TestStreamIDIsOneSegment(t *testing.T) {
	t.Parallel()
	s := startService(t, applyUpdate)
	c := newClient(t, streams.Config{BaseURL: s.URL + "/eu%20west/v2/"})
	for _, id := range []string{
		"s1", "a/b", "a b", "a%2Fb", "%2e%2e", "...", "a?b=c", "a#b", "a;b,c", "a:b@c&d=e+f$g!h*i'(j)", `a\b`, "{a|b}^`~<[\"", "grün 流 😀",
		"a\u202eb", "~", "v2", "//", "../x", "a/../b", "%", "%zz", strings.Repeat("long/", 200),
	} {
		if stream, err := c.UpdateStream(t.Context(), id, streams.NewProcessorSet()); err != nil || stream.ID != id {
			t.Errorf("%q: %+v, %v", id, stream, err)
		}
	}
	for _, r := range s.requests() {
		segment := strings.TrimPrefix(r.Target, "/eu%20west/v2/streams/")
		if segment == r.Target || strings.ContainsAny(segment, "/?#; ") {
			t.Errorf("%s is not one segment below the prefix", r.Target)
		}
	}
	sent := len(s.requests())
	_, updateErr := c.UpdateStream(t.Context(), "..", streams.NewProcessorSet())
	_, readErr := c.ReadStream(t.Context(), "..")
	for _, err := range []error{updateErr, readErr} {
		wantFailed(t, asError(t, err), streams.KindBadRequest, streams.NotChanged, 0)
		streamstest.WantText(t, asError(t, err).Reason, "stream id must not ")
	}
	s.wantRequests(t, sent)
}

// Whether an update replaces or merges is not shown (INTERFACE.md, section 4). The error lists the difference.
func TestDifferentSet(t *testing.T) {
	t.Parallel()
	const merged = "; it may have merged the set instead of replacing it"
	for reason, test := range map[string]struct{ sent, reported []string }{
		`the service reports additional processors ["p0"]` + merged:                           {[]string{"p1"}, []string{"p0", "p1"}},
		`the service did not attach ["p1", "p3"]`:                                             {[]string{"p1", "p2", "p3"}, []string{"p2"}},
		`the service did not attach ["p1"]`:                                                   {[]string{"p1"}, nil},
		`the service did not attach ["p1"]; the service reports additional processors ["P1"]`: {[]string{"p1"}, []string{"P1"}},
		`the service reports additional processors ["\x1b[2J\"\u202e"]` + merged:              {nil, []string{"\x1b[2J\"\u202e"}},
	} {
		s := startService(t, respond(200, streamJSON("s1", test.reported)))
		c := newClient(t, streams.Config{BaseURL: s.URL})
		_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet(test.sent...))
		s.wantError(t, err, streams.Error{
			Kind: streams.KindUnexpected, Status: 200, Reason: reason, Attempts: 1, Outcome: streams.Changed,
			Stream: streamOf("s1", test.reported...),
		})
		s.wantRequests(t, 1)
	}

	// A reason with thousands of ids is truncated.
	e := startService(t, respond(200, streamJSON("s1", append(streamIDs(2000), "p1")))).updateError(t, streams.Config{})
	if n := len([]rune(e.Reason)); n != 4001 || e.Stream.ProcessorIDs.Len() != 2001 {
		t.Errorf("the reason has %d characters, the stream %d ids", n, e.Stream.ProcessorIDs.Len())
	}
}
