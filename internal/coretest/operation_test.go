package coretest

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// checkCompatible checks that an object has the known values of the planned one.
func (c *terraformCore) checkCompatible(what string, planned, actual tftypes.Value) {
	if actual.IsNull() {
		return
	}
	want, got := AttributesOf(planned), AttributesOf(actual)
	for name := range want {
		if want[name].IsFullyKnown() && !EqualValues(want[name], got[name]) {
			c.problem("%s: %s was %v and is %v", what, name, FromTerraform(want[name]), FromTerraform(got[name]))
		}
	}
}

// checkResponse checks that the state of a single resource has the values of the response. The last_edited of a group is that
// of its last change.
func (c *terraformCore) checkResponse(o *operation, s *stored) {
	id := s.text("stream_id")
	requests := o.requestsTo(id)
	if len(requests) == 0 || requests[len(requests)-1].Method != http.MethodPatch {
		return
	}
	stream, _ := c.service.Stream(id)
	if s.text("last_edited") != strconv.FormatInt(stream.LastEdited, 10) || s.text("terminal_id") != stream.TerminalID {
		c.problem("%s: the state is not the response: %v, want %+v", o.what, FromTerraform(s.Value), stream)
	}
}

// checkHonest checks the state after a failed operation: a stream without an error has what was planned. The processors
// of the others are the prior ones, or those in the service.
func (c *terraformCore) checkHonest(o *operation, before *stored, planned map[string][]string, after *stored) {
	was, is := before.sets(), after.sets()
	for _, id := range o.streams {
		set, found := is[id]
		old, inState := was[id]
		wanted, stays := planned[id]
		switch _, failed := o.errors[id]; {
		case !failed && (found != stays || stays && !reflect.DeepEqual(set, any(wanted))):
			c.problem("%s: stream %q did not fail, and the state has %v, want %v", o.what, id, set, wanted)
		case failed && found != inState:
			c.problem("%s: stream %q failed, and it was in the state: %t, and is: %t", o.what, id, inState, found)
		case failed && found && c.known[id] && !reflect.DeepEqual(set, c.attached(id)):
			c.problem("%s: failed, and the state of %q has %v, but the service has reported %v", o.what, id, set, c.attached(id))
		case failed && found && c.next != nil && !reflect.DeepEqual(set, old) && !reflect.DeepEqual(set, c.attached(id)):
			c.problem("%s: failed, and the state of %q went from %v to %v, but the service has %v", o.what, id, old, set, c.attached(id))
		}
	}
}

// operation is one call that may change streams, and its result.
type operation struct {
	what     string
	streams  []string            // of the resource, before and after
	sends    map[string][]string // the expected sets; a stream without a request is missing
	may      map[string]bool     // streams of sends without which the operation is right, too
	requests []streamstest.Request
	errors   map[string]string // by stream
}

// failed returns the streams with an error.
func (o *operation) failed() []string { return slices.Sorted(maps.Keys(o.errors)) }

// operate makes a call and records what the service received.
func (c *terraformCore) operate(what string, ids []string, sends map[string][]string, may map[string]bool, call func() Diagnostics) *operation {
	o := &operation{what: what, streams: ids, sends: sends, may: may, errors: map[string]string{}}
	kind, _, _ := strings.Cut(what, " ")
	c.note(func() { setAll(c.operating, ids, kind) })
	seen := len(c.service.Requests())
	diags := call()
	c.note(func() { setAll(c.operating, ids, "") })
	c.noteErrors(o, diags)
	c.noErrors(what, diags, o.failed()...)
	if c.next == nil {
		return o // requests of other operations are in between
	}
	o.requests = c.service.Requests()[seen:]
	for _, r := range o.requests {
		if !slices.Contains(ids, r.StreamID) {
			c.problem("%s: sent %s for another stream", what, r)
		}
	}
	for _, id := range ids {
		c.checkStreamRequests(o, id)
		if detail, failed := o.errors[id]; failed {
			c.checkLastSentence(o, id, detail)
		}
		c.noteReport(id, o)
	}
	return o
}

func setAll(values map[string]string, keys []string, value string) {
	for _, key := range keys {
		values[key] = value
	}
}

// noteErrors sorts errors by stream. Those of a group end with one about all of its streams.
func (c *terraformCore) noteErrors(o *operation, diags Diagnostics) {
	count := 0
	for _, d := range diags {
		if d.Severity != tfprotov6.DiagnosticSeverityError {
			continue
		}
		switch steps := d.Attribute.Steps(); {
		case d.Summary == "Streams Failed":
			if want := fmt.Sprintf("Streams of this group with errors: %d (", count); !strings.HasPrefix(d.Detail, want) {
				c.problem("%s: the last error is %q, want %q", o.what, d.Detail, want)
			}
		case len(steps) > 1:
			count++
			key, _ := steps[1].(tftypes.ElementKeyString)
			o.errors[string(key)] = d.Detail
		case len(o.streams) == 1:
			o.errors[o.streams[0]] = d.Detail
		default:
			c.problem("%s: an error of no stream: %s", o.what, d.Detail)
		}
	}
}

var retried = []int{0, 408, 429, 500, 502, 503, 504}

const otherFailed = "An operation of another resource on this stream has failed."

// checkStreamRequests checks that an operation sent exactly what the rules say.
func (c *terraformCore) checkStreamRequests(o *operation, id string) {
	want, sent := o.sends[id]
	detail, failed := o.errors[id]
	requests := o.requestsTo(id)
	if failed && c.rules.written[id] && strings.HasPrefix(o.what, "destroy") {
		c.problem("%s: failed, but another resource has set the processors of %q", o.what, id)
	}
	blocked := c.rules.blocked[id] && o.what != "invoke"
	if strings.Contains(detail, otherFailed) && !blocked || len(requests) > 0 && blocked {
		c.problem("%s: sent %v to %q; an operation of a resource that stays has failed there: %t", o.what, requests, id, blocked)
	}
	if strings.Contains(detail, "Nothing was sent") || !sent {
		if len(requests) > 0 {
			c.problem("%s: sent %v, want no request", o.what, requests)
		}
		return
	}
	for i, r := range requests {
		if r.Method != http.MethodPatch || r.Body != patchBody(want) {
			c.problem("%s: sent %s, want only %s to %s", o.what, r, patchBody(want), id)
		}
		if last := i == len(requests)-1; !last && !slices.Contains(retried, r.Status) {
			c.problem("%s: sent another request after %s", o.what, r)
		} else if last && !failed && r.Status != http.StatusOK && r.Status != http.StatusNotFound {
			c.problem("%s: succeeded with %s", o.what, r)
		}
	}
	if n := len(requests); n > 0 && requests[n-1].Status == http.StatusNotFound && failed && strings.HasPrefix(o.what, "destroy") {
		c.problem("%s: failed with %s, but a stream that is gone needs no destroy", o.what, requests[n-1])
	}
	if len(requests) == 0 && !c.interrupted.Load() && !o.may[id] || len(requests) > c.attempts {
		c.problem("%s: sent %d requests, want 1 to %d", o.what, len(requests), c.attempts)
	}
}

func (o *operation) requestsTo(id string) (requests []streamstest.Request) {
	for _, r := range o.requests {
		if r.StreamID == id {
			requests = append(requests, r)
		}
	}
	return requests
}

// The beginnings of last sentences.
const (
	reportedNow = "The service reports that the stream now has "
	inDoubt     = "The stream may or may not have been changed"
)

// noteReport takes note of what the response to an operation says about a stream.
func (c *terraformCore) noteReport(id string, o *operation) {
	requests := o.requestsTo(id)
	switch detail, failed := o.errors[id]; {
	case strings.Contains(detail, reportedNow), !failed && len(requests) > 0 && requests[len(requests)-1].Status == http.StatusOK:
		c.known[id] = true
	case strings.Contains(detail, inDoubt):
		c.known[id] = false
	}
}

// checkLastSentence compares the last sentence of an error with the service.
func (c *terraformCore) checkLastSentence(o *operation, id, detail string) {
	requests := o.requestsTo(id)
	paragraphs := strings.Split(detail, "\n\n")
	last := strings.TrimPrefix(strings.TrimPrefix(paragraphs[len(paragraphs)-1], "Nothing was sent for this resource. "), "Nothing was sent. ")
	applied := slices.ContainsFunc(requests, func(r streamstest.Request) bool { return r.Applied })
	after := c.attached(id)
	switch {
	case last == "The stream was not changed.":
		if applied {
			c.problem("%s: says %q, but the service applied a request", o.what, last)
		}
	case last == "The stream was changed.":
		if !reflect.DeepEqual(after, any(o.sends[id])) {
			c.problem("%s: says %q, but the service has %v", o.what, last, after)
		}
	case strings.HasPrefix(last, reportedNow):
		if set := fmt.Sprintf("%q", after); strings.ReplaceAll(strings.TrimPrefix(last, reportedNow), ", ", " ") != set+"." {
			c.problem("%s: says %q, but the service has %s", o.what, last, set)
		}
	case strings.HasPrefix(last, inDoubt):
		if len(requests) == 0 && c.known[id] {
			c.problem("%s: says %q, but the service has reported the set of %q", o.what, last, id)
		}
		refused := func(r streamstest.Request) bool { return r.Status/100 == 4 && r.Status != http.StatusRequestTimeout }
		if len(requests) > 0 && !slices.ContainsFunc(requests, func(r streamstest.Request) bool { return !refused(r) }) {
			c.problem("%s: says %q, but the service refused all requests: %v", o.what, last, requests)
		}
	default:
		c.problem("%s: the last sentence is %q", o.what, last)
	}
}
