package streams_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// The whole request as the interface document has it (section 4).
func TestUpdateRequest(t *testing.T) {
	t.Parallel()
	s := serve(t, accept)
	c := connect(t, streams.Config{
		BaseURL:   s.URL + "/eu/v2/",
		Token:     "t0ken",
		Headers:   map[string]string{"x-api-key": "k3y", "X-Empty": ""},
		UserAgent: "terraform-provider-stream/1.2.3 Terraform/1.14.0",
	})
	got, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet("p2", "p1", "p2"))
	if err != nil {
		t.Fatal(err)
	}
	want := &streams.Stream{
		ID: "s1", TerminalID: "t1", FragmentTypeID: "image-jpg", ProcessorIDs: streams.NewProcessorSet("p1", "p2"),
		LastEdited: 1718000000000, CompatibleNamespaces: []string{"ns1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
	wantRequest := []request{{
		Method: "PATCH", Target: "/eu/v2/streams/s1", Proto: "HTTP/1.1",
		Body: `{"processor_ids":["p1","p2"]}`, Length: 29,
		Header: http.Header{
			"Accept":          {"application/json"},
			"Accept-Encoding": {"gzip"},
			"Authorization":   {"Bearer t0ken"},
			"Content-Length":  {"29"},
			"Content-Type":    {"application/json"},
			"User-Agent":      {"terraform-provider-stream/1.2.3 Terraform/1.14.0"},
			"X-Api-Key":       {"k3y"},
			"X-Empty":         {""},
		},
	}}
	if diff := cmp.Diff(wantRequest, s.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestReadRequest(t *testing.T) {
	t.Parallel()
	s := serve(t, answer(http.StatusOK, streamJSON("s1", []string{"p2", "p1", "p1"})))
	got, err := connect(t, streams.Config{BaseURL: s.URL}).ReadStream(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"p1", "p2"}, got.ProcessorIDs.IDs()); diff != "" {
		t.Errorf("processor ids (-want +got):\n%s", diff)
	}
	want := []request{{
		Method: "GET", Target: "/v2/streams/s1", Proto: "HTTP/1.1",
		Header: http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}},
	}}
	if diff := cmp.Diff(want, s.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// Over HTTP/2 an empty body would be announced as one of unknown length.
func TestReadHasNoBody(t *testing.T) {
	t.Parallel()
	s := serveTLS(t, nil, accept)
	c := connect(t, streams.Config{BaseURL: s.URL, TLS: streams.TLS{CACertPEM: s.caPEM()}})
	if _, err := c.ReadStream(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if r := s.requests()[0]; r.Proto != "HTTP/2.0" || r.Length != 0 || r.Body != "" || r.Header.Get("Content-Type") != "" {
		t.Errorf("request %+v", r)
	}
}

func TestUpdateBody(t *testing.T) {
	t.Parallel()
	s := serve(t, accept)
	c := connect(t, streams.Config{BaseURL: s.URL})
	var want []string
	for _, test := range []struct {
		ids  []string
		body string
	}{
		{[]string{}, `{"processor_ids":[]}`},
		{[]string{"b", "a", "B", "b", "10", "9"}, `{"processor_ids":["10","9","B","a","b"]}`},
		{[]string{`<a&b>'"\`}, `{"processor_ids":["<a&b>'\"\\"]}`},
		{[]string{"grün 流 😀"}, `{"processor_ids":["grün 流 😀"]}`},
	} {
		if _, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet(test.ids...)); err != nil {
			t.Errorf("%q: %v", test.ids, err)
		}
		want = append(want, test.body)
	}
	var got []string
	for _, r := range s.requests() {
		got = append(got, r.Body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}

// A retry sends the whole request again, its body included.
func TestRetriedRequestIsTheSame(t *testing.T) {
	t.Parallel()
	s := serve(t, refuse(503, "later"), reset, truncated(200), accept)
	if _, err := s.update(t, streams.Config{Token: "t0ken", UserAgent: "me"}); err != nil {
		t.Fatal(err)
	}
	s.wantRequests(t, 4)
	for _, r := range s.requests()[1:] {
		if diff := cmp.Diff(s.requests()[0], r); diff != "" {
			t.Errorf("a later attempt differs (-first +later):\n%s", diff)
		}
	}
}

func TestOwnHeaders(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg    streams.Config
		header string
		want   []string
	}{
		"user agent of one's own":  {streams.Config{UserAgent: "terraform", Headers: map[string]string{"user-agent": "me"}}, "User-Agent", []string{"me"}},
		"no user agent":            {streams.Config{}, "User-Agent", nil},
		"authorization by header":  {streams.Config{Headers: map[string]string{"AUTHORIZATION": "ApiKey abc"}}, "Authorization", []string{"ApiKey abc"}},
		"a scheme beats a header":  {streams.Config{Token: "t0ken", Headers: map[string]string{"Authorization": "ApiKey abc"}}, "Authorization", []string{"Bearer t0ken"}},
		"basic":                    {streams.Config{BasicAuth: &streams.BasicAuth{Username: "me", Password: "pa:ss"}}, "Authorization", []string{"Basic bWU6cGE6c3M="}},
		"no authorization":         {streams.Config{}, "Authorization", nil},
		"accept of one's own":      {streams.Config{Headers: map[string]string{"Accept": "application/vnd.streams+json"}}, "Accept", []string{"application/vnd.streams+json"}},
		"the document's for PATCH": {streams.Config{}, "Content-Type", []string{"application/json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, accept)
			if _, err := s.update(t, test.cfg); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.requests()[0].Header.Values(test.header)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.header, diff)
			}
		})
	}
}

// The stand-in reads requests by the letter of the interface document, with types of its own.
func TestAgainstStandIn(t *testing.T) {
	t.Parallel()
	service := streamstest.New(streamstest.Options{ServeGet: true, Prefix: "/eu", Authorize: streamstest.Bearer("t0ken")},
		streamstest.Stream{ID: "a/b c", ProcessorIDs: []string{"old"}})
	s := serve(t, service.ServeHTTP)
	c := connect(t, streams.Config{BaseURL: s.URL + "/eu", Token: "t0ken"})
	for _, ids := range [][]string{{"p3", "p1", "p2"}, {"p1"}, {}} {
		updated, err := c.UpdateStream(t.Context(), "a/b c", streams.NewProcessorSet(ids...))
		if err != nil {
			t.Fatal(err)
		}
		read, err := c.ReadStream(t.Context(), "a/b c")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(updated, read); diff != "" {
			t.Errorf("read after update (-updated +read):\n%s", diff)
		}
		held, _ := service.Stream("a/b c")
		if len(held.ProcessorIDs) != len(ids) || held.LastEdited != read.LastEdited || held.TerminalID != read.TerminalID {
			t.Errorf("the service holds %+v, the client read %+v", held, read)
		}
	}
	stream, err := c.UpdateStream(t.Context(), "other", streams.NewProcessorSet())
	e := failure(t, err)
	if stream != nil || e.Kind != streams.KindNotFound || !e.Documented || e.Outcome != streams.NotChanged {
		t.Errorf("an unknown stream: %#v", e)
	}
	wantText(t, strings.ToLower(e.Message), "other")
}
