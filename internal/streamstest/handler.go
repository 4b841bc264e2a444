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

// ServeHTTP responds to one request. Its record is complete before the response is sent.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	opts := s.opts
	s.mu.Unlock()

	req, readErr := readRequest(r)
	req.StreamID = opts.streamID(r.URL)
	fault := s.recordArrival(req, readErr)

	if readErr != nil || !waitUnlessCancelled(r.Context(), opts.Latency+fault.Delay) || fault.ResetBefore {
		s.recordEnd(req, 0)
		abortConnection(w)
		return
	}
	resp := fault.respond(func(apply bool) response { return s.handle(opts, req, r, apply) })
	if !waitUnlessCancelled(r.Context(), fault.ResponseDelay) || fault.ResetAfter {
		s.recordEnd(req, 0)
		abortConnection(w)
		return
	}

	body := fault.encodeBody(resp)
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Allow-Credentials", "true")
	for _, extra := range []http.Header{resp.header, fault.Header} {
		for name, values := range extra {
			header[http.CanonicalHeaderKey(name)] = values
		}
	}
	status := resp.status
	if fault.Truncate {
		s.recordEnd(req, 0)
	} else {
		s.recordEnd(req, status)
	}
	writeResponse(w, status, body, fault.Truncate)
}

// recordArrival records the request and returns its fault. One lock covers the record and the queue, so that the n-th
// recorded request gets the n-th fault.
func (s *Service) recordArrival(req *Request, readErr error) *Fault {
	s.mu.Lock()
	s.requests = append(s.requests, req)
	faultFunc := s.faultFunc
	recorded := req.clone()
	if readErr == nil && len(s.faults) > 0 {
		fault := s.faults[0]
		s.faults = s.faults[1:]
		s.mu.Unlock()
		return &fault
	}
	s.mu.Unlock()

	if readErr == nil && faultFunc != nil {
		s.faultFuncMu.Lock()
		defer s.faultFuncMu.Unlock()
		if fault := faultFunc(recorded); fault != nil {
			return fault
		}
	}
	return &Fault{}
}

// recordEnd completes the record of a request and calls the OnRequest function. Status 0 means no response.
func (s *Service) recordEnd(req *Request, status int) {
	s.mu.Lock()
	req.Status = status
	req.End = time.Now()
	recorded := req.clone()
	onRequest := s.onRequest
	s.mu.Unlock()

	if onRequest != nil {
		s.onRequestMu.Lock()
		defer s.onRequestMu.Unlock()
		onRequest(recorded)
	}
}

// handle is the service without faults (INTERFACE.md, section 4). With apply false, an update changes nothing.
func (s *Service) handle(opts Options, req *Request, r *http.Request, apply bool) response {
	if opts.Authorize != nil {
		if err := opts.Authorize(r); err != nil {
			if refusal, ok := errors.AsType[*Refusal](err); ok {
				return errorResponse(refusal.Status, "%s", refusal.Message)
			}
			return errorResponse(http.StatusUnauthorized, "%s", err)
		}
	}
	if req.StreamID == "" {
		return errorResponse(http.StatusNotFound, "there is no operation at this path")
	}
	switch {
	case req.Method == http.MethodPatch:
		return s.updateStream(opts, req, apply)
	case req.Method == http.MethodGet && opts.ServeGet:
		stream, ok := s.Stream(req.StreamID)
		if !ok {
			return streamNotFound(req.StreamID)
		}
		return response{status: http.StatusOK, stream: &stream}
	}
	resp := errorResponse(http.StatusMethodNotAllowed, "the method %s is not allowed here", req.Method)
	resp.header = http.Header{"Allow": {"PATCH"}}
	if opts.ServeGet {
		resp.header.Set("Allow", "GET, PATCH")
	}
	return resp
}

// updateStream is the operation "Update stream" (INTERFACE.md, section 4). It ignores repeated ids.
func (s *Service) updateStream(opts Options, req *Request, apply bool) response {
	if !isJSON(req.Header.Values("Content-Type")) {
		return errorResponse(http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
	}
	if len(req.Body) > maxBody {
		return errorResponse(http.StatusRequestEntityTooLarge, "the request body is larger than %d bytes", maxBody)
	}
	ids, err := decodeUpdate(req.Body)
	if err != nil {
		return errorResponse(http.StatusBadRequest, "%s", err)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	stream, ok := s.streams[req.StreamID]
	if !ok {
		return streamNotFound(req.StreamID)
	}
	if opts.RefuseEmpty && len(ids) == 0 {
		return errorResponse(http.StatusBadRequest, "processor_ids must not be empty")
	}
	if opts.KnownProcessors != nil {
		unknown := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			return slices.Contains(opts.KnownProcessors, id)
		})
		if len(unknown) > 0 {
			return errorResponse(http.StatusBadRequest, "processor_ids has unknown processors: %q", unknown)
		}
	}
	if apply {
		if opts.Merge {
			ids = union(stream.ProcessorIDs, ids)
		}
		stream.ProcessorIDs = ids
		req.Applied = true
		if !opts.KeepLastEdited {
			stream.LastEdited = nextEditTime(stream.LastEdited)
		}
		s.streams[req.StreamID] = stream
	}
	stream = stream.clone()
	return response{status: http.StatusOK, stream: &stream}
}

func streamNotFound(id string) response {
	return errorResponse(http.StatusNotFound, "there is no stream %q", id)
}

// streamID returns the decoded id from the path of a stream, or "" for another path. The id is exactly one escaped
// segment after /v2/streams/, so it may contain a slash.
func (o Options) streamID(u *url.URL) string {
	base := "/v2/streams/"
	if prefix := strings.Trim(o.Prefix, "/"); prefix != "" {
		base = "/" + prefix + base
	}
	segment, ok := strings.CutPrefix(u.EscapedPath(), base)
	if !ok || strings.Contains(segment, "/") {
		return ""
	}
	id, _ := url.PathUnescape(segment) // EscapedPath returns valid escapes only
	return id
}

func isJSON(contentTypes []string) bool {
	if len(contentTypes) != 1 {
		return false
	}
	mediaType, _, err := mime.ParseMediaType(contentTypes[0])
	return err == nil && mediaType == "application/json"
}

// decodeUpdate returns the processor ids in the body of an update. It does not decode into a struct: encoding/json
// would accept other spellings of the name, and null as an empty list.
func decodeUpdate(body string) ([]string, error) {
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
