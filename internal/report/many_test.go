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
	return New("").Apply(context.Background(), Group, c, session.After{Findings: f, Updated: 1, Left: 2})
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

// wantDetails compares details with what they are to be, in their order.
func wantDetails(t *testing.T, diags diag.Diagnostics, want ...string) {
	t.Helper()
	for i, d := range diags {
		if i >= len(want) || strings.TrimSpace(want[i]) != d.Detail() {
			t.Errorf("error %d:\n%s", i, d.Detail())
		}
	}
	if len(diags) < len(want) {
		t.Errorf("%d errors", len(diags))
	}
}

// A group has one error for each cause, in the order of the first streams. What is the same for all streams is said once, and the
// rest stands beside the streams.
func TestCauses(t *testing.T) {
	t.Parallel()
	var f failures
	f.add(2, service(503, "{id} is busy", streams.NotChanged))
	f.add(1, service(503, "{id} is busy", streams.Unknown))
	f.add(1, service(400, "no", streams.NotChanged))
	f.add(1, service(503, "", streams.NotChanged))
	wantDetails(t, f.diagnostics(), `
The processors of 4 streams could not be updated.

For example: PATCH https://streams.example.com/v2/streams/s0000 → 503 Service Unavailable (2 attempts)
The service said: s0000 is busy

"s0000": as in the example
"s0001": s0001 is busy
"s0002": s0002 is busy

The service may be overloaded or have a fault. Run the command again later. If this error persists, check base_url.

"s0000", "s0001", "s0004": The stream was not changed.
"s0002": The stream may or may not have been changed; run the command again: sending the same set twice is safe.`, `
The processors of stream "s0003" could not be updated.

PATCH https://streams.example.com/v2/streams/s0003 → 400 Bad Request (2 attempts)
The service said: no

The service may not know one of the processor ids, or may not accept this set. Check the processor ids.

The stream was not changed.

3 of 8 changes succeeded. The state has what succeeded. Resolve the errors, then run the command again to send the rest.`)
}

// The reasons of the provider differ, too, and one of them is not claimed of all streams.
func TestReasons(t *testing.T) {
	t.Parallel()
	merged := func(reason string, set ...string) streams.Error {
		return streams.Error{
			Kind: streams.KindUnexpected, Outcome: streams.Changed, Result: requests.Result{Status: 200, Reason: reason, Attempts: 1},
			Stream: &streams.Stream{ProcessorIDs: streams.NewProcessorSet(set...)},
		}
	}
	var f failures
	f.add(1, merged(`the service reports additional processors ["a"]`, "a", "b"))
	f.add(1, merged(`the service did not attach ["c"]`, "b"))
	diags := f.diagnostics()
	wantDetails(t, diags, `
The processors of 2 streams could not be updated.

For example: PATCH https://streams.example.com/v2/streams/s0000 → 200 OK
The service reports additional processors ["a"].

"s0000": as in the example
"s0001": The service did not attach ["c"].

The service may merge sets instead of replacing them, or may ignore ids that it does not know. Compare the set with the processors in the service. If the service attaches some itself, add them to the sets. If ids differ only in case, write them as the service does. If it may have responded with the former set, run the command again.

"s0000": The service reports that the stream now has ["a", "b"].
"s0001": The service reports that the stream now has ["b"].

3 of 5 changes succeeded. The state has what succeeded. Resolve the errors, then run the command again to send the rest.`)

	f = nil
	lost := service(503, "{id} is busy", streams.Unknown)
	lost.Kind, lost.Reason, lost.Err = streams.KindConnection, "the connection failed: EOF", errors.New("EOF")
	f.add(1, lost)
	lost.Reason = "the connection failed: reset"
	f.add(1, lost)
	streamstest.WantText(t, f.diagnostics()[0].Detail(), "503 Service Unavailable (2 attempts)\nThe connection failed: EOF.\nThe service said: s0000 is busy\n",
		"\n\"s0000\": as in the example\n\"s0001\": The connection failed: reset. The service said: s0001 is busy\n")

	// A token request has a cause of its own, and so has what was not sent. A failure that repeats another one has not.
	f = nil
	rejected := service(401, "no", streams.NotChanged)
	f.add(2, rejected)
	rejected.Attempts, rejected.Reason = 0, "the service has rejected the same credentials for other streams"
	f.add(2, rejected)
	rejected.TokenRequest = true
	f.add(1, rejected)
	diags = f.diagnostics()
	if len(diags) != 2 {
		t.Errorf("%d errors: %v", len(diags), diags)
	}
	streamstest.WantText(t, diags[0].Detail(), "The processors of 4 streams could not be updated.\n",
		"\n\"s0002\", \"s0003\": The service has rejected the same credentials for other streams.\n\"s0000\", \"s0001\"\n", "\nThe service said: no\n")
	streamstest.WantText(t, diags[1].Detail(), "The token request to oauth2.token_url failed. The service has rejected")
}

// The example is a request that was sent.
func TestExample(t *testing.T) {
	t.Parallel()
	var f failures
	e := streams.Error{Kind: streams.KindTimeout, Result: requests.Result{Err: requests.ErrRequestTimeout, Reason: "nothing was sent"}}
	f.add(2, e)
	e.Attempts, e.Reason = 1, "the service did not respond within 2s"
	f.add(1, e)
	streamstest.WantText(t, f.diagnostics()[0].Detail(), "The processors of 3 streams", "For example: PATCH https://streams.example.com/v2/streams/s0002 → no valid response\n")
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
	streamstest.WantText(t, f.diagnostics()[0].Detail(), "The processors of 6 streams", "If this error persists, check base_url.")
}

// A warning shows all sets whole, also long ones: they have no other place.
func TestManySets(t *testing.T) {
	t.Parallel()
	var p session.Planned
	var want []string
	for i := range shownTexts + 5 {
		set := fmt.Sprintf(`["p%d", "%s"]`, i, strings.Repeat("x", longText))
		p.Findings = append(p.Findings, session.Finding{Stream: fmt.Sprint("s", i), Warning: claims.WillBeDetached, Shown: set})
		want = append(want, fmt.Sprintf("\n\"s%d\": %s\n", i, set))
	}
	streamstest.WantText(t, New("").Plan(t.Context(), Group, updates, p)[0].Detail(), want...)
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
	diags := New("").Apply(t.Context(), Group, c, session.After{Findings: f})
	if len(diags) != 2 {
		t.Fatalf("%d errors: %v", len(diags), diags)
	}
	streamstest.WantText(t, diags[1].Detail(), `stream "s0000" could not be updated.`, "Detach the processors in the service.")
	streamstest.WantText(t, diags[0].Detail(), "The processors of 2 streams could not be detached.",
		`To leave the streams without a request, set on_destroy = "keep" in the group, and run the command again.`)
}

// What only some streams have is not claimed of the others: a response, a reason, an outcome.
func TestWhatDiffers(t *testing.T) {
	t.Parallel()
	var f failures
	f.add(1, service(503, "", streams.NotChanged))
	f.add(1, service(503, "busy", streams.Unknown))
	f.add(1, service(503, "busy", streams.NotChanged))
	wantDetails(t, f.diagnostics(), `
The processors of 3 streams could not be updated.

For example: PATCH https://streams.example.com/v2/streams/s0001 → 503 Service Unavailable (2 attempts)
The service said: busy

"s0001", "s0002": as in the example

The service may be overloaded or have a fault. Run the command again later. If this error persists, check base_url.

"s0000", "s0002": The stream was not changed.
"s0001": The stream may or may not have been changed; run the command again: sending the same set twice is safe.

3 of 6 changes succeeded. The state has what succeeded. Resolve the errors, then run the command again to send the rest.`)
	f = nil
	f.add(1, service(503, "", streams.NotChanged))
	f.add(2, service(503, "busy", streams.NotChanged))
	streamstest.WantText(t, f.diagnostics()[0].Detail(), "\n\"s0001\", \"s0002\": as in the example\n\"s0000\"\n\nThe service may")
}

// Whether others succeed differs with the time of a failure. The streams of a call have one cause all the same.
func TestOthersGetThrough(t *testing.T) {
	t.Parallel()
	var f failures
	f.add(2, service(503, "busy", streams.NotChanged))
	f.add(2, beside(service(503, "busy", streams.NotChanged)))
	diags := f.diagnostics()
	if len(diags) != 1 {
		t.Errorf("%d errors: %s", len(diags), diags)
	}
	streamstest.WantText(t, diags[0].Detail(), "The processors of 4 streams", "Set max_concurrent_requests to a smaller number, or run the command again later.")
}

// A reason that all streams share stands before the example.
func TestSharedReason(t *testing.T) {
	t.Parallel()
	e := service(503, "{id} is busy", streams.NotChanged)
	e.Reason = "the operation did not finish within its time limit"
	var f failures
	f.add(2, e)
	streamstest.WantText(t, f.diagnostics()[0].Detail(),
		"The processors of 2 streams could not be updated. The operation did not finish within its time limit.\n\nFor example: ",
		"\n\n\"s0000\": as in the example\n\"s0001\": s0001 is busy\n")
}

// Warnings come before errors, and each error about a read ends like this, also those of several streams.
func TestReadsOfMany(t *testing.T) {
	t.Parallel()
	var f failures
	f.add(3, service(503, "busy", streams.NotChanged))
	for i := range f {
		f[i].Facts = nil
	}
	f = append(f, session.Finding{Stream: "gone1", Warning: claims.Gone, Err: errors.New("x")}, session.Finding{Stream: "gone2", Warning: claims.Gone, Err: errors.New("x")})
	for _, of := range []Subject{Group, StreamIDs} {
		diags := New("").Reads(t.Context(), of, len(f), f, Refresh)
		if len(diags) != 2 || diags[0].Severity() != diag.SeverityWarning {
			t.Fatal(diags)
		}
		streamstest.WantText(t, diags[0].Summary()+": "+diags[0].Detail(), "Stream Is Gone: The service does not know 2 streams any more. The state drops them", "\n\"gone1\", \"gone2\"")
		streamstest.WantText(t, diags[1].Detail(), "3 streams could not be read.", "\nThe service said: busy\n", `"s0000", "s0001", "s0002": Nothing was changed by this read.`)
		for _, d := range diags {
			if d, located := d.(diag.DiagnosticWithPath); located {
				t.Errorf("Terraform would print all of %s", d.Path())
			}
		}
	}
}
