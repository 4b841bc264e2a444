package streams_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// The request has exactly what INTERFACE.md, section 4 specifies, and what is configured.
func TestUpdateRequest(t *testing.T) {
	t.Parallel()
	s := StartService(t, ApplyUpdate)
	c := NewClient(t, requests.Config{
		BaseURL:   s.URL + "/eu/v2/",
		Token:     "t0ken",
		Headers:   map[string]string{"x-api-key": "k3y", "X-Empty": ""},
		UserAgent: "terraform-provider-stream/1.2.3 Terraform/1.14.0",
	})
	got, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet("<ä&b>", "9", "10", "9"))
	if err != nil {
		t.Fatal(err)
	}
	WantEqual(t, "stream", streamOf("s1", "10", "9", "<ä&b>"), got, IgnoreShown)
	s.WantReceived(t, ReceivedRequest{
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
	s := StartTLSService(t, nil, Respond(http.StatusOK, StreamJSON("s1", []string{"p2", "p1", "p1"})))
	c := NewClient(t, requests.Config{
		BaseURL: s.URL, TLS: transport.TLS{CACertPEM: s.CAPEM()}, Headers: map[string]string{"cache-control": "max-age=60"},
	})
	got, err := c.ReadStream(t.Context(), "s1")
	if err != nil || got.ProcessorIDs.String() != `["p1", "p2"]` {
		t.Errorf("%+v, %v", got, err)
	}
	s.WantReceived(t, ReceivedRequest{
		Method: "GET", Target: "/v2/streams/s1", Proto: "HTTP/2.0",
		Header: http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "Cache-Control": {"no-cache"}},
	})
}

// A server gets exactly one path segment and decodes it to the id. An id that a path cannot contain is refused.
func TestStreamIDIsOneSegment(t *testing.T) {
	t.Parallel()
	s := StartService(t, ApplyUpdate)
	c := NewClient(t, requests.Config{BaseURL: s.URL + "/eu%20west/v2/"})
	for _, id := range []string{
		"s1", "a/b", "a b", "a%2Fb", "%2e%2e", "...", "a?b=c", "a#b", "a;b,c", "a:b@c&d=e+f$g!h*i'(j)", `a\b`, "{a|b}^`~<[\"", "grün 流 😀",
		"a\u202eb", "~", "v2", "//", "../x", "a/../b", "%", "%zz", strings.Repeat("long/", 200),
	} {
		if stream, err := c.UpdateStream(t.Context(), id, streams.NewProcessorSet()); err != nil || stream.ID != id {
			t.Errorf("%q: %+v, %v", id, stream, err)
		}
	}
	for _, r := range s.Requests() {
		segment := strings.TrimPrefix(r.Target, "/eu%20west/v2/streams/")
		if segment == r.Target || strings.ContainsAny(segment, "/?#; ") {
			t.Errorf("%s is not one segment below the prefix", r.Target)
		}
	}
	sent := len(s.Requests())
	_, updateErr := c.UpdateStream(t.Context(), "..", streams.NewProcessorSet())
	_, readErr := c.ReadStream(t.Context(), "..")
	for _, err := range []error{updateErr, readErr} {
		WantFailed(t, AsError(t, err), streams.KindBadRequest, streams.NotChanged, 0)
		streamstest.WantText(t, AsError(t, err).Reason, "stream id must not ")
	}
	s.WantRequests(t, sent)
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
		`the service reports additional processors ["P1"]` + merged:                           {[]string{"p1"}, []string{"P1", "p1"}},
		`the service reports additional processors ["\x1b[2J\"\u202e"]` + merged:              {nil, []string{"\x1b[2J\"\u202e"}},
	} {
		s := StartService(t, Respond(200, StreamJSON("s1", test.reported)))
		c := NewClient(t, requests.Config{BaseURL: s.URL})
		_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet(test.sent...))
		s.WantError(t, err, streams.KindUnexpected, streams.Changed, requests.Result{Status: 200, Reason: reason, Attempts: 1})
		WantEqual(t, "stream", streamOf("s1", test.reported...), AsError(t, err).Stream, IgnoreShown)
		s.WantRequests(t, 1)
	}

	// A reason with thousands of ids is truncated.
	e := StartService(t, Respond(200, StreamJSON("s1", append(StreamIDs(2000), "p1")))).UpdateError(t, requests.Config{})
	if n := len([]rune(e.Reason)); n != 4001 || e.Stream.ProcessorIDs.Len() != 2001 {
		t.Errorf("the reason has %d characters, the stream %d ids", n, e.Stream.ProcessorIDs.Len())
	}
}
