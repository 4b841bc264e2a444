package report

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// failures are those of a group whose streams are s0000, s0001, ….
type failures []session.Finding

// factsAfter are those of a session that has had one operation.
func factsAfter(e *streams.Error) *claims.Facts {
	return &claims.Facts{Unknown: e.Outcome == streams.Unknown, Reported: e.Stream}
}

// add adds failures. {id} in a text stands for the stream.
func (f *failures) add(n int, e streams.Error) {
	for range n {
		failed, name := e, fmt.Sprintf("s%04d", len(*f))
		failed.Message = strings.ReplaceAll(e.Message, "{id}", name)
		failed.Reason = strings.ReplaceAll(e.Reason, "{id}", name)
		failed.Method, failed.URL = "PATCH", "https://streams.example.com/v2/streams/"+name
		*f = append(*f, session.Finding{Stream: name, Err: &failed, Facts: factsAfter(&failed)})
	}
}

// diagnostics are those of an update that keeps the streams, and has set others.
func (f failures) diagnostics() diag.Diagnostics {
	c := session.Change{Kind: session.Edit, Want: session.Sets{}}
	for _, failed := range f {
		c.Want[failed.Stream] = &first
	}
	return New("").Apply(context.Background(), SeveralStreams, c, session.After{Findings: f, Done: 3})
}

func service(status int, message string, outcome streams.Outcome) streams.Error {
	kind := map[int]streams.Kind{400: streams.KindBadRequest, 401: streams.KindAuthentication}[status]
	if kind == "" {
		kind = streams.KindGeneric
	}
	return streams.Error{Kind: kind, Outcome: outcome, Result: requests.Result{
		Status: status, Message: message, Form: masking.FormDocumented, Attempts: 2,
	}}
}

// A group has one error for each cause, in the order of the first streams. Neither what the service said, nor the provider's own reason,
// nor the outcome is a cause. What is the same for all streams is said once, and the rest stands beside the streams.
func TestCauses(t *testing.T) {
	t.Parallel()
	var f failures
	f.add(2, service(503, "{id} is busy", streams.NotChanged))
	f.add(1, service(503, "", streams.NotChanged))
	f.add(1, service(400, "no", streams.NotChanged))
	diags := f.diagnostics()
	if len(diags) != 2 || diags[0].Summary() != string(generic) || diags[1].Summary() != string(bad) {
		t.Errorf("%s", diags)
	}
	streamstest.WantText(t, diags[0].Detail(), "\nThe service said: s0000 is busy\n",
		"\n\"s0000\": The service said: s0000 is busy\n\"s0001\": The service said: s0001 is busy\n\"s0002\"\n")
	for _, d := range diags {
		streamstest.WantText(t, d.Detail(), "3 of 7 changes succeeded.")
	}

	f = nil
	lost := service(503, "{id} is busy", streams.Unknown)
	lost.Kind, lost.Reason, lost.Err = streams.KindConnection, "the connection failed: EOF", errors.New("EOF")
	f.add(1, lost)
	lost.Reason = "the connection failed: reset"
	f.add(1, lost)
	streamstest.WantText(t, f.diagnostics()[0].Detail(),
		"503 Service Unavailable (2 attempts)\nThe connection failed: EOF.\nThe service said: s0000 is busy\n",
		"\n\"s0000\": The connection failed: EOF. The service said: s0000 is busy\n",
		"\n\"s0001\": The connection failed: reset. The service said: s0001 is busy\n")

	// A token request has a cause of its own. A failure that repeats another one has not.
	f = nil
	rejected := service(401, "no", streams.NotChanged)
	f.add(2, rejected)
	rejected.Attempts, rejected.Reason = 0, "the service has rejected the same credentials for other streams"
	f.add(2, rejected)
	rejected.TokenRequest = true
	f.add(1, rejected)
	if diags = f.diagnostics(); len(diags) != 2 {
		t.Fatalf("%d errors: %v", len(diags), diags)
	}
	streamstest.WantText(t, diags[0].Detail(), "\n\"s0000\", \"s0001\": The service said: no\n"+
		"\"s0002\", \"s0003\": The service has rejected the same credentials for other streams. The service said: no\n")
}

// The example has a response, if one of the streams has.
func TestExample(t *testing.T) {
	t.Parallel()
	var f failures
	f.add(2, service(503, "", streams.NotChanged))
	f.add(1, service(503, "busy", streams.NotChanged))
	streamstest.WantText(t, f.diagnostics()[0].Detail(), "The processors of 3 streams",
		"For example: PATCH https://streams.example.com/v2/streams/s0002 → 503 Service Unavailable (2 attempts)\nThe service said: busy\n")
}

// A failure that repeats another's has its cause, although it has fewer attempts.
func TestRepeatedInGroup(t *testing.T) {
	t.Parallel()
	var f failures
	e := service(503, "busy", streams.Unknown)
	f.add(2, e)
	e.Attempts = 1
	f.add(2, e)
	e.Attempts, e.Reason = 0, "the service does not respond to other operations"
	f.add(2, e)
	if diags := f.diagnostics(); len(diags) != 1 {
		t.Errorf("%d errors: %s", len(diags), diags)
	}
}

// A warning shows all sets whole, also long ones: they have no other place.
func TestManySets(t *testing.T) {
	t.Parallel()
	var p session.Planned
	var want []string
	for i := range shownTexts + 5 {
		set := fmt.Sprintf(`["p%d", "%s"]`, i, strings.Repeat("x", masking.MaxText))
		p.Findings = append(p.Findings, session.Finding{Stream: fmt.Sprint("s", i), Warning: claims.WillBeDetached, Shown: set})
		want = append(want, fmt.Sprintf("\n\"s%d\": %s\n", i, set))
	}
	streamstest.WantText(t, New("").Plan(SeveralStreams, updates, p)[0].Detail(), want...)
}

// A group with a set that is [] and dropped streams has an error for each: what helps is not the same.
func TestRefusedEmptySets(t *testing.T) {
	t.Parallel()
	var f failures
	f.add(3, service(400, "an empty set", streams.NotChanged))
	for i := range f {
		f[i].Decision = claims.Decision{Send: true}
	}
	c := session.Change{Kind: session.Edit, Want: session.Sets{"s0000": new(streams.ProcessorSet)}}
	diags := New("").Apply(t.Context(), SeveralStreams, c, session.After{Findings: f})
	if len(diags) != 2 {
		t.Fatalf("%d errors: %v", len(diags), diags)
	}
}

// What only some streams have is not claimed of the others: a response, a reason, an outcome.
func TestWhatDiffers(t *testing.T) {
	t.Parallel()
	var f failures
	f.add(1, service(503, "", streams.NotChanged))
	f.add(1, service(503, "busy", streams.Unknown))
	f.add(1, service(503, "busy", streams.NotChanged))
	streamstest.WantText(t, f.diagnostics()[0].Detail(), "\n\"s0001\", \"s0002\": The service said: busy\n",
		"\n\"s0000\", \"s0002\": "+notChanged+"\n", "\n\"s0001\": "+nowTrue(streams.Unknown, nil))
	f = nil
	f.add(1, service(503, "", streams.NotChanged))
	f.add(2, service(503, "busy", streams.NotChanged))
	streamstest.WantText(t, f.diagnostics()[0].Detail(), "\n\"s0001\", \"s0002\": The service said: busy\n\"s0000\"\n\nThe service may")
}

// Each error about a read ends like this, also those of several streams.
func TestReadsOfMany(t *testing.T) {
	t.Parallel()
	var f failures
	f.add(3, service(503, "busy", streams.NotChanged))
	for i := range f {
		f[i].Facts = nil
	}
	f = append(f, session.Finding{Stream: "gone1", Warning: claims.Gone, Err: errors.New("x")},
		session.Finding{Stream: "gone2", Warning: claims.Gone, Err: errors.New("x")})
	diags := New("").Reads(SeveralStreams, 9, f, Refresh)
	if len(diags) != 2 || diags[1].Severity() != diag.SeverityWarning {
		t.Fatal(diags)
	}
	streamstest.WantText(t, diags[0].Detail(), notChangedByRead+"\n\n4 of 9 streams were read.")
	for _, d := range diags {
		if d, located := d.(diag.DiagnosticWithPath); located {
			t.Errorf("Terraform would print all of %s", d.Path())
		}
	}
}
