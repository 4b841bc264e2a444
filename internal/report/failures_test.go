package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

const (
	bad, generic = streams.KindBadRequest, streams.KindGeneric

	testURL = "https://streams.example.com/v2/streams/cam-1"
)

// update is a failed update with a response, without that of one without a response.
func update(status int, kind streams.Kind) streams.Error {
	return streams.Error{Kind: kind, Result: requests.Result{
		Method: "PATCH", URL: testURL, Status: status, Form: masking.FormDocumented, Attempts: 1, Credentials: "a bearer token",
	}}
}

func without(cause error) streams.Error {
	return streams.Error{Kind: streams.KindConnection, Result: requests.Result{
		Method: "PATCH", URL: testURL, Attempts: 1, Err: errors.Join(cause, errors.New("x")),
	}}
}

func read(e streams.Error) streams.Error  { e.Method = "GET"; return e }
func token(e streams.Error) streams.Error { e.Method, e.TokenRequest = "POST", true; return e }

// The first error with a cause is whole. The others are short: what failed, with the response and what the provider has found; the first
// thing to check; which error has more; and, in a line of its own, what is now true.
func TestShortErrors(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("a long message ", 30))
	for name, test := range map[string]struct {
		err  streams.Error
		want string
	}{
		"a response": {service(400, long, streams.NotChanged), "could not be updated: 400 Bad Request: " + cut(long) + " "},
		"a reason": {streams.Error{Kind: generic, Result: requests.Result{
			Status: 503, Attempts: 9, Message: "Busy!", RequestID: "4bf92f35", Reason: "there is no time",
		}}, "could not be updated: 503 Service Unavailable: Busy! There is no time. "},
		"a redirect": {streams.Error{Kind: streams.KindRedirect, Result: requests.Result{Status: 302, Attempts: 1, RequestID: "7",
			Location: "https://login"}},
			"could not be updated: 302 Found. "},
		"no response": {streams.Error{Kind: streams.KindConnection, Result: requests.Result{Attempts: 9, Reason: "no such host"}},
			"could not be updated. No such host. "},
		"nothing sent": {streams.Error{Kind: streams.KindAuthentication, Result: requests.Result{Status: 401, Message: "no"}},
			"could not be updated: 401 Unauthorized: no. "},
		"a token first": {token(streams.Error{Kind: streams.KindAuthentication,
			Result: requests.Result{Status: 401, Message: "no"}}), "failed: 401 Unauthorized: no. "},
	} {
		r := New("")
		for i := range 3 {
			e := test.err
			e.Method, e.URL = "PATCH", testURL
			f := operation(&e, *factsAfter(&e))
			f.Stream = "cam-" + string(rune('1'+i))
			c := session.Change{Kind: session.Edit, Want: session.Sets{f.Stream: &first}}
			detail := r.Apply(t.Context(), OneStream, c, session.After{Findings: []session.Finding{f}})[0].Detail()
			m := messageOfError(f.Stream, &e)
			hint := hintFor(failure{&e, task{}})
			if i == 0 {
				streamstest.WantText(t, detail, e.Message, m.fill(hint.whole(), 1))
				continue
			}
			if !strings.Contains(detail, test.want+m.fill(hint.check, 1)) ||
				!strings.HasSuffix(detail, ` More in the error of stream "cam-1".`+"\n"+notChanged) {
				t.Errorf("%s:\n%s", name, detail)
			}
		}
	}
}

// A refusal that repeats another one is short, too: it names its stream and its sets, and says what is now true.
func TestShortRefusals(t *testing.T) {
	t.Parallel()
	r := New("")
	var details []string
	for _, stream := range []string{"cam-1", "cam-2"} {
		f := session.Finding{Stream: stream, Decision: claims.Decision{Refusal: claims.DetachesOthers}, Shown: fmt.Sprintf("[%q]", stream)}
		details = append(details, r.Plan(OneStream, updates, session.Planned{Findings: []session.Finding{f}})[0].Detail())
	}
	streamstest.WantText(t, details[0], refusals[claims.DetachesOthers].advice[:12])
	const want = `Stream "cam-2" has processors that are not in the planned set: ["cam-2"]. The apply would detach them, and ` +
		`on_create is "refuse". More in the error of stream "cam-1".` + "\nNo update was sent. " + notChangedHere
	if details[1] != want {
		t.Error(details[1])
	}
}

// What an earlier operation of the run has done to the stream stands in a short error, too.
func TestShortErrorAfterLeave(t *testing.T) {
	t.Parallel()
	r := New("")
	for range 2 {
		f := operation(failed(streams.NotChanged, nil), claims.Facts{Detached: true, Reported: &streams.Stream{}})
		detail := r.Apply(t.Context(), OneStream, updates, session.After{Findings: []session.Finding{f}})[0].Detail()
		streamstest.WantText(t, detail, "The stream's processors were detached before, in this run.",
			"\nThe service reports that the stream now has [].")
	}
}
