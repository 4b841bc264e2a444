package streamstest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// moved is the name of the fault that moves the stream to another terminal before the request.
const moved = "moved"

// Faults are what may happen to a request, by name. None of them makes a response with a wrong set, because a client could
// not notice it.
var Faults = map[string]Fault{
	"400":              {Status: 400},
	"401":              {Status: 401},
	"404":              {Status: 404},
	"404 of a proxy":   {Status: 404, Body: new("not found")},
	"404 page":         {Status: 404, Body: new("<html>Not Found</html>"), Header: http.Header{"Content-Type": {"text/html"}}},
	"404, no body":     {Status: 404, Body: new("")},
	"404, other JSON":  {Status: 404, Body: new(`{"detail":"Not Found"}`)},
	"404, cut off":     {Status: 404, Truncate: true},
	"409":              {Status: 409},
	"429":              {Status: 429},
	"408":              {Status: 408},
	"408 applied":      {Status: 408, Apply: true},
	"500":              {Status: 500},
	"500 applied":      {Status: 500, Apply: true},
	"501":              {Status: 501},
	"503":              {Status: 503},
	"504 applied":      {Status: 504, Apply: true},
	"302":              {Status: 302, Header: http.Header{"Location": {"/login"}}},
	"303 applied":      {Status: 303, Apply: true, Header: http.Header{"Location": {"/v2"}}},
	"204 applied":      {Status: 204, Apply: true},
	"200 not applied":  {Status: 200},
	"login page":       {Status: 200, Body: new("<html>")},
	"garbage":          {Body: new("{")},
	"no processor_ids": {EditJSON: func(o map[string]any) { delete(o, "processor_ids") }},
	"another stream":   {Edit: func(s *Stream) { s.ID += "'" }},
	"reset before":     {ResetBefore: true},
	"reset after":      {ResetAfter: true},
	"cut off":          {Truncate: true},
	moved:              {},
	"429, at once":     {Status: 429, Header: http.Header{"Retry-After": {"0"}}},
	"503, tomorrow":    {Status: 503, Header: http.Header{"Retry-After": {"86400"}}},
}

// SlowFaults are responses that come late, also by name.
var SlowFaults = map[string]Fault{
	"late":        {ResponseDelay: 5 * time.Millisecond},
	"no response": {Delay: time.Minute},
	"too late":    {ResponseDelay: time.Minute},
}

// FaultByName returns one of [Faults] or [SlowFaults] for a request to a stream, and nil for another name.
func (s *Service) FaultByName(name, streamID string) *Fault {
	fault, ok := Faults[name]
	if !ok {
		fault, ok = SlowFaults[name]
	}
	if stream, exists := s.Stream(streamID); exists && name == moved {
		stream.TerminalID, stream.LastEdited = stream.TerminalID+"'", 0
		s.Seed(stream)
	}
	if !ok {
		return nil
	}
	return &fault
}

// RequestFault is the fault of the n-th request with a method for a stream.
type RequestFault struct {
	Method, StreamID string
	N                int
	Name             string // see [Service.FaultByName]
}

// String returns the fault in the form that [ParseRequestFault] reads, such as "PATCH cam-1 2 500 applied".
func (f RequestFault) String() string {
	return fmt.Sprintf("%s %s %d %s", f.Method, f.StreamID, f.N, f.Name)
}

// ParseRequestFault reads the method, the stream id, the number and the name.
func ParseRequestFault(text string) (RequestFault, error) {
	words := strings.SplitN(text, " ", 4)
	if len(words) < 4 {
		return RequestFault{}, fmt.Errorf("a fault must be like %q: %q", RequestFault{"PATCH", "cam-1", 2, "500 applied"}, text)
	}
	f := RequestFault{Method: words[0], StreamID: words[1], Name: words[3]}
	var err error
	if f.N, err = strconv.Atoi(words[2]); err != nil || f.N < 1 {
		return RequestFault{}, fmt.Errorf("the number of a request must be 1 or more: %q", text)
	}
	if _, ok := Faults[f.Name]; ok {
		return f, nil
	}
	if _, ok := SlowFaults[f.Name]; ok {
		return f, nil
	}
	names := slices.Concat(slices.Sorted(maps.Keys(Faults)), slices.Sorted(maps.Keys(SlowFaults)))
	return RequestFault{}, fmt.Errorf("there is no fault %q, only %q", f.Name, names)
}

// InjectByStream sets the faults of later requests, in place of those of [Service.InjectFunc]. The requests of each stream
// are counted from now on, and by method.
func (s *Service) InjectByStream(faults ...RequestFault) {
	counts := map[[2]string]int{}
	s.InjectFunc(func(r Request) *Fault {
		key := [2]string{r.Method, r.StreamID}
		counts[key]++
		for _, f := range faults {
			if key == [2]string{f.Method, f.StreamID} && f.N == counts[key] {
				return s.FaultByName(f.Name, r.StreamID)
			}
		}
		return nil
	})
}
