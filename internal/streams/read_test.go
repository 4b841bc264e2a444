package streams_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func TestReadRequest(t *testing.T) {
	t.Parallel()
	s := startService(t, respond(http.StatusOK, streamJSON("s1", []string{"p2", "p1", "p1"})))
	got, err := newClient(t, streams.Config{BaseURL: s.URL}).ReadStream(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"p1", "p2"}, got.ProcessorIDs.IDs()); diff != "" {
		t.Errorf("processor ids (-want +got):\n%s", diff)
	}
	want := []receivedRequest{{
		Method: "GET", Target: "/v2/streams/s1", Proto: "HTTP/1.1",
		Header: http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}},
	}}
	if diff := cmp.Diff(want, s.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// Over HTTP/2, an empty body would be sent with an unknown length.
func TestReadHasNoBody(t *testing.T) {
	t.Parallel()
	s := startTLSService(t, nil, applyUpdate)
	c := newClient(t, streams.Config{BaseURL: s.URL, TLS: streams.TLS{CACertPEM: s.caPEM()}})
	if _, err := c.ReadStream(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if r := s.requests()[0]; r.Proto != "HTTP/2.0" || r.Length != 0 || r.Body != "" || r.Header.Get("Content-Type") != "" {
		t.Errorf("request %+v", r)
	}
}
