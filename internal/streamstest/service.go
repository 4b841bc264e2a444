// Package streamstest is a stand-in for the stream management service: an [http.Handler] that implements the interface
// document strictly, for tests, the demo and trying the provider by hand.
//
// What the document specifies always holds: method, path, content type, the required body field, the fields of a stream
// (section 2), the error body (section 7) and both response headers (section 4) on every answer. What it leaves open is
// a switch in [Options]. [Fault] breaks single answers the way a network, a gateway or another service would.
//
// The package has wire types of its own, never those of the client: a wrong JSON name must not agree with itself.
//
// Serve a [Service] directly. An [http.ServeMux] in front of it cleans paths, and redirects ids such as "..".
package streamstest

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// Stream is a stream as it goes over the wire (section 2).
type Stream struct {
	ID                   string   `json:"id"`
	TerminalID           string   `json:"terminal_id"`
	FragmentTypeID       string   `json:"fragment_type_id"`
	ProcessorIDs         []string `json:"processor_ids"`
	LastEdited           int64    `json:"last_edited"` // epoch milliseconds
	CompatibleNamespaces []string `json:"compatible_namespaces"`
}

// clone returns a copy that shares nothing and whose lists encode as arrays, never as null.
func (s Stream) clone() Stream {
	s.ProcessorIDs = append([]string{}, s.ProcessorIDs...)
	s.CompatibleNamespaces = append([]string{}, s.CompatibleNamespaces...)
	return s
}

// Options picks one reading of each thing that the interface document leaves open. The zero value replaces the set,
// accepts an empty one and any processor id, serves PATCH alone, asks for no credentials and moves last_edited on.
type Options struct {
	// Merge adds the processors of an update to those attached, instead of replacing them (section 4, rule 4).
	Merge bool

	// RefuseEmpty answers an empty processor_ids array with 400 (section 4, rule 4).
	RefuseEmpty bool

	// KnownProcessors, unless nil, lists the processor ids that exist: any other is answered with 400, by name
	// (section 4, rule 4).
	KnownProcessors []string

	// KeepLastEdited leaves last_edited as it is on an update (section 4, rule 5).
	KeepLastEdited bool

	// ServeGet serves GET /v2/streams/{id}, which the document does not specify (section 1).
	ServeGet bool

	// Prefix is the escaped path in front of /v2, such as "/gateway/eu".
	Prefix string

	// Latency passes before each answer, and before an update is applied. It ends when the client leaves: then
	// nothing is applied.
	Latency time.Duration

	// Authorize, unless nil, decides on each request (section 5); the request's body has been read. An error is
	// answered with 401 and its text as message, a [*Refusal] with its own status. See [Bearer], [Basic], [APIKey] and
	// [TokenServer.Authorize]. It is called concurrently.
	Authorize func(*http.Request) error
}

// Service is the stand-in. Make it with [New]; it is safe for concurrent use.
type Service struct {
	mu        sync.Mutex
	opts      Options
	streams   map[string]Stream
	requests  []*Request
	faults    []Fault
	inject    func(Request) *Fault
	onRequest func(Request)

	// Callbacks run outside mu, so that they may call the service, and one at a time, so that they need no lock.
	injectMu, onRequestMu sync.Mutex
}

// New returns a service that holds the seeded streams; see [Service.Seed].
func New(opts Options, seed ...Stream) *Service {
	s := &Service{streams: map[string]Stream{}}
	s.Configure(func(o *Options) { *o = opts })
	s.Seed(seed...)
	return s
}

// Configure changes the options for the requests that arrive from now on. The function must not call the service.
func (s *Service) Configure(change func(*Options)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.opts)
	s.opts.KnownProcessors = slices.Clone(s.opts.KnownProcessors)
}

// Seed adds streams or changes existing ones, as somebody else would: no request is recorded. ProcessorIDs is taken as
// it is; any other field left empty (CompatibleNamespaces: nil) keeps what the stream has, or gets a plausible value.
// A LastEdited of 0 moves on if the stream exists, whatever Options.KeepLastEdited says.
func (s *Service) Seed(streams ...Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stream := range streams {
		old, exists := s.streams[stream.ID]
		if exists {
			old.LastEdited = editedAfter(old.LastEdited)
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

// Remove deletes a stream, as somebody else would. An unknown id is no error.
func (s *Service) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, id)
}

// Stream returns a copy of the stream as it is now, and whether it exists.
func (s *Service) Stream(id string) (Stream, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stream, ok := s.streams[id]
	if !ok {
		return Stream{}, false
	}
	return stream.clone(), true
}

// Requests returns a copy of the requests so far, in order of arrival, those not answered yet included. By the time a
// client has its answer, the request is there with its status.
func (s *Service) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return copyRequests(s.requests)
}

// ForgetRequests empties the record of requests.
func (s *Service) ForgetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// OnRequest sets the function that is told of each request once its answer is settled. The client has the answer only
// after it returns, so what it prints comes before what the client prints. Calls come one at a time. Nil ends it.
func (s *Service) OnRequest(f func(Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onRequest = f
}

// Inject queues faults, one for each of the next requests in order of arrival. A zero [Fault] lets its request pass.
func (s *Service) Inject(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// InjectFunc sets the function that is asked for the fault of each request while the queue of [Service.Inject] is
// empty; it returns nil for none. It sees the request before anything is decided, so it can also signal an arrival.
// Calls come one at a time. A nil function ends it.
func (s *Service) InjectFunc(f func(Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inject = f
}

// union returns the ids of both lists in order, each once.
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

// editedAfter returns the present as epoch milliseconds, but always later than the last edit.
func editedAfter(last int64) int64 {
	return max(time.Now().UnixMilli(), last+1)
}
