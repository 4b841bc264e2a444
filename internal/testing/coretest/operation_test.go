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

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// checkCompatible checks that an object has the known values of the planned one.
func (c *terraformCore) checkCompatible(what string, planned, actual tftypes.Value) {
	if wrong := Incompatible(planned, actual); len(wrong) > 0 && !actual.IsNull() {
		c.t.Fatalf("%s: %q", what, wrong)
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
	old      bool              // a deposed object of an earlier run is destroyed
	hidden   bool              // only some streams have errors: of an interrupted group
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
	o.requests = slices.Clone(c.service.Requests()[c.sent:])
	for _, r := range o.requests {
		if r.Applied {
			c.limitOthers(r.StreamID, o.object)
		}
	}
	c.destroysOld = o.old
	c.noErrors(o.what, diags, ids...)
	c.destroysOld = false
	o.errors = c.errorsOf(o.what, ids, diags)
	o.all = diags.String()
	o.hidden = strings.Contains(o.all, "× "+string(streams.KindInterrupted))
	for _, id := range ids {
		_, stays := o.sets[id]
		if o.detaches && !stays && !o.hidden && !strings.Contains(o.all, strconv.Quote(id)) {
			c.detached.add(id)
		}
		if o.hidden {
			c.warned.add(id)
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
	if failed && !stays && c.written[id] && !sent {
		c.t.Fatalf("%s: leaves %q after the set of another resource, and fails: %s", o.what, id, detail)
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
	if len(requests) > 0 && !stays && o.prior != nil && o.prior.text("deployment") == "" {
		c.t.Fatalf("%s: sent %v, and no refresh has recorded the deployment", o.what, requests)
	}
	for i, r := range requests {
		if r.Method != http.MethodPatch || stays && r.Body != patchBody(set) || !stays && !o.detaches && c.shared[id] < 2 {
			c.t.Fatalf("%s: sent %s", o.what, r)
		}
		if i == len(requests)-1 && !failed && r.Status != http.StatusOK && (stays || !saysGone(r)) {
			c.t.Fatalf("%s: succeeded with %s", o.what, r)
		}
	}
	n := len(requests)
	if n > 0 && saysGone(requests[n-1]) && failed && !stays {
		c.t.Fatalf("%s: failed with %s, but a stream that is gone needs no destroy", o.what, requests[n-1])
	}
	if n > c.attempts {
		c.t.Fatalf("%s: sent %d requests, want at most %d", o.what, n, c.attempts)
	}
}

// saysGone reports whether the service itself said that there is no such stream. A 404 of a gateway says nothing of the stream.
func saysGone(r streamstest.Request) bool { return r.Status == http.StatusNotFound && r.Message }

// checkFailed checks the state after a failed operation: a stream without an error has what was planned, and one with an
// error stays. checkStates checks its set.
func (c *terraformCore) checkFailed(o *applyCall, after *stored) {
	was, is := o.prior.sets(), c.here(after).sets()
	if _, refused := o.errors[""]; refused {
		if !reflect.DeepEqual(was, is) {
			c.t.Fatalf("%s: was refused, and the state has %v, want %v", o.what, is, was)
		}
		return
	}
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

// errorsOf sorts errors by stream.
func (c *terraformCore) errorsOf(what string, ids []string, diags Diagnostics) map[string]string {
	errors := map[string]string{}
	for _, d := range diags {
		if d.Severity != tfprotov6.DiagnosticSeverityError {
			continue
		}
		switch found := ByStream(d); {
		case d.Summary == deploymentChanged, d.Summary == deploymentNotKnown, d.Summary == cannotBeChecked:
			errors[""] = d.Detail // of no stream here
		case len(found) > 0: // a refused plan of a group may name more than the streams that stay
			maps.Copy(errors, found)
		case len(ids) == 1:
			errors[ids[0]] = closing.ReplaceAllString(d.Detail, "")
		default:
			c.t.Fatalf("%s: an error of no stream: %s", what, d.Detail)
		}
	}
	return errors
}

// The beginnings of last sentences.
const (
	reportedNow  = "The service reports that the stream now has "
	mayBeChanged = "The stream may or may not have been changed"
)

// noteReport takes note of what the response to an operation says about a stream.
func (c *terraformCore) noteReport(id string, o *applyCall) {
	requests := o.requestsTo(id)
	switch detail, failed := o.errors[id]; {
	case strings.Contains(detail, reportedNow), !failed && len(requests) > 0 && requests[len(requests)-1].Status == http.StatusOK:
		c.reported[id], c.doubtful[id] = true, false
	case strings.Contains(detail, mayBeChanged):
		c.reported[id], c.doubtful[id] = false, true
	case !failed && len(requests) > 1 && saysGone(requests[len(requests)-1]):
		c.reported[id], c.doubtful[id] = false, true
		c.limit(id) // the destroy is done, and only its warning says what an attempt before may have done
	}
}

const nothingSent = "Nothing was sent by this operation."

// checkLastSentence compares the last sentence of an error with the service. The conflict of a plan has a sentence that is
// always true.
func (c *terraformCore) checkLastSentence(o *applyCall, id, detail string) {
	requests := o.requestsTo(id)
	last, plans := detail[strings.LastIndex(detail, "\n")+1:], strings.HasPrefix(o.what, "plan ")
	last, unsent := strings.CutPrefix(strings.TrimSpace(last), nothingSent)
	last = strings.TrimPrefix(strings.TrimSpace(last), "No update was sent. ")
	applied := slices.IndexFunc(c.service.Requests(), func(r streamstest.Request) bool { return r.Applied && r.StreamID == id })
	after, _ := c.attached(id).([]string)
	switch {
	case last == "The stream was not changed by this resource.", last == "Nothing was changed by this read.":
		return
	case last == "The stream was not changed.":
		if applied >= 0 { // by whichever resource of the run
			c.t.Fatalf("%s: says %q, but the service has applied %s", o.what, last, c.service.Requests()[applied])
		}
	case last == "The stream was changed.":
		if n := len(requests); n == 0 || patchBody(after) != requests[n-1].Body {
			c.t.Fatalf("%s: says %q, but the service has %v", o.what, last, after)
		}
	case strings.HasPrefix(last, reportedNow):
		if set := fmt.Sprintf("%q", after); strings.ReplaceAll(strings.TrimPrefix(last, reportedNow), ", ", " ") != set+"." {
			c.t.Fatalf("%s: says %q, but the service has %s", o.what, last, set)
		}
	case strings.HasPrefix(last, mayBeChanged):
		if len(requests) == 0 && c.reported[id] {
			c.t.Fatalf("%s: says %q, but the service has reported the set of %q", o.what, last, id)
		}
		refused := func(r streamstest.Request) bool { return r.Status/100 == 4 && r.Status != http.StatusRequestTimeout }
		if len(requests) > 0 && !c.doubtful[id] && !slices.ContainsFunc(requests, func(r streamstest.Request) bool { return !refused(r) }) {
			c.t.Fatalf("%s: says %q, but the service refused all requests: %v", o.what, last, requests)
		}
	case !unsent || !plans:
		c.t.Fatalf("%s: the last sentence is %q", o.what, last)
	}
}

// checkRestored checks the errors of a failed create whose old object core puts back into the state. The next plan sends
// nothing if that object has the set, so an error says what works: that of the stream, or that of all streams of a group.
func (c *terraformCore) checkRestored(o *applyCall, old *stored) {
	for id, detail := range o.errors {
		if strings.Contains(detail, "is not in the state") {
			c.t.Fatalf("%s: says that the resource is not in the state, but core has restored it: %s", o.what, detail)
		}
		_, has := c.here(old).sets()[id]
		unknown := len(o.requestsTo(id)) > 0 && strings.Contains(detail, mayBeChanged)
		if !has || !unknown {
			continue
		}
		if !c.hasFailure("triggers") { // of this operation, or of one with the same cause
			c.t.Fatalf("%s: the next plan may send nothing, and no error says what works: %s", o.what, o.all)
		}
		c.limit(id) // an operation of an earlier run may have changed the stream, and only a resource that was destroyed knew it
	}
}
