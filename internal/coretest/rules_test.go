package coretest

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// processRules predicts what one process of the provider sends. It states the rules of session.go once more, from the
// calls that the process gets. It needs steps in turn: the order of the steps decides.
type processRules struct {
	claims  map[string]claimed // by stream: what the plans of this process have given it
	written map[string]bool    // streams whose set a resource of this process has sent
	blocked map[string]bool    // streams of a failed operation whose resource stays in the state
	warned  map[string]bool    // streams that a warning of this process names
	known   map[string]bool    // streams of which the service has reported the set, after the last update in doubt
	repeats map[string]bool    // see mayBeRepeated
}

// claimed is what another resource does with a stream.
type claimed struct {
	set []string
	reliance
}

type reliance int

const (
	sendsSet reliance = iota
	maySend
	sendsNothing // the set must stay attached
)

func newProcessRules(repeats map[string]bool) *processRules {
	return &processRules{
		repeats: repeats,
		claims:  map[string]claimed{}, written: map[string]bool{}, blocked: map[string]bool{}, warned: map[string]bool{}, known: map[string]bool{},
	}
}

var streamOfWarning = regexp.MustCompile(`: stream "(\w+)"$`)

// notePlan takes note of a plan of a resource, and of what its diagnostics say.
func (r *processRules) notePlan(prior tftypes.Value, planned Managed, diags Diagnostics) {
	for _, d := range diags {
		if found := streamOfWarning.FindStringSubmatch(d.Summary); found != nil && d.Severity == tfprotov6.DiagnosticSeverityWarning {
			r.warned[found[1]] = true
		}
	}
	if planned.Value.IsNull() {
		return
	}
	sent, may := r.plannedSends(prior, planned.Value)
	for id, set := range setsOf(planned.Value) {
		set, ok := set.([]string)
		if !ok || slices.Contains(set, fmt.Sprint(tftypes.UnknownValue)) || diags.about("Conflicting Processor Sets", id) {
			continue
		}
		reliance := sendsSet
		if _, ok := sent[id]; !ok || diags.about("Another Resource Keeps the Stream", id) {
			reliance = sendsNothing
		} else if may[id] {
			reliance = maySend
		}
		r.claims[id] = claimed{set, max(reliance, r.claims[id].reliance)}
	}
}

// about reports whether there is a diagnostic about a stream. After an error in a plan, a resource has claimed its streams,
// unless two sets conflict.
func (d Diagnostics) about(summary, id string) bool {
	return slices.ContainsFunc(d, func(d *tfprotov6.Diagnostic) bool {
		return d.Summary == summary && strings.Contains(d.Detail, strconv.Quote(id))
	})
}

// plannedSends returns the sets that the apply of a plan sends, by stream, and the streams where it may as well send nothing.
func (r *processRules) plannedSends(prior, planned tftypes.Value) (sends map[string][]string, may map[string]bool) {
	sends, may = map[string][]string{}, map[string]bool{}
	if AttributesOf(planned)["last_edited"].IsKnown() {
		return sends, may
	}
	var was map[string]any
	sameTriggers := false
	if !prior.IsNull() {
		was = setsOf(prior)
		sameTriggers = EqualValues(AttributesOf(prior)["triggers"], AttributesOf(planned)["triggers"])
	}
	for id, set := range setsOf(planned) {
		before, inState := was[id]
		same := inState && sameTriggers && reflect.DeepEqual(before, set)
		if typeNameOf(planned) == SingleName || !same || r.repeats[id] {
			sends[id], _ = set.([]string)
			may[id] = typeNameOf(planned) == GroupName && same
		}
	}
	return sends, may
}

// successorOf returns what another resource does with a stream that a resource leaves, or nil.
func (r *processRules) successorOf(id string) *claimed {
	if c, ok := r.claims[id]; ok {
		return &c
	}
	return nil
}

// departedStream is a stream that a resource leaves.
type departedStream struct {
	id       string
	was      []string // in the state
	detaches bool
	next     *claimed // the successor in the plan
}

// leaveSends returns the sets that departures send, by stream, and adds the streams where they may as well send nothing.
func (r *processRules) leaveSends(departures []departedStream, may map[string]bool) map[string][]string {
	sent := map[string][]string{}
	for _, d := range departures {
		next := d.next
		if next == nil {
			next = r.successorOf(d.id)
		}
		switch {
		case r.written[d.id], next != nil && next.reliance == sendsSet:
		case next != nil && slices.Equal(next.set, d.was):
		case next != nil:
			sent[d.id], may[d.id] = next.set, next.reliance == maySend
		case d.detaches:
			sent[d.id] = []string{}
		}
	}
	return sent
}

// departures returns the departures of an object from streams.
func (s *stored) departures(ids []string, onDestroy string, next map[string]*claimed) []departedStream {
	var all []departedStream
	for _, id := range ids {
		was, _ := s.sets()[id].([]string)
		all = append(all, departedStream{id, was, onDestroy != "keep", next[id]})
	}
	return all
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
	c.tally.add("operation: " + kind)
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
		c.rules.noteReport(id, o)
	}
	return o
}

func setAll(values map[string]string, keys []string, value string) {
	for _, key := range keys {
		values[key] = value
	}
}

var streamCount = regexp.MustCompile(`^\d+ streams? \w+`)

// outcomeOf shortens the last sentence of an error, without numbers of streams.
func outcomeOf(sentence string) string {
	sentence, _, _ = strings.Cut(sentence, ". ")
	sentence = streamCount.ReplaceAllString(sentence, "streams:")
	return sentence[:min(len(sentence), 40)]
}

// noteErrors sorts errors by stream. Those of a group end with one about all of its streams.
func (c *terraformCore) noteErrors(o *operation, diags Diagnostics) {
	kind, _, _ := strings.Cut(o.what, " ")
	count := 0
	for _, d := range diags {
		if d.Severity != tfprotov6.DiagnosticSeverityError {
			continue
		}
		sentence := d.Detail[strings.LastIndex(d.Detail, "\n")+1:]
		c.tally.add("outcome: " + kind + ": " + outcomeOf(sentence))
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

// noteReport takes note of what the response to an operation says about a stream.
func (r *processRules) noteReport(id string, o *operation) {
	requests := o.requestsTo(id)
	switch detail, failed := o.errors[id]; {
	case strings.Contains(detail, reportedNow), !failed && len(requests) > 0 && requests[len(requests)-1].Status == http.StatusOK:
		r.known[id] = true
	case strings.Contains(detail, inDoubt):
		r.known[id] = false
	}
}

// The beginnings of last sentences.
const (
	reportedNow = "The service reports that the stream now has "
	inDoubt     = "The stream may or may not have been changed"
)

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
		if len(requests) == 0 && c.rules.known[id] {
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

// checkOthers checks the state of resources without changes after the destroy of another object of their stream. Only two
// kinds of destroy may make such a state untrue: core gives them no mark of a plan.
func (c *terraformCore) checkOthers(d departed) {
	for _, id := range d.streams {
		for _, other := range c.objects() {
			if other == d.object || !other.unchanged || !other.has(id) || c.unrecorded[id] || c.doubtful[id] && !d.unmarked {
				continue
			}
			if reflect.DeepEqual(other.sets()[id], c.attached(id)) {
				continue
			}
			if c.doubtful[id] {
				c.t.Logf("%s: stream %q was in doubt before", d.what, id)
			} else if !d.unmarked {
				c.problem("%s: the state of another resource is untrue: stream %q has %v", d.what, id, c.attached(id))
			} else if !d.object.tainted && !c.unforeseen[id] && !c.warned[id] {
				c.problem("%s: the state of another resource is untrue, and no plan warned about stream %q", d.what, id)
			}
			c.unrecorded[id] = true
		}
	}
}
