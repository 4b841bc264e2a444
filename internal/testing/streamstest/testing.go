package streamstest

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// Start runs a service that holds the seeded streams until the test ends, and returns it with its base URL.
func Start(t testing.TB, opts Options, seed ...Stream) (service *Service, baseURL string) {
	t.Helper()
	service = New(opts, seed...)
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	return service, server.URL
}

// Streams returns streams with the given ids and no processors, to seed a service with.
func Streams(ids ...string) []Stream {
	streams := make([]Stream, len(ids))
	for i, id := range ids {
		streams[i].ID = id
	}
	return streams
}

// WantRequests drains the requests and fails the test unless they are exactly these, in any order.
func (s *Service) WantRequests(t testing.TB, want ...string) {
	t.Helper()
	wantSame(t, "requests", s.DrainRequests(), want)
}

// WantAttached fails the test unless the stream has exactly these processors, in any order.
func (s *Service) WantAttached(t testing.TB, id string, want ...string) {
	t.Helper()
	stream, ok := s.Stream(id)
	if !ok {
		t.Fatalf("the service has no stream %q", id)
	}
	wantSame(t, "processors of "+id, stream.ProcessorIDs, want)
}

// WantText fails the test unless a text has all of the parts.
func WantText(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in: %s", part, text)
		}
	}
}

func wantSame(t testing.TB, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		t.Fatalf("%s:\n\t%s\nwant\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}
