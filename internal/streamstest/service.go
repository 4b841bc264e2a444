// Package streamstest is a stand-in for the stream management service, for tests, the demo and manual trials. It is an
// [http.Handler] that implements internal/streams/INTERFACE.md strictly; comments cite its sections.
//
// Everything specified always applies: method, path, content type, the required body field and both response headers
// (section 4), the fields of a stream (section 2) and the error body (section 7). [Options] select what is not shown. A
// [Fault] changes a single response, as a network, a gateway or another service may do.
//
// The package does not use the client's types: with a shared type, a wrong JSON name would not be found.
//
// Serve a [Service] directly. An [http.ServeMux] in front of it would redirect paths with ids such as "..".
package streamstest

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// Stream is a stream as the service sends it (INTERFACE.md, section 2).
type Stream struct {
	ID                   string   `json:"id"`
	TerminalID           string   `json:"terminal_id"`
	FragmentTypeID       string   `json:"fragment_type_id"`
	ProcessorIDs         []string `json:"processor_ids"`
	LastEdited           int64    `json:"last_edited"` // epoch milliseconds
	CompatibleNamespaces []string `json:"compatible_namespaces"`
}

// clone returns a deep copy, whose lists are never nil and so never encoded as null.
func (s Stream) clone() Stream {
	s.ProcessorIDs = append([]string{}, s.ProcessorIDs...)
	s.CompatibleNamespaces = append([]string{}, s.CompatibleNamespaces...)
	return s
}

// Options select the behaviour that is not shown. By default, an update replaces the set and increases last_edited, an
// empty set and any processor id are accepted, only PATCH is served, and no credentials are required.
type Options struct {
	// Merge makes an update add to the attached processors instead of replacing them (INTERFACE.md, section 4).
	Merge bool

	// RefuseEmpty refuses an empty processor_ids with 400 (INTERFACE.md, section 4).
	RefuseEmpty bool

	// KnownProcessors, unless nil, are the processor ids that exist. Any other id is refused with 400 and a message
	// that names it (INTERFACE.md, section 4).
	KnownProcessors []string

	// KeepLastEdited makes an update leave last_edited unchanged (INTERFACE.md, section 4).
	KeepLastEdited bool

	// ServeGet also serves GET /v2/streams/{id}, which is not shown (INTERFACE.md, section 4).
	ServeGet bool

	// Prefix is the escaped path in front of /v2, such as "/gateway/eu".
	Prefix string

	// Latency is a wait before each request is handled. If the client disconnects in the meantime, the wait ends and
	// nothing is applied.
	Latency time.Duration

	// Authorize, unless nil, checks each request (INTERFACE.md, section 5), whose body has been read already. An error
	// becomes a 401 with its text as message; a [*Refusal] has a status of its own. See [Bearer], [Basic], [APIKey] and
	// [TokenServer.Authorize]. The function must be safe for concurrent use.
	Authorize func(*http.Request) error
}

// Service is the stand-in. Create it with [New]. It is safe for concurrent use.
type Service struct {
	mu        sync.Mutex
	opts      Options
	streams   map[string]Stream
	requests  []*Request
	faults    []Fault
	faultFunc func(Request) *Fault
	onRequest func(Request)

	// Callbacks run without mu, so they may call the service, and one at a time, so they need no lock.
	faultFuncMu, onRequestMu sync.Mutex
}

// New returns a service with the given streams; see [Service.Seed].
func New(opts Options, seed ...Stream) *Service {
	s := &Service{streams: map[string]Stream{}}
	s.Configure(func(o *Options) { *o = opts })
	s.Seed(seed...)
	return s
}

// Configure changes the options for later requests. The function must not call the service.
func (s *Service) Configure(change func(*Options)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.opts)
	s.opts.KnownProcessors = slices.Clone(s.opts.KnownProcessors)
}

// Seed adds or changes streams without a request, as another client of the service would. ProcessorIDs replaces the
// set. Any other field with its zero value keeps the value of an existing stream, and gets a plausible one for a new
// stream. A LastEdited of 0 increases that of an existing stream, even with Options.KeepLastEdited.
func (s *Service) Seed(streams ...Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stream := range streams {
		old, exists := s.streams[stream.ID]
		if exists {
			old.LastEdited = nextEditTime(old.LastEdited)
		} else {
			old = Stream{
				TerminalID:           "terminal-1",
				FragmentTypeID:       "image-jpg",
				LastEdited:           time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC).UnixMilli(),
				CompatibleNamespaces: []string{"acme.camera", "acme.ptz"},
			}
		}
		if stream.TerminalID == "" {
			stream.TerminalID = old.TerminalID
		}
		if stream.FragmentTypeID == "" {
			stream.FragmentTypeID = old.FragmentTypeID
		}
		if stream.LastEdited == 0 {
			stream.LastEdited = old.LastEdited
		}
		if stream.CompatibleNamespaces == nil {
			stream.CompatibleNamespaces = old.CompatibleNamespaces
		}
		stream.ProcessorIDs = union(nil, stream.ProcessorIDs)
		s.streams[stream.ID] = stream.clone()
	}
}

// Edit changes a stream without a request, and increases its LastEdited. It does nothing if there is no such stream. The
// function must not call the service.
func (s *Service) Edit(id string, change func(*Stream)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stream, ok := s.streams[id]
	if !ok {
		return
	}
	stream = stream.clone()
	stream.LastEdited = nextEditTime(stream.LastEdited)
	change(&stream)
	s.streams[id] = stream.clone()
}

// Remove deletes a stream without a request. It does nothing if there is no such stream.
func (s *Service) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, id)
}

// Stream returns a copy of a stream, and whether it exists.
func (s *Service) Stream(id string) (Stream, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stream, ok := s.streams[id]
	if !ok {
		return Stream{}, false
	}
	return stream.clone(), true
}

// Requests returns a copy of the requests in the order of arrival, including those without a response yet. When a client
// has its response, the request is recorded with its status.
func (s *Service) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return copyRequests(s.requests)
}

// ForgetRequests deletes the recorded requests.
func (s *Service) ForgetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// OnRequest sets a function that is called with each request and its status before the response is sent. So its output
// precedes that of the client. It is called once at a time. nil removes it.
func (s *Service) OnRequest(f func(Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onRequest = f
}

// Inject queues faults, one for each of the next requests in the order of arrival. For a zero [Fault], the request is
// handled without a fault.
func (s *Service) Inject(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// InjectFunc sets a function that returns the fault of each request, or nil for none. It is not called for requests that
// have a fault from [Service.Inject]. It is called before the request is handled, so it can also report the arrival, and
// once at a time. nil removes it.
func (s *Service) InjectFunc(f func(Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faultFunc = f
}

// union returns the ids of both lists in their order, each once.
func union(a, b []string) []string {
	ids := []string{}
	seen := map[string]bool{}
	for _, id := range slices.Concat(a, b) {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// nextEditTime returns the current time in epoch milliseconds, but at least one more than the last edit.
func nextEditTime(last int64) int64 {
	return max(time.Now().UnixMilli(), last+1)
}
