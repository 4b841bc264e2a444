package streamstest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"
)

// ServeHTTP responds to one request. Its record is complete before the response is sent.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, readErr := readRequest(r)
	opts, fault := s.arrive(req)
	if readErr != nil || !waitUnlessCancelled(r.Context(), opts.Latency+fault.Delay) || fault.ResetBefore {
		s.end(opts, req, 0)
		resetConnection(w)
		return
	}
	resp := fault.respond(func(apply bool) response { return s.handle(opts, req, r, apply) })
	if !waitUnlessCancelled(r.Context(), fault.ResponseDelay) || fault.ResetAfter {
		s.end(opts, req, 0)
		resetConnection(w)
		return
	}

	body, recorded := fault.encodeBody(resp), resp.status
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Allow-Credentials", "true")
	maps.Copy(header, fault.Header)
	if fault.Truncate {
		header.Set("Content-Length", strconv.Itoa(len(body))) // so the server closes the connection
		body, recorded = body[:len(body)/2], 0
	}
	s.mu.Lock()
	req.Message = resp.stream == nil && fault.Body == nil && !fault.Truncate
	s.mu.Unlock()
	s.end(opts, req, recorded)
	w.WriteHeader(resp.status)
	_, _ = w.Write(body) // fails only if the client has disconnected, or if the status allows no body
}

// handle is the service without faults (INTERFACE.md, section 4). With apply false, an update changes nothing.
func (s *Service) handle(opts Options, req *Request, r *http.Request, apply bool) response {
	if opts.Authorize != nil {
		if err := opts.Authorize(r); err != nil {
			return errorResponse(http.StatusUnauthorized, "%s", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stream, ok := s.streams[req.StreamID]
	switch {
	case req.StreamID == "":
		return errorResponse(http.StatusNotFound, "there is no route at this path")
	case req.Method != http.MethodPatch && (req.Method != http.MethodGet || !opts.ServeGet):
		return errorResponse(http.StatusMethodNotAllowed, "the method %s is not allowed here", req.Method)
	case req.Method == http.MethodGet && ok:
		return response{status: http.StatusOK, stream: &stream}
	case !ok:
		return errorResponse(http.StatusNotFound, "there is no stream %q", req.StreamID)
	}

	mediaType, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if mediaType != "application/json" {
		return errorResponse(http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
	}
	ids, err := decodeUpdate(req.Body)
	if err == nil {
		err = opts.check(ids)
	}
	if err != nil {
		return errorResponse(http.StatusBadRequest, "%s", err)
	}
	if apply {
		if opts.Merge {
			ids = append(ids, stream.ProcessorIDs...)
		}
		slices.Sort(ids)
		stream.ProcessorIDs = slices.Compact(ids)
		if !opts.KeepLastEdited {
			stream.LastEdited = nextEditTime(stream.LastEdited)
		}
		s.streams[req.StreamID] = stream
		req.Applied = true
	}
	return response{status: http.StatusOK, stream: &stream}
}

// check returns an error for a set that the service refuses.
func (o Options) check(ids []string) error {
	if o.RefuseEmpty && len(ids) == 0 {
		return errors.New("processor_ids must not be empty")
	}
	if o.KnownProcessors == nil {
		return nil
	}
	unknown := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(o.KnownProcessors, id) })
	if len(unknown) > 0 {
		return fmt.Errorf("processor_ids has unknown processors: %q", unknown)
	}
	return nil
}

// decodeUpdate returns the processor ids in the body of an update. It does not decode into a struct, because
// encoding/json would accept other spellings of the name. The pointers tell null from a string.
func decodeUpdate(body string) ([]string, error) {
	var object map[string][]*string
	if err := json.Unmarshal([]byte(body), &object); err != nil || !utf8.ValidString(body) {
		return nil, errors.New("the request body must be a JSON object with an array of strings")
	}
	list := object["processor_ids"]
	if list == nil || len(object) != 1 || slices.Contains(list, nil) {
		return nil, errors.New("the request body must have the field processor_ids, an array of strings, and no other")
	}
	ids := make([]string, len(list))
	for i, id := range list {
		ids[i] = *id
	}
	return ids, nil
}
