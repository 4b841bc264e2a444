package streamstest

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// ServeHTTP answers one request: records it, lets its fault act and settles the record before the answer is sent.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	opts := s.opts
	s.mu.Unlock()

	req, readErr := readRequest(r)
	req.StreamID = opts.streamID(r.URL)
	fault := s.arrive(req, readErr)

	if readErr != nil || !wait(r.Context(), opts.Latency+fault.Delay) || fault.ResetBefore {
		s.settle(req, 0)
		cut(w)
		return
	}
	a := fault.pick(func(apply bool) answer { return s.handle(opts, req, r, apply) })
	if fault.ResetAfter {
		s.settle(req, 0)
		cut(w)
		return
	}

	body := fault.body(a)
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Allow-Credentials", "true")
	for _, extra := range []http.Header{a.header, fault.Header} {
		for name, values := range extra {
			header[http.CanonicalHeaderKey(name)] = values
		}
	}
	status := a.status
	if fault.Truncate {
		s.settle(req, 0)
	} else {
		s.settle(req, status)
	}
	send(w, status, body, fault.Truncate)
}

// arrive records the request and returns its fault. Both happen under one lock, so the n-th request has the n-th fault.
func (s *Service) arrive(req *Request, readErr error) *Fault {
	s.mu.Lock()
	s.requests = append(s.requests, req)
	inject := s.inject
	seen := req.clone()
	if readErr == nil && len(s.faults) > 0 {
		fault := s.faults[0]
		s.faults = s.faults[1:]
		s.mu.Unlock()
		return &fault
	}
	s.mu.Unlock()

	if readErr == nil && inject != nil {
		s.injectMu.Lock()
		defer s.injectMu.Unlock()
		if fault := inject(seen); fault != nil {
			return fault
		}
	}
	return &Fault{}
}

// settle completes the record of a request and tells OnRequest. Status 0: no answer.
func (s *Service) settle(req *Request, status int) {
	s.mu.Lock()
	req.Status = status
	req.End = time.Now()
	seen := req.clone()
	onRequest := s.onRequest
	s.mu.Unlock()

	if onRequest != nil {
		s.onRequestMu.Lock()
		defer s.onRequestMu.Unlock()
		onRequest(seen)
	}
}

// handle is the service proper (section 4). Without apply, it says what the stream is and leaves it alone.
func (s *Service) handle(opts Options, req *Request, r *http.Request, apply bool) answer {
	if opts.Authorize != nil {
		if err := opts.Authorize(r); err != nil {
			if refusal, ok := errors.AsType[*Refusal](err); ok {
				return refuse(refusal.Status, "%s", refusal.Message)
			}
			return refuse(http.StatusUnauthorized, "%s", err)
		}
	}
	if req.StreamID == "" {
		return refuse(http.StatusNotFound, "nothing is served at this path")
	}
	switch {
	case req.Method == http.MethodPatch:
		return s.update(opts, req, apply)
	case req.Method == http.MethodGet && opts.ServeGet:
		stream, ok := s.Stream(req.StreamID)
		if !ok {
			return unknownStream(req.StreamID)
		}
		return answer{status: http.StatusOK, stream: &stream}
	}
	a := refuse(http.StatusMethodNotAllowed, "the method %s is not allowed here", req.Method)
	a.header = http.Header{"Allow": {"PATCH"}}
	if opts.ServeGet {
		a.header.Set("Allow", "GET, PATCH")
	}
	return a
}

// update is the operation "Update stream". Duplicate ids count once.
func (s *Service) update(opts Options, req *Request, apply bool) answer {
	if !isJSON(req.Header.Values("Content-Type")) {
		return refuse(http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
	}
	if len(req.Body) > maxBody {
		return refuse(http.StatusRequestEntityTooLarge, "the request body is larger than %d bytes", maxBody)
	}
	ids, err := processorIDs(req.Body)
	if err != nil {
		return refuse(http.StatusBadRequest, "%s", err)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	stream, ok := s.streams[req.StreamID]
	if !ok {
		return unknownStream(req.StreamID)
	}
	if opts.RefuseEmpty && len(ids) == 0 {
		return refuse(http.StatusBadRequest, "processor_ids must not be empty")
	}
	if opts.KnownProcessors != nil {
		unknown := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			return slices.Contains(opts.KnownProcessors, id)
		})
		if len(unknown) > 0 {
			return refuse(http.StatusBadRequest, "processor_ids has unknown processors: %q", unknown)
		}
	}
	if apply {
		if opts.Merge {
			ids = union(stream.ProcessorIDs, ids)
		}
		stream.ProcessorIDs = ids
		if !opts.KeepLastEdited {
			stream.LastEdited = editedAfter(stream.LastEdited)
		}
		s.streams[req.StreamID] = stream
	}
	stream = stream.clone()
	return answer{status: http.StatusOK, stream: &stream}
}

func unknownStream(id string) answer {
	return refuse(http.StatusNotFound, "there is no stream %q", id)
}

// streamID returns the id that the path addresses, decoded: exactly one escaped segment after /v2/streams/, so that an
// id may hold a slash. Empty: the path is no stream's.
func (o Options) streamID(u *url.URL) string {
	base := "/v2/streams/"
	if prefix := strings.Trim(o.Prefix, "/"); prefix != "" {
		base = "/" + prefix + base
	}
	segment, ok := strings.CutPrefix(u.EscapedPath(), base)
	if !ok || strings.Contains(segment, "/") {
		return ""
	}
	id, _ := url.PathUnescape(segment) // EscapedPath is well formed
	return id
}

func isJSON(contentTypes []string) bool {
	if len(contentTypes) != 1 {
		return false
	}
	mediaType, _, err := mime.ParseMediaType(contentTypes[0])
	return err == nil && mediaType == "application/json"
}

// processorIDs decodes the body of an update. It goes by map, not by struct: encoding/json would take other spellings
// of the name for it, and null for an empty list.
func processorIDs(body string) ([]string, error) {
	if !utf8.ValidString(body) {
		return nil, errors.New("the request body is not UTF-8")
	}
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		return nil, fmt.Errorf("the request body is not JSON: %w", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("the request body must be a JSON object")
	}
	for name := range object {
		if name != "processor_ids" {
			return nil, fmt.Errorf("the field %q is not specified", name)
		}
	}
	list, ok := object["processor_ids"].([]any)
	if !ok {
		return nil, errors.New("processor_ids is required and must be an array of strings")
	}
	ids := make([]string, len(list))
	for i, element := range list {
		if ids[i], ok = element.(string); !ok {
			return nil, fmt.Errorf("processor_ids[%d] must be a string", i)
		}
	}
	return union(nil, ids), nil
}
