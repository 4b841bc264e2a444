package provider

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
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
}

type claimed struct {
	set    []string
	relies bool // the resource sends nothing
}

func newProcessRules() *processRules {
	return &processRules{map[string]claimed{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

var streamOfWarning = regexp.MustCompile(`: stream "(\w+)"$`)

// notePlan takes note of a plan of a resource, and of what its diagnostics say.
func (r *processRules) notePlan(planned tftypes.Value, diags diagnostics) {
	for _, d := range diags {
		if found := streamOfWarning.FindStringSubmatch(d.Summary); found != nil && d.Severity == tfprotov6.DiagnosticSeverityWarning {
			r.warned[found[1]] = true
		}
	}
	if planned.IsNull() || diags.failed() {
		return
	}
	a := attributesOf(planned)
	if !a["stream_id"].IsKnown() || !a["processor_ids"].IsFullyKnown() {
		return
	}
	id, _ := fromTerraform(a["stream_id"]).(string)
	set, _ := fromTerraform(a["processor_ids"]).([]string)
	r.claims[id] = claimed{set, r.claims[id].relies || a["last_edited"].IsKnown()}
}

// successorOf returns what another resource does with a stream that a resource leaves, or nil.
func (r *processRules) successorOf(id string) *claimed {
	if c, ok := r.claims[id]; ok {
		return &c
	}
	return nil
}

// destroySends returns the set that a destroy sends, or nil for no request. next is the successor in the plan.
func (r *processRules) destroySends(s *stored, next *claimed) []string {
	id := s.text("stream_id")
	was, _ := fromTerraform(attributesOf(s.value)["processor_ids"]).([]string)
	if next == nil {
		next = r.successorOf(id)
	}
	switch {
	case r.written[id], next != nil && !next.relies:
		return nil
	case next != nil && slices.Equal(next.set, was):
		return nil
	case next != nil:
		return next.set
	case s.text("on_destroy") == onDestroyKeep:
		return nil
	}
	return []string{}
}

// operation is one call that may change a stream, and its result.
type operation struct {
	what     string
	id       string
	sends    []string // the expected set; nil for no request
	before   any      // processors in the service
	requests []streamstest.Request
	diags    diagnostics
}

// operate makes a call and records what the service received.
func (c *terraformCore) operate(what, id string, sends []string, call func() diagnostics) {
	o := operation{what: what, id: id, sends: sends, before: c.attached(id)}
	kind, _, _ := strings.Cut(what, " ")
	c.note(func() { c.operating = kind })
	seen := len(c.service.Requests())
	o.diags = call()
	c.note(func() { c.operating = "" })
	c.tally.add("operation: " + kind)
	for _, d := range o.diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			sentence := d.Detail[strings.LastIndex(d.Detail, "\n")+1:]
			c.tally.add("outcome: " + kind + ": " + sentence[:min(len(sentence), 30)])
		}
	}
	if c.next == nil {
		return // requests of other operations are in between
	}
	o.requests = c.service.Requests()[seen:]
	c.checkOperationRequests(o)
	for _, d := range o.diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			c.checkLastSentence(o, d.Detail)
		}
	}
}

var retried = []int{0, 408, 429, 500, 502, 503, 504}

// checkOperationRequests checks that an operation sent exactly what the rules say.
func (c *terraformCore) checkOperationRequests(o operation) {
	if strings.Contains(o.diags.String(), "Nothing was sent") || o.sends == nil {
		if len(o.requests) > 0 {
			c.problem("%s: sent %v, want no request", o.what, o.requests)
		}
		return
	}
	for i, r := range o.requests {
		if r.Method != http.MethodPatch || r.StreamID != o.id || r.Body != patchBody(o.sends) {
			c.problem("%s: sent %s, want only %s to %s", o.what, r, patchBody(o.sends), o.id)
		}
		if last := i == len(o.requests)-1; !last && !slices.Contains(retried, r.Status) {
			c.problem("%s: sent another request after %s", o.what, r)
		} else if last && !o.diags.failed() && r.Status != http.StatusOK && r.Status != http.StatusNotFound {
			c.problem("%s: succeeded with %s", o.what, r)
		}
	}
	if n := len(o.requests); n > 0 && o.requests[n-1].Status == http.StatusNotFound && o.diags.failed() && strings.HasPrefix(o.what, "destroy") {
		c.problem("%s: failed with %s, but a stream that is gone needs no destroy", o.what, o.requests[n-1])
	}
	if len(o.requests) == 0 && !c.interrupted.Load() || len(o.requests) > c.attempts {
		c.problem("%s: sent %d requests, want 1 to %d", o.what, len(o.requests), c.attempts)
	}
}

// checkLastSentence compares the last sentence of an error with the service.
func (c *terraformCore) checkLastSentence(o operation, detail string) {
	paragraphs := strings.Split(detail, "\n\n")
	last := strings.TrimPrefix(strings.TrimPrefix(paragraphs[len(paragraphs)-1], "Nothing was sent for this resource. "), "Nothing was sent. ")
	applied := slices.ContainsFunc(o.requests, func(r streamstest.Request) bool { return r.Applied })
	after := c.attached(o.id)
	switch reported := "The service reports that the stream now has "; {
	case last == "The stream was not changed.":
		if applied {
			c.problem("%s: says %q, but the service applied a request", o.what, last)
		}
	case last == "The stream was changed.":
		if !reflect.DeepEqual(after, any(o.sends)) {
			c.problem("%s: says %q, but the service has %v", o.what, last, after)
		}
	case strings.HasPrefix(last, reported):
		if set := fmt.Sprintf("%q", after); strings.ReplaceAll(strings.TrimPrefix(last, reported), ", ", " ") != set+"." {
			c.problem("%s: says %q, but the service has %s", o.what, last, set)
		}
	case strings.HasPrefix(last, "The stream may or may not have been changed"):
		refused := func(r streamstest.Request) bool { return r.Status/100 == 4 && r.Status != http.StatusRequestTimeout }
		if len(o.requests) > 0 && !slices.ContainsFunc(o.requests, func(r streamstest.Request) bool { return !refused(r) }) {
			c.problem("%s: says %q, but the service refused all requests: %v", o.what, last, o.requests)
		}
	default:
		c.problem("%s: the last sentence is %q", o.what, last)
	}
}

// checkOthers checks the state of resources without changes after the destroy of another object of their stream. Only two
// kinds of destroy may make such a state untrue: core gives them no mark of a plan.
func (c *terraformCore) checkOthers(what string, s *stored, unmarked bool) {
	id := s.text("stream_id")
	for _, other := range c.objects() {
		if other == s || !other.unchanged || other.text("stream_id") != id || c.doubtful[id] || c.unrecorded[id] {
			continue
		}
		if reflect.DeepEqual(fromTerraform(attributesOf(other.value)["processor_ids"]), c.attached(id)) {
			continue
		}
		if !unmarked {
			c.problem("%s: the state of another resource is untrue: stream %q has %v", what, id, c.attached(id))
		} else if !s.tainted && !c.replacedInPlace[id] && !c.warned[id] {
			c.problem("%s: the state of another resource is untrue, and no plan warned about stream %q", what, id)
		}
		c.unrecorded[id] = true
	}
}
