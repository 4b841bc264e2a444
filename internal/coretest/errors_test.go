package coretest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// errorsOf sorts errors by stream. Those of a group end with one about all of its streams.
func (c *terraformCore) errorsOf(what string, ids []string, diags Diagnostics) map[string]string {
	errors := map[string]string{}
	for _, d := range diags {
		if d.Severity != tfprotov6.DiagnosticSeverityError {
			continue
		}
		switch steps := d.Attribute.Steps(); {
		case d.Summary == deploymentChanged, d.Summary == cannotBeChecked:
			errors[""] = d.Detail // of no stream here
		case d.Summary == "Streams Failed": // the counts
		case len(steps) > 1:
			key, _ := steps[1].(tftypes.ElementKeyString)
			errors[string(key)] = d.Detail
		case len(ids) == 1:
			errors[ids[0]] = d.Detail
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
		c.reported[id] = true
	case strings.Contains(detail, mayBeChanged):
		c.reported[id] = false
	case !failed && len(requests) > 1 && requests[len(requests)-1].Status == http.StatusNotFound:
		c.reported[id] = false
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
	last = strings.TrimSpace(last)
	applied := slices.ContainsFunc(requests, func(r streamstest.Request) bool { return r.Applied })
	after, _ := c.attached(id).([]string)
	switch {
	case last == "The stream was not changed by this resource.", last == "Nothing was changed by this read.":
		return
	case last == "The stream was not changed.":
		if applied {
			c.t.Fatalf("%s: says %q, but the service applied a request", o.what, last)
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
		if len(requests) > 0 && !slices.ContainsFunc(requests, func(r streamstest.Request) bool { return !refused(r) }) {
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
		if has && unknown && !strings.Contains(o.all, "triggers") {
			c.t.Fatalf("%s: the next plan may send nothing, and no error says what works: %s", o.what, o.all)
		}
	}
}
