package streams_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

var ignoreShown = cmpopts.IgnoreUnexported(streams.Stream{})

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
	want := &streams.Stream{
		ID: "s1", TerminalID: "t1", FragmentTypeID: "image-jpg", ProcessorIDs: streams.NewProcessorSet("10", "9", "<ä&b>"),
		LastEdited: 1718000000000, CompatibleNamespaces: []string{"ns1"},
	}
	if diff := cmp.Diff(want, got, ignoreShown); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
	wantRequest := []receivedRequest{{
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
	}}
	if diff := cmp.Diff(wantRequest, s.requests(), cmpopts.IgnoreUnexported(receivedRequest{})); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
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
	want := []receivedRequest{{
		Method: "GET", Target: "/v2/streams/s1", Proto: "HTTP/2.0",
		Header: http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}},
	}}
	if diff := cmp.Diff(want, s.requests(), cmpopts.IgnoreUnexported(receivedRequest{})); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// Whether an update replaces or merges is not shown (INTERFACE.md, section 4). The error lists the difference.
func TestDifferentSet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sent, reported []string
		reason         string
	}{
		"merged": {[]string{"p1"}, []string{"p0", "p1"},
			`the service reports additional processors ["p0"]; it may have merged the set instead of replacing it`},
		"not emptied": {nil, []string{"p1", "p2"},
			`the service reports additional processors ["p1", "p2"]; it may have merged the set instead of replacing it`},
		"left out": {[]string{"p1", "p2", "p3"}, []string{"p2"},
			`the service did not attach ["p1", "p3"]`},
		"ignored": {[]string{"p1"}, nil,
			`the service did not attach ["p1"]`},
		"another": {[]string{"p1"}, []string{"P1"},
			`the service did not attach ["p1"]; the service reports additional processors ["P1"]`},
		"control characters": {nil, []string{"\x1b[2J\"\u202e"},
			`the service reports additional processors ["\x1b[2J\"\u202e"]; it may have merged the set instead of replacing it`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startService(t, respond(200, streamJSON("s1", test.reported)))
			got, err := newClient(t, streams.Config{BaseURL: s.URL}).UpdateStream(t.Context(), "s1", streams.NewProcessorSet(test.sent...))
			e := asError(t, err)
			if got != nil {
				t.Errorf("a failed update returned %+v", got)
			}
			if diff := cmp.Diff(&streams.Error{
				Kind: streams.KindUnexpected, Method: "PATCH", URL: s.URL + "/v2/streams/s1", Status: 200,
				Reason: test.reason, Attempts: 1, Outcome: streams.Changed,
				Stream: &streams.Stream{
					ID: "s1", TerminalID: "t1", FragmentTypeID: "image-jpg", LastEdited: 1718000000000,
					ProcessorIDs: streams.NewProcessorSet(test.reported...), CompatibleNamespaces: []string{"ns1"},
				},
			}, e, ignoreShown); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			s.wantRequests(t, 1)
		})
	}
}

// A reason with thousands of ids is truncated.
func TestLongDifference(t *testing.T) {
	t.Parallel()
	var ids []string
	for i := range 2000 {
		ids = append(ids, fmt.Sprintf("processor-%d", i))
	}
	e := startService(t, respond(200, streamJSON("s1", append(ids, "p1")))).updateError(t, streams.Config{})
	if n := len([]rune(e.Reason)); n != 4001 || e.Stream.ProcessorIDs.Len() != 2001 {
		t.Errorf("the reason has %d characters, the stream %d ids", n, e.Stream.ProcessorIDs.Len())
	}
}
