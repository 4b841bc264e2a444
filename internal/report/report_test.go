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
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const id = "cam-1"

var (
	first    = streams.NewProcessorSet("p1")
	reported = &streams.Stream{ProcessorIDs: streams.NewProcessorSet("p1", "p2")}
	updates  = session.Change{Kind: session.Update, Want: session.Sets{id: &first}}
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
	for _, kind := range []session.Kind{session.Create, session.Update, session.Destroy} {
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
		{session.Update, false, 0, []string{`state is that of deployment "https://old"`, `sends the sets to "https://new"`, `set deployment = "https://old"`}},
		{session.Destroy, true, 0, []string{`Streams at "https://old" keep their processors.`}},
		{session.Destroy, false, 0, nil},
		{session.Destroy, true, session.NotDetachable, []string{
			`The resource with stream "cam-1" cannot detach its processors.`, `configured for deployment "https://new"`, "configure the former deployment",
			"without the destroy", `on_destroy = "keep"`, "removed block with destroy = false", "untaint", "Nothing was sent",
			"\n\nIf the resource is the old object of a replacement that did not end, use terraform state rm, and apply.",
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
	diags := New().Apply(context.Background(), Group, session.Change{Kind: session.Update, Elsewhere: true}, session.After{Findings: findings}, now)
	diags = append(diags, New().Plan(context.Background(), OneStream, updates, session.Planned{Refusal: session.NeedsReads}, now)...)
	streamstest.WantText(t, fmt.Sprint(diags), "The state is still that of the former deployment.", "on_create", "Streams Cannot Be Checked", "set detect_drift = true")
}

// The first error with a cause is whole. The others have at most four lines of 78 characters, also with long texts from outside: what
// failed, the status, a part of the message, what to check, and what is now true. The warning of a destroy is short, too.
func TestShortDetails(t *testing.T) {
	t.Parallel()
	const id = "camera-0042"
	lines := func(detail string) (n int) {
		for paragraph := range strings.Lines(detail) { // TestAccFleetOutput counts those of a CLI
			room := 0
			for word := range strings.FieldsSeq(paragraph) {
				if room -= utf8.RuneCountInString(word) + 1; room < 0 {
					n, room = n+1, 78-utf8.RuneCountInString(word)
				}
			}
		}
		return n
	}
	const documented = requests.FormDocumented
	for name, test := range map[string]struct {
		kind    streams.Kind
		outcome streams.Outcome
		result  requests.Result
	}{
		"credentials": {streams.KindAuthentication, streams.NotChanged, requests.Result{
			Status: 401, Form: documented, Credentials: "a bearer token from STREAM_TOKEN",
			Reason: "the service has rejected the same credentials for other streams",
		}},
		"no credentials": {streams.KindAuthentication, streams.NotChanged, requests.Result{
			Status: 401, Form: documented, Credentials: requests.NoCredentials,
		}},
		"a proxy": {streams.KindAuthentication, streams.NotChanged, requests.Result{Status: 401}},
		"token request": {streams.KindAuthentication, streams.NotChanged, requests.Result{
			Status: 401, TokenRequest: true,
			Credentials: `the client_secret of the oauth2 client "terraform" from STREAM_OAUTH2_CLIENT_SECRET`,
		}},
		"400": {streams.KindBadRequest, streams.NotChanged, requests.Result{Status: 400, Attempts: 1, Form: documented}},
		"503": {streams.KindGeneric, streams.Unknown, requests.Result{Status: 503, Attempts: 1}},
		"with an id": {streams.KindUnauthorized, streams.NotChanged, requests.Result{
			Status: 403, Attempts: 1, Form: documented, RequestID: "4bf92f3577b34da6a3ce929d0e0e4736",
		}},
		"no stream": {streams.KindUnexpected, streams.Unknown, requests.Result{
			Status: 200, Attempts: 1, Reason: "the response is not a stream",
		}},
		"no connection": {streams.KindConnection, streams.NotChanged, requests.Result{
			Attempts: 1, Err: errors.New("refused"),
			Reason: "the connection failed: dial tcp: lookup streams.staging.example.com on 127.0.0.53:53: no such host",
		}},
		"no response": {streams.KindTimeout, streams.Unknown, requests.Result{
			Attempts: 1, Err: errors.New("none"), Reason: "the service did not respond within 6s (shortened from 30s after other failures)",
		}},
	} {
		e := streams.Error{Kind: test.kind, Outcome: test.outcome, Result: test.result}
		e.Method, e.URL = "PATCH", "https://streams.example.com/v2/streams/"+id
		if e.Status != 0 {
			e.Message = strings.TrimSpace(strings.Repeat("a long message ", 30))
		}
		c, f := session.Change{Kind: session.Create, Want: session.Sets{id: &first}}, operation(&e, *factsAfter(&e))
		f.Stream = id
		r := New()
		apply := func() string {
			return r.Apply(context.Background(), OneStream, c, session.After{Findings: []session.Finding{f}}, "")[0].Detail()
		}
		whole, short := apply(), apply()
		check := messageOfError(id, &e).fill(hintFor(failure{&e, attempted{}}).check, 1)
		streamstest.WantText(t, whole, e.Message, filledHint(&e, attempted{}))
		streamstest.WantText(t, short, id, check)
		for detail, most := range map[string]int{whole: 30, short: 4} {
			if got := lines(detail); got > most || !strings.HasSuffix(detail, nowTrue(e.Outcome, nil)) {
				t.Errorf("%s has %d lines:\n%s", name, got, detail)
			}
		}
		switch {
		case e.RequestID != "":
			streamstest.WantText(t, short, "403 Forbidden (request id "+e.RequestID+"): a long message a long")
		case name == "no stream":
			streamstest.WantText(t, short, "200 OK: the response is not a stream.")
		case e.Status != 0:
			streamstest.WantText(t, short, " "+requests.StatusText(e.Status), ": a long message a long")
		default:
			streamstest.WantText(t, short, Sentence(e.Reason)[:30])
		}
		if again := apply(); again != short {
			t.Errorf("%s: %s", name, again)
		}
	}
	gone := failed(streams.NotChanged, nil)
	gone.URL, gone.Status, gone.Message = "https://streams.example.com/v2/streams/"+id, 404, "there is no such stream"
	gone.Form = requests.FormDocumented
	f := session.Finding{Stream: id, Warning: claims.NotFoundOnDestroy, Err: gone, Facts: &claims.Facts{}}
	detail := New().Apply(context.Background(), OneStream, updates, session.After{Findings: []session.Finding{f}}, "")[0].Detail()
	if streamstest.WantText(t, detail, "there is no such stream"); lines(detail) > 6 {
		t.Errorf("the warning of a destroy has too many lines:\n%s", detail)
	}
}

// What a short error cuts is in the log.
func TestLogOfShortErrors(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]int{"busy": 0, strings.Repeat("busy ", 60): 1} {
		var logged bytes.Buffer
		e := failed(streams.NotChanged, nil)
		e.Status, e.Form, e.Message = 503, requests.FormDocumented, message
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

// A short error says why nothing was tried, if there is room.
func TestShortReason(t *testing.T) {
	t.Parallel()
	e := streams.Error{Kind: streams.KindAuthentication, Result: requests.Result{
		Method: "PATCH", URL: "https://host", Status: 401, Form: requests.FormDocumented, Message: "token expired", Repeated: true,
		Credentials: "a bearer token from STREAM_TOKEN", Reason: "the service has rejected the same credentials for other streams",
	}}
	r := New()
	apply := func() string {
		return r.Apply(t.Context(), OneStream, updates, session.After{Findings: []session.Finding{operation(&e, claims.Facts{})}}, "")[0].Detail()
	}
	streamstest.WantText(t, apply(), "The credential may have expired")
	want := `The processors of stream "cam-1" could not be updated. 401 Unauthorized: token expired. ` +
		"The service has rejected the same credentials for other streams. Check the provider block and the variables STREAM_….\n" +
		"Nothing was sent by this operation. The stream was not changed."
	if got := apply(); got != want {
		t.Error(got)
	}
}
