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
	"cmp"
	"net/http"
	"net/url"
	"strings"
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
	Merge           bool     // an update adds to the attached processors instead of replacing them
	RefuseEmpty     bool     // an empty processor_ids is refused with 400
	KnownProcessors []string // unless nil, any other processor id is refused with 400 and named in the message
	KeepLastEdited  bool     // an update leaves last_edited unchanged
	ServeGet        bool     // GET /v2/streams/{id} is served, too

	// Latency is a wait before each request is handled. If the client disconnects in the meantime, the wait ends and
	// nothing is applied.
	Latency time.Duration

	// Authorize, unless nil, checks each request, whose body has been read already. An error becomes a 401 with its text
	// as message. See [Bearer], [Basic], [APIKey] and [TokenServer.Authorize]. It must be safe for concurrent use.
	Authorize func(*http.Request) error

	// OnRequest, unless nil, is called with each request and its status before the response is sent. So its output
	// precedes that of the client.
	OnRequest func(Request)
}

// Service is the stand-in. Create it with [New]. It is safe for concurrent use.
type Service struct {
	record
	opts      Options
	streams   map[string]Stream
	faults    []Fault
	faultFunc func(Request) *Fault

	// Callbacks run without mu, so they may call the service, and one at a time, so they need no lock.
	callbacks sync.Mutex
}

// New returns a service with the given streams; see [Service.Seed].
func New(opts Options, seed ...Stream) *Service {
	s := &Service{opts: opts, streams: map[string]Stream{}}
	s.Seed(seed...)
	return s
}

// Configure changes the options for later requests. The function must not call the service.
func (s *Service) Configure(change func(*Options)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.opts)
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
			old.LastEdited = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
			old.CompatibleNamespaces = []string{"acme.camera", "acme.ptz"}
		}
		stream.TerminalID = cmp.Or(stream.TerminalID, old.TerminalID, "terminal-1")
		stream.FragmentTypeID = cmp.Or(stream.FragmentTypeID, old.FragmentTypeID, "image-jpg")
		stream.LastEdited = cmp.Or(stream.LastEdited, old.LastEdited)
		if stream.CompatibleNamespaces == nil {
			stream.CompatibleNamespaces = old.CompatibleNamespaces
		}
		s.streams[stream.ID] = stream.clone()
	}
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
	return stream.clone(), ok
}

// Inject queues faults, one for each of the next requests in the order of arrival. For a zero [Fault], the request is
// handled without a fault.
func (s *Service) Inject(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// InjectFunc sets a function that returns the fault of each request, or nil for none. It is not called for requests that
// have a fault from [Service.Inject]. It is called before the request is handled, so it can also report the arrival.
// nil removes it.
func (s *Service) InjectFunc(f func(Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faultFunc = f
}

// arrive records the request and returns its fault and the options for it. One lock covers the record and the queue, so
// that the n-th recorded request gets the n-th fault.
func (s *Service) arrive(req *Request) (Options, *Fault) {
	s.mu.Lock()
	req.StreamID = streamIDOf(req.path)
	s.requests = append(s.requests, req)
	opts, faultFunc, recorded := s.opts, s.faultFunc, *req
	if len(s.faults) > 0 {
		fault := s.faults[0]
		s.faults = s.faults[1:]
		s.mu.Unlock()
		return opts, &fault
	}
	s.mu.Unlock()

	if faultFunc != nil {
		s.callbacks.Lock()
		defer s.callbacks.Unlock()
		if fault := faultFunc(recorded); fault != nil {
			return opts, fault
		}
	}
	return opts, &Fault{}
}

// end completes the record of a request. Status 0 means no response.
func (s *Service) end(opts Options, req *Request, status int) {
	s.mu.Lock()
	req.Status, req.End = status, time.Now()
	recorded := *req
	s.mu.Unlock()

	if opts.OnRequest != nil {
		s.callbacks.Lock()
		defer s.callbacks.Unlock()
		opts.OnRequest(recorded)
	}
}

// nextEditTime returns the current time in epoch milliseconds, but at least one more than the last edit.
func nextEditTime(last int64) int64 {
	return max(time.Now().UnixMilli(), last+1)
}

// streamIDOf returns the decoded id from the path of a stream, or "" for another path. The id is exactly one escaped
// segment after /v2/streams/, so it may contain a slash.
func streamIDOf(path string) string {
	segment, ok := strings.CutPrefix(path, "/v2/streams/")
	if !ok || strings.Contains(segment, "/") {
		return ""
	}
	id, _ := url.PathUnescape(segment) // EscapedPath returns valid escapes only
	return id
}
