package streamstest

import (
	"net/http/httptest"
	"slices"
	"strings"
)

// TB is the part of testing.TB that the helpers here need. Package testing itself is for tests alone, and this package
// is not.
type TB interface {
	Helper()
	Cleanup(cleanup func())
	Fatalf(format string, args ...any)
}

// Start runs a service that holds the seeded streams until the test ends, and returns it with its base URL.
func Start(t TB, opts Options, seed ...Stream) (service *Service, baseURL string) {
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

// DrainRequests empties the record of requests and returns what was in it, one "METHOD target body" for each request.
func (s *Service) DrainRequests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, r := range s.requests {
		lines = append(lines, strings.TrimSpace(r.Method+" "+r.Target+" "+r.Body))
	}
	s.requests = nil
	return lines
}

// WantRequests drains the requests and fails the test unless they are exactly these, in any order.
func (s *Service) WantRequests(t TB, want ...string) {
	t.Helper()
	got := slices.Sorted(slices.Values(s.DrainRequests()))
	if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		t.Fatalf("the service got the requests\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// WantAttached fails the test unless the stream has exactly these processors, in any order.
func (s *Service) WantAttached(t TB, id string, want ...string) {
	t.Helper()
	stream, ok := s.Stream(id)
	if !ok {
		t.Fatalf("the service has no stream %q", id)
	}
	got := slices.Sorted(slices.Values(stream.ProcessorIDs))
	if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		t.Fatalf("stream %q has processors %q, want %q", id, got, want)
	}
}
