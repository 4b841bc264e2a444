package coretest

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
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
			c.t.Fatalf("%s: %s was %v and is %v", what, name, FromTerraform(want[name]), FromTerraform(got[name]))
		}
	}
}

// applyCall is one call that may change streams, and its result.
type applyCall struct {
	what     string
	object   *stored             // in the state; nil: there is none
	prior    *stored             // likewise, at the configured deployment
	sets     map[string][]string // of the streams that the resource has afterwards
	detaches bool                // the streams that the resource leaves
	requests []streamstest.Request
	errors   map[string]string // by stream
	all      string            // every diagnostic
	hidden   bool              // only some streams have errors: of an interrupted group, or of one that a check ends before the first request
}

// streams returns those of the resource, before and after.
func (o *applyCall) streams() []string {
	ids := slices.Collect(maps.Keys(o.sets))
	if o.prior != nil {
		ids = append(ids, o.prior.streams()...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// makeCall makes a call and records what the service received.
func (c *terraformCore) makeCall(o *applyCall, call func() Diagnostics) {
	ids := o.streams()
	diags := call()
	c.called[o.prior] = true
	o.requests = slices.DeleteFunc(slices.Clone(c.service.Requests()[c.sent:]), func(r streamstest.Request) bool {
		return c.drift && r.Method == http.MethodGet // a destroy checks what its create takes over
	})
	for _, r := range o.requests {
		if r.Applied {
			c.limitOthers(r.StreamID, o.object)
		}
	}
	c.noErrors(o.what, diags)
	o.errors = c.errorsOf(o.what, ids, diags)
	o.all = diags.String()
	o.hidden = strings.Contains(o.all, "× "+string(streams.KindInterrupted)) || strings.Contains(o.all, otherProcessors) ||
		strings.Contains(o.all, cannotBeChecked) || strings.Contains(o.all, "could not be read.")
	for _, id := range ids {
		_, stays := o.sets[id]
		if o.detaches && !stays && !o.hidden && !strings.Contains(o.all, strconv.Quote(id)) {
			c.detached.add(id)
		}
		if o.hidden {
			c.said.add(id)
		}
	}
	for _, r := range o.requests {
		if !slices.Contains(ids, r.StreamID) {
			c.t.Fatalf("%s: sent %s for another stream", o.what, r)
		}
	}
	for _, id := range ids {
		c.checkStreamRequests(o, id)
		if detail, failed := o.errors[id]; failed {
			c.checkLastSentence(o, id, detail)
		}
		c.checkTurn(o, id)
		c.noteReport(id, o)
	}
}

const otherFailed = "An operation of another resource on this stream has failed."

// checkTurn checks what an operation does after others of the run. A resource may leave a stream alone only if the state
// of another one must stay true, and if a resource has sent its set, none that leaves the stream sends anything.
func (c *terraformCore) checkTurn(o *applyCall, id string) {
	_, stays := o.sets[id]
	_, inState := o.prior.sets()[id]
	detail, failed := o.errors[id]
	sent := len(o.requestsTo(id)) > 0
	if strings.Contains(detail, otherFailed) && (!c.failed[id] || c.written[id]) {
		c.t.Fatalf("%s: leaves %q alone, and no state needs that", o.what, id)
	}
	if sent && !stays && c.written[id] {
		c.t.Fatalf("%s: leaves %q, and sent %v after the set of another resource", o.what, id, o.requestsTo(id))
	}
	kept := inState || strings.Contains(detail, reportedNow) // the state of a group has what was reported of an added stream
	c.failed[id] = c.failed[id] || failed && kept
	c.written[id] = c.written[id] || sent && stays && !failed && o.what != "invoke"
}

// checkStreamRequests checks the requests of an operation to one stream. What a resource sends that leaves it, checkRequests checks.
func (c *terraformCore) checkStreamRequests(o *applyCall, id string) {
	set, stays := o.sets[id]
	detail, failed := o.errors[id]
	requests := o.requestsTo(id)
	if len(requests) > 0 && strings.Contains(detail, "Nothing was sent") {
		c.t.Fatalf("%s: sent %v, and says that nothing was sent", o.what, requests)
	}
	for i, r := range requests {
		if r.Method != http.MethodPatch || stays && r.Body != patchBody(set) || !stays && !o.detaches && c.shared[id] < 2 {
			c.t.Fatalf("%s: sent %s", o.what, r)
		}
		if i == len(requests)-1 && !failed && r.Status != http.StatusOK && (stays || r.Status != http.StatusNotFound) {
			c.t.Fatalf("%s: succeeded with %s", o.what, r)
		}
	}
	n := len(requests)
	if n > 0 && requests[n-1].Status == http.StatusNotFound && failed && !stays {
		c.t.Fatalf("%s: failed with %s, but a stream that is gone needs no destroy", o.what, requests[n-1])
	}
	if n > c.attempts {
		c.t.Fatalf("%s: sent %d requests, want at most %d", o.what, n, c.attempts)
	}
}

// checkFailed checks the state after a failed operation: a stream without an error has what was planned, and one with an
// error stays. checkStates checks its set.
func (c *terraformCore) checkFailed(o *applyCall, after *stored) {
	was, is := o.prior.sets(), c.here(after).sets()
	for _, id := range o.streams() {
		set, found := is[id]
		_, inState := was[id]
		wanted, stays := o.sets[id]
		switch _, failed := o.errors[id]; {
		case failed && inState && !found:
			c.t.Fatalf("%s: stream %q failed, and is not in the state any more", o.what, id)
		case !failed && !o.hidden && (found != stays || stays && !reflect.DeepEqual(set, any(wanted))):
			c.t.Fatalf("%s: stream %q did not fail, and the state has %v, want %v", o.what, id, set, wanted)
		}
	}
}

func (o *applyCall) requestsTo(id string) (requests []streamstest.Request) {
	for _, r := range o.requests {
		if r.StreamID == id {
			requests = append(requests, r)
		}
	}
	return requests
}
