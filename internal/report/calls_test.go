package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// A session warns once that streams change hands: the number of calls that know it depends on the order of the plans.
func TestFirstHandOver(t *testing.T) {
	t.Parallel()
	r, shown := New(""), 0
	for _, of := range []Subject{Group, OneStream} {
		p := session.Planned{Findings: []session.Finding{
			{Stream: "cam-1", Warning: claims.StreamChangesHands}, {Stream: "cam-2", Warning: claims.StreamChangesHands},
		}}
		for _, d := range r.Plan(t.Context(), of, updates, p) {
			streamstest.WantText(t, d.Summary()+": "+d.Detail(), `Stream Changes Hands: One resource of this plan leaves stream "cam-1"`, "moved", `on_destroy = "keep"`, "triggers")
			shown++
		}
	}
	if shown != 1 {
		t.Errorf("%d warnings", shown)
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
	ofOthers := unsent
	ofOthers.SentBefore = true
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
		"sent before":               {OneStream, &ofOthers, streams.ProcessorSet{}, 0, []string{" → no valid response\n"}, []string{nothingSaved}},
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
		detail := New("").Apply(t.Context(), test.of, c, after)[0].Detail()
		streamstest.WantText(t, detail, test.want...)
		if slices.ContainsFunc(test.not, func(text string) bool { return strings.Contains(detail, text) }) || strings.Count(detail, nothingSaved) > 1 {
			t.Errorf("%s: says too much: %s", name, detail)
		}
	}
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
		diags := New(now).Plan(context.Background(), OneStream, c, session.Planned{Refusal: test.refusal})
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
	some := New(now).Apply(context.Background(), Group, elsewhere, session.After{Findings: findings, Updated: 1})
	streamstest.WantText(t, fmt.Sprint(some), "1 of 2 changes succeeded. The state has what succeeded.")
	diags := New(now).Apply(context.Background(), Group, elsewhere, session.After{Findings: findings})
	diags = append(diags, New(now).Plan(context.Background(), OneStream, updates, session.Planned{Refusal: session.NeedsReads})...)
	streamstest.WantText(t, fmt.Sprint(diags), "The state is still that of the former deployment.", "on_create", "Streams Cannot Be Checked", "set detect_drift = true")
}
