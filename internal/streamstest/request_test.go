package streamstest_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func TestRequests(t *testing.T) {
	t.Parallel()
	var reported []string
	service := streamstest.New(streamstest.Options{OnRequest: func(r streamstest.Request) { reported = append(reported, r.String()) }},
		streamstest.Streams("a/b")...)
	req := newRequest("PATCH", "http://example.com/v2/streams/a%2Fb?x=%20y", attachP1)
	req.Header.Set("X-Test", "yes")
	send(t, service, req)
	send(t, service, newRequest("POST", "/else", ""))

	var got []string
	requests := service.Requests()
	for _, r := range requests {
		got = append(got, r.String())
	}
	want := []string{`PATCH http://example.com/v2/streams/a%2Fb?x=%20y {"processor_ids":["p1"]} → 200`, `POST /else → 404`}
	if diff := cmp.Diff([][]string{want, want}, [][]string{got, reported}); diff != "" {
		t.Fatalf("requests and reports (-want +got):\n%s", diff)
	}
	r := requests[0]
	if r.StreamID != "a/b" || requests[1].StreamID != "" || r.Header.Get("X-Test") != "yes" || r.Host != "example.com" || r.End.Before(r.Start) {
		t.Errorf("recorded as %+v", r)
	}
	service.ForgetRequests()
	service.WantRequests(t)
}

// failures is a test that records its failures and goes on.
type failures struct {
	testing.TB
	texts []string
}

func (*failures) Helper() {}
func (f *failures) Fatalf(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

func TestWant(t *testing.T) {
	t.Parallel()
	service := streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "other", ProcessorIDs: []string{"p2", "p1"}}, streamstest.Stream{ID: "cam"})
	const one, two = `PATCH /v2/streams/cam {"processor_ids":["p1"]}`, `POST /else`
	for fails, wants := range map[bool][][]string{false: {{two, one}}, true: {nil, {one}, {one, two, two}, {one, one}}} {
		for _, want := range wants {
			update(t, service, attachP1)
			send(t, service, newRequest("POST", "/else", ""))
			f := &failures{TB: t}
			if service.WantRequests(f, want...); len(f.texts) > 0 != fails {
				t.Errorf("want %q: failures %q", want, f.texts)
			}
		}
	}
	service.WantRequests(t) // drained

	service.WantAttached(t, "other", "p1", "p2")
	f := &failures{TB: t}
	service.WantAttached(f, "other", "p1")
	service.WantAttached(f, "other", "p1", "p2", "p3")
	service.WantAttached(f, "missing")
	if len(f.texts) != 3 {
		t.Errorf("failures %q", f.texts)
	}
}
