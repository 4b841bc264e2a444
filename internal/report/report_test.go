package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const id = "cam-1"

var (
	first    = streams.NewProcessorSet("p1")
	reported = &streams.Stream{ProcessorIDs: streams.NewProcessorSet("p1", "p2")}
	updates  = session.Change{Kind: session.Edit, Want: session.Sets{id: &first}}
)

func failed(outcome streams.Outcome, s *streams.Stream) *streams.Error {
	sent := requests.Result{Method: "PATCH", URL: "https://host", Attempts: 1}
	return &streams.Error{Result: sent, Kind: streams.KindGeneric, Outcome: outcome, Stream: s}
}

// applied returns the details of the diagnostics of an apply.
func applied(of Subject, findings ...session.Finding) (details []string) {
	for _, d := range New().Apply(context.Background(), of, updates, session.After{Findings: findings, Updated: 1, Left: 2}, "") {
		details = append(details, d.Detail())
	}
	return details
}

func operation(err error, facts claims.Facts) session.Finding {
	return session.Finding{Stream: id, Err: err, Facts: &facts}
}

func TestFindingsHaveTexts(t *testing.T) {
	t.Parallel()
	all := slices.Concat(warnings[1:], slices.Collect(maps.Values(refusals)))
	for _, text := range all {
		m := message{cause: cause{text: text}, stream: id, own: "[]"}
		if text.summary == "" || !strings.Contains(text.head, "{streams}") && text != refusals[claims.Blocked] { // which gets it later
			t.Errorf("%+v", text)
		}
		for n, not := range map[int]string{1: "these streams", 3: "this stream "} {
			filled := m.happened(n) + " " + m.fill(text.advice, n)
			if strings.ContainsAny(filled, "{|}") || strings.Contains(filled, not) {
				t.Errorf("of %d streams: %s", n, filled)
			}
		}
	}
}

// A session warns once that streams change hands: the number of calls that know it depends on the order of the plans.
func TestFirstHandOver(t *testing.T) {
	t.Parallel()
	r, shown := New(), 0
	for _, of := range []Subject{Group, OneStream} {
		p := session.Planned{Findings: []session.Finding{
			{Stream: "cam-1", Warning: claims.StreamChangesHands}, {Stream: "cam-2", Warning: claims.StreamChangesHands},
		}}
		for _, d := range r.Plan(t.Context(), of, updates, p, "") {
			streamstest.WantText(t, d.Summary()+": "+d.Detail(), `Stream Changes Hands: One resource of this plan leaves stream "cam-1"`, "moved", `on_destroy = "keep"`, "triggers")
			shown++
		}
	}
	if shown != 1 {
		t.Errorf("%d warnings", shown)
	}
}

// Terraform merges warnings with equal summaries: those with nothing of their own have no id in the summary. Each names its stream.
func TestEqualWarnings(t *testing.T) {
	t.Parallel()
	for kind := claims.Warning(1); kind < claims.WarningCount; kind++ {
		r, summaries := New(), map[string]bool{}
		for i := range shownWarnings + 2 {
			f := session.Finding{Stream: fmt.Sprint("cam-", i), Warning: kind, Shown: `["p1"]`, Facts: &claims.Facts{}, Err: failed(streams.NotChanged, nil)}
			d := r.Reads(t.Context(), OneStream, []session.Finding{f}, Refresh)[0]
			streamstest.WantText(t, d.Detail(), fmt.Sprintf("tream %q", f.Stream))
			summaries[d.Summary()] = true
		}
		if own := strings.Contains(warnings[kind].head, "{own}"); (len(summaries) == 1) == own {
			t.Errorf("finding %d has the summaries %v", kind, summaries)
		}
	}
}

// The text of a conflict does not depend on which set was planned first.
func TestConflictInEachOrder(t *testing.T) {
	t.Parallel()
	text := func(set, other streams.ProcessorSet) string {
		return applied(OneStream, session.Finding{
			Stream: id, Decision: claims.Decision{Refusal: claims.ConflictingSets, Set: set, Other: other}, Facts: new(claims.Facts),
		})[0]
	}
	streamstest.WantText(t, text(streams.ProcessorSet{}, first), `one to ["p1"], another one to []`)
	if a, b := text(streams.ProcessorSet{}, first), text(first, streams.ProcessorSet{}); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}

// Every diagnostic about an operation ends with what is now true. All outcomes are here.
func TestNowTrue(t *testing.T) {
	t.Parallel()
	const (
		unchanged = "The stream was not changed."
		here      = "The stream was not changed by this resource."
		changed   = "The stream was changed."
		mayHave   = "The stream may or may not have been changed; run the command again: sending the same set twice is safe."
		nothing   = "Nothing was sent by this operation. "
		nowBoth   = `The service reports that the stream now has ["p1", "p2"].`
	)
	one := func(f session.Finding) string { return applied(OneStream, f)[0] }
	refusal := func(r claims.Refusal, facts claims.Facts) session.Finding {
		return session.Finding{Stream: id, Decision: claims.Decision{Refusal: r}, Facts: &facts}
	}
	plan := func(r claims.Refusal) string {
		return New().Plan(context.Background(), OneStream, updates, session.Planned{Findings: []session.Finding{{Stream: id, Decision: claims.Decision{Refusal: r}}}}, "")[0].Detail()
	}
	left := func(kind claims.Warning, err error, facts claims.Facts) string {
		return one(session.Finding{Stream: id, Warning: kind, Err: err, Facts: &facts})
	}
	streamstest.WantText(t, one(operation(failed(streams.NotChanged, nil), claims.Facts{Remainder: first})), `an object that had set ["p1"] left the stream and sent nothing`)
	detached := claims.Facts{Detached: true, Reported: &streams.Stream{}}
	streamstest.WantText(t, one(operation(failed(streams.NotChanged, nil), detached)), "The stream's processors were detached before, in this run.",
		"The service reports that the stream now has [].")
	unsent, wait := claims.Facts{Reported: reported}, context.Canceled
	for name, test := range map[string]struct{ detail, want string }{
		"refused":               {one(operation(failed(streams.NotChanged, nil), claims.Facts{})), unchanged},
		"unknown":               {one(operation(failed(streams.Unknown, nil), claims.Facts{Unknown: true})), mayHave},
		"merged":                {one(operation(failed(streams.Changed, reported), claims.Facts{Reported: reported})), nowBoth},
		"refused, after others": {one(operation(failed(streams.NotChanged, nil), unsent)), nowBoth},
		"and in doubt":          {one(operation(failed(streams.NotChanged, nil), claims.Facts{Reported: reported, Unknown: true})), mayHave},
		"left by another one":   {one(operation(failed(streams.NotChanged, nil), claims.Facts{Remainder: first})), unchanged},
		"read":                  {one(session.Finding{Stream: id, Err: failed(streams.Unknown, nil)}), "Nothing was changed by this read."},
		"wait":                  {one(operation(wait, claims.Facts{})), unchanged},
		"wait for another one":  {one(operation(errors.Join(session.ErrWaitedForOther, context.Canceled), claims.Facts{Unknown: true})), mayHave},
		"interrupted":           {one(operation(wait, unsent)), nowBoth},
		"not configured":        {CannotRead(session.NotConfigured, Plan)[0].Detail(), nothing + unchanged},
		"conflict":              {one(refusal(claims.ConflictingSets, unsent)), nothing + here},
		"left alone":            {one(refusal(claims.Blocked, claims.Facts{})), nothing + unchanged},
		"left alone, unknown":   {one(refusal(claims.Blocked, claims.Facts{Reported: reported, Unknown: true})), nothing + mayHave},
		"left, other failed":    {left(claims.StayAttachedBesideFailure, nil, claims.Facts{Unknown: true}), mayHave},
		"gone on destroy":       {left(claims.NotFoundOnDestroy, failed(streams.NotChanged, nil), claims.Facts{}), unchanged},
		"gone, after a failure": {left(claims.NotFoundOnDestroy, failed(streams.Unknown, nil), claims.Facts{Unknown: true}), mayHave},
		"unexpected change":     {UnexpectedChange(id, "terminal_id", "t1", "t2").Detail(), changed},
		"group, dropped":        {plan(claims.StreamIsKept), nothing + here},
		"processors of others":  {plan(claims.DetachesOthers), "No update was sent. " + here},
	} {
		if !strings.HasSuffix(test.detail, "\n"+test.want) {
			t.Errorf("%s: the last paragraph is not %q: %s", name, test.want, test.detail)
		}
	}
}

// A group drops a stream in an update, so these warnings do not speak of a destroy.
func TestWarningsOfDroppedStreams(t *testing.T) {
	t.Parallel()
	for _, kind := range []claims.Warning{claims.StayAttachedBesideFailure, claims.NotFoundOnDestroy} {
		text := applied(Group, session.Finding{Stream: id, Warning: kind, Err: failed(streams.NotChanged, nil), Facts: &claims.Facts{}})[0]
		if strings.Contains(text, "destroy") {
			t.Error(text)
		}
	}
}

// No advice attaches after a failed destroy what the destroy has detached: a destroy is run again, not applied.
func TestAdviceFitsTheCommand(t *testing.T) {
	t.Parallel()
	all := []string{nowTrue(streams.Unknown, nil), notSaved, UnexpectedChange(id, "terminal_id", "t1", "t2").Detail()}
	for _, kind := range []session.Kind{session.Create, session.Edit, session.Destroy} {
		all = append(all, nowInState(session.Change{Kind: kind}, session.After{}, false))
	}
	for _, text := range slices.Concat(warnings[:], slices.Collect(maps.Values(refusals))) {
		all = append(all, text.advice)
	}
	for _, h := range hints {
		all = append(all, h.whole())
	}
	for _, text := range all {
		if strings.Contains(strings.ToLower(text), "apply again") {
			t.Error(text)
		}
	}
	streamstest.WantText(t, strings.Join(all, "\n"), "only the streams that failed. Resolve the errors, then run the command again.")
}

// A failed create says what is not in the state, and what helps, if the stream may have been changed: one stream each time, a
// group once, and a short error only what helps.
func TestFailedCreates(t *testing.T) {
	t.Parallel()
	const nothingSaved, resolve = "Nothing of this create is in the state", "Resolve the errors, then run the command again."
	sent := failed(streams.NotChanged, nil)
	unsent := *sent
	unsent.Attempts = 0
	for name, test := range map[string]struct {
		of   Subject
		err  *streams.Error
		left streams.ProcessorSet
		set  int
		want []string
		not  []string
	}{
		"rejected":                  {OneStream, sent, streams.ProcessorSet{}, 0, []string{" → no valid response\n"}, []string{nothingSaved, "triggers"}},
		"not sent":                  {OneStream, &unsent, streams.ProcessorSet{}, 0, []string{" → no request was sent\n"}, []string{nothingSaved, "triggers"}},
		"unknown":                   {OneStream, failed(streams.Unknown, nil), streams.ProcessorSet{}, 0, []string{notSaved}, nil},
		"rejected, in doubt":        {OneStream, sent, streams.ProcessorSet{}, 0, []string{notSaved}, nil},
		"group, rejected, in doubt": {Group, sent, streams.ProcessorSet{}, 0, []string{"0 of 1 changes succeeded. " + notSaved}, nil},
		"rejected, and a leave":     {OneStream, sent, first, 0, []string{notSaved}, nil},
		"group, rejected":           {Group, sent, streams.ProcessorSet{}, 0, []string{"0 of 1 changes succeeded. " + nothingSaved + ". " + resolve}, []string{"triggers"}},
		"group, unknown":            {Group, failed(streams.Unknown, nil), streams.ProcessorSet{}, 0, []string{"0 of 1 changes succeeded. " + notSaved}, nil},
		"group, another set":        {Group, failed(streams.Changed, nil), streams.ProcessorSet{}, 0, []string{"0 of 1 changes succeeded. " + notSaved}, nil},
		"group, another succeeds":   {Group, sent, streams.ProcessorSet{}, 1, []string{"1 of 2 changes succeeded. " + notSaved}, nil},
	} {
		c := session.Change{Kind: session.Create, Want: session.Sets{id: &first}}
		facts := claims.Facts{Remainder: test.left, Unknown: test.err.Outcome == streams.Unknown || strings.HasSuffix(name, "in doubt")}
		after := session.After{Updated: test.set, Findings: []session.Finding{operation(test.err, facts)}}
		detail := New().Apply(t.Context(), test.of, c, after, "")[0].Detail()
		streamstest.WantText(t, detail, test.want...)
		if slices.ContainsFunc(test.not, func(text string) bool { return strings.Contains(detail, text) }) || strings.Count(detail, nothingSaved) > 1 {
			t.Errorf("%s: says too much: %s", name, detail)
		}
	}
}

// A session shows the first warnings of a kind that have sets of their own in full, also in a second plan. The others have one
// summary, and name the stream and the processors. A group has one warning, which names all.
func TestManyWarnings(t *testing.T) {
	t.Parallel()
	r, full := New(), 0
	warn := func(of Subject, ids ...string) (summary, detail string) {
		var p session.Planned
		for _, id := range ids {
			p.Findings = append(p.Findings, session.Finding{Stream: id, Warning: claims.WillBeDetached, Shown: `["old"]`})
		}
		d := r.Plan(t.Context(), of, updates, p, "")[0]
		return d.Summary(), d.Detail()
	}
	for i := range 30 {
		id := fmt.Sprint("s", i)
		warn(OneStream, id)
		if summary, detail := warn(OneStream, id); summary == "Processors Will Be Detached: more streams" {
			streamstest.WantText(t, detail, fmt.Sprintf("Stream %q has", id), `the apply detaches them: ["old"].`)
		} else {
			full++
		}
	}
	if full != 20 {
		t.Errorf("%d warnings are shown in full", full)
	}
	for i := range 30 { // Terraform merges none of a destroy
		f := session.Finding{Stream: fmt.Sprint("s", i), Warning: claims.StayAttachedBesideFailure, Facts: &claims.Facts{}}
		if d := r.Apply(t.Context(), OneStream, updates, session.After{Findings: []session.Finding{f}}, "")[0]; strings.Contains(d.Summary(), "more streams") {
			t.Errorf("%s: %s", d.Summary(), d.Detail())
		}
	}
	summary, detail := warn(Group, "a", "b", "c")
	streamstest.WantText(t, summary+detail, "Processors Will Be Detached: more streams", `"a", "b", "c": ["old"]`)
	r = New()
	summary, detail = warn(Group, "a", "b", "c")
	streamstest.WantText(t, summary+detail, `Processors Will Be Detached: stream "a" and 2 more`,
		"3 streams have processors that are not in the planned sets, and the apply detaches them: see below.\n\n\"a\", \"b\", \"c\": [\"old\"]\n\nTo keep")
}

// A change of the deployment is a warning, a destroy that would detach there is an error, and a destroy with keep says nothing.
func TestDeploymentChanges(t *testing.T) {
	t.Parallel()
	const old, now = "https://old", "https://new"
	for _, test := range []struct {
		kind    session.Kind
		detach  bool
		refusal session.CallRefusal
		want    []string
	}{
		{session.Edit, false, 0, []string{`state is that of deployment "https://old"`, `sends the sets to "https://new"`, `set deployment = "https://old"`}},
		{session.Destroy, true, 0, []string{`Streams at "https://old" keep their processors.`}},
		{session.Destroy, false, 0, nil},
		{session.Destroy, true, session.NotDetachable, []string{
			`The resource with stream "cam-1" cannot detach its processors.`, `configured for deployment "https://new"`, "configure the former deployment",
			"without the destroy", `on_destroy = "keep"`, "removed block with destroy = false", "untaint", "Nothing was sent",
			"https://new\".\n\nIf both are the same deployment, set deployment = \"https://old\" in the provider block.\n\nOtherwise, ",
			"If it is the old object of a replacement that did not end, use terraform state rm, and apply.\n\nNothing was sent",
		}},
	} {
		c := session.Change{Kind: test.kind, Detach: test.detach, Deployment: old, Was: session.Entries{id: {}}, Elsewhere: true}
		diags := New().Plan(context.Background(), OneStream, c, session.Planned{Refusal: test.refusal}, now)
		if len(diags) != min(1, len(test.want)) || diags.HasError() != (test.refusal != 0) {
			t.Errorf("%+v: %v", test, diags)
			continue
		}
		for _, d := range diags {
			streamstest.WantText(t, d.Summary()+d.Detail(), append(test.want, deploymentChanged)...)
		}
	}
	findings := []session.Finding{operation(failed(streams.NotChanged, nil), claims.Facts{})}
	elsewhere := session.Change{Kind: session.Edit, Elsewhere: true}
	some := New().Apply(context.Background(), Group, elsewhere, session.After{Findings: findings, Updated: 1}, now)
	streamstest.WantText(t, fmt.Sprint(some), "1 of 2 changes succeeded. The state has what succeeded.")
	diags := New().Apply(context.Background(), Group, elsewhere, session.After{Findings: findings}, now)
	diags = append(diags, New().Plan(context.Background(), OneStream, updates, session.Planned{Refusal: session.NeedsReads}, now)...)
	streamstest.WantText(t, fmt.Sprint(diags), "The state is still that of the former deployment.", "on_create", "Streams Cannot Be Checked", "set detect_drift = true")
}

// The first error with a cause is whole. The others have three sentences: what failed, with the response and what the provider has found;
// the first thing to check; and what is now true.
func TestShortDetails(t *testing.T) {
	t.Parallel()
	const url, nothing = "https://host/v2/streams/cam-1", "Nothing was sent by this operation. "
	const unchanged, mayHave = "The stream was not changed.", "The stream may or may not have been changed; run the command again: sending the same set twice is safe."
	long := strings.TrimSpace(strings.Repeat("a long message ", 30))
	for name, test := range map[string]struct {
		err  streams.Error
		want string
	}{
		"credentials": {streams.Error{Kind: streams.KindAuthentication, Result: requests.Result{
			Status: 401, Form: masking.FormDocumented, Message: "token expired", Reason: "the service has rejected the same credentials for other streams",
		}}, "could not be updated: 401 Unauthorized: token expired. The service has rejected the same credentials for other streams. " +
			"Check the provider block and the variables STREAM_….\n" + nothing + unchanged},
		"token request": {streams.Error{Kind: streams.KindAuthentication, Result: requests.Result{Status: 401, TokenRequest: true, Attempts: 1, Message: "no"}},
			"could not be updated. The token request to oauth2.token_url failed: 401 Unauthorized: no. " +
				"Check oauth2.client_id, oauth2.scopes, oauth2.endpoint_params and oauth2.token_url.\n" + unchanged},
		"long": {streams.Error{Kind: streams.KindBadRequest, Result: requests.Result{Status: 400, Attempts: 1, Form: masking.FormDocumented, Message: long}},
			"could not be updated: 400 Bad Request: " + cut(long) + " Check the processor ids.\n" + unchanged},
		"request id": {streams.Error{Kind: streams.KindGeneric, Outcome: streams.Unknown, Result: requests.Result{
			Status: 503, Attempts: 9, Form: masking.FormDocumented, Message: "Busy!", RequestID: "4bf92f35", Reason: "the operation did not finish within its time limit",
		}}, "could not be updated: 503 Service Unavailable (request id 4bf92f35): Busy! The operation did not finish within its time limit. " +
			"If this error persists, check base_url.\n" + mayHave},
		"redirect": {streams.Error{Kind: streams.KindRedirect, Result: requests.Result{Status: 302, Attempts: 1, RequestID: "7", Location: "https://login.example.com"}},
			"could not be updated: 302 Found (request id 7, Location https://login.example.com). If Location is the service, change base_url to that address.\n" + unchanged},
		"no response": {streams.Error{Kind: streams.KindConnection, Result: requests.Result{Attempts: 9, Err: errors.New("x"), Reason: "the connection failed: no such host"}},
			"could not be updated. The connection failed: no such host. Check base_url, the network and the proxy settings (HTTPS_PROXY, NO_PROXY).\n" + unchanged},
	} {
		e := test.err
		e.Method, e.URL = "PATCH", url
		r := New()
		apply := func() string {
			return r.Apply(t.Context(), OneStream, updates, session.After{Findings: []session.Finding{operation(&e, *factsAfter(&e))}}, "")[0].Detail()
		}
		streamstest.WantText(t, apply(), e.Message, filledHint(&e, attempted{}))
		for range 2 {
			if got, want := apply(), `The processors of stream "cam-1" `+test.want; got != want {
				t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
			}
		}
	}
}

// What an earlier operation of the run has done to the stream stands in a short error, too.
func TestShortErrorAfterLeave(t *testing.T) {
	t.Parallel()
	r := New()
	for range 2 {
		f := operation(failed(streams.NotChanged, nil), claims.Facts{Detached: true, Reported: &streams.Stream{}})
		detail := r.Apply(t.Context(), OneStream, updates, session.After{Findings: []session.Finding{f}}, "")[0].Detail()
		streamstest.WantText(t, detail, "The stream's processors were detached before, in this run.", "\nThe service reports that the stream now has [].")
	}
}

// The warning of a destroy is short, because Terraform merges none.
func TestWarningOfDestroy(t *testing.T) {
	t.Parallel()
	gone := failed(streams.NotChanged, nil)
	gone.Status, gone.Message, gone.Form = 404, "there is no such stream", masking.FormDocumented
	f := session.Finding{Stream: id, Warning: claims.NotFoundOnDestroy, Err: gone, Facts: &claims.Facts{}}
	want := `Stream "cam-1" could not be found.
PATCH https://host → 404 Not Found
The service said: there is no such stream
If it exists at another address, it keeps its processors: check base_url.
The stream was not changed.`
	if got := applied(OneStream, f)[0]; got != want {
		t.Error(got)
	}
}

// What a short error cuts is in the log.
func TestLogOfShortErrors(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]int{"busy": 0, strings.Repeat("busy ", 70): 1} {
		var logged bytes.Buffer
		e := failed(streams.NotChanged, nil)
		e.Status, e.Form, e.Message = 503, masking.FormDocumented, message
		r := New()
		for range 2 {
			after := session.After{Findings: []session.Finding{operation(e, claims.Facts{})}}
			r.Apply(tflogtest.RootLogger(t.Context(), &logged), OneStream, updates, after, "")
		}
		if got := strings.Count(logged.String(), "stream failed"); got != want || want > 0 && !strings.Contains(logged.String(), message) {
			t.Errorf("%q: %d lines, want %d: %s", message, got, want, &logged)
		}
	}
}
