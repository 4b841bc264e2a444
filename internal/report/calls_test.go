package report

import (
	"context"
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
	for _, of := range []Subject{SeveralStreams, OneStream} {
		p := session.Planned{Findings: []session.Finding{
			{Stream: "cam-1", Warning: claims.StreamChangesHands}, {Stream: "cam-2", Warning: claims.StreamChangesHands},
		}}
		shown += len(r.Plan(of, updates, p))
	}
	if shown != 1 {
		t.Errorf("%d warnings", shown)
	}
}

// A failed create says that what it attached may stay attached: of one stream if that may have been changed, and of a group once.
func TestFailedCreates(t *testing.T) {
	t.Parallel()
	sent := failed(streams.NotChanged, nil)
	for name, test := range map[string]struct {
		of   Subject
		err  *streams.Error
		left streams.ProcessorSet
		set  int
		says bool
	}{
		"rejected":                {OneStream, sent, streams.ProcessorSet{}, 0, false},
		"unknown":                 {OneStream, failed(streams.Unknown, nil), streams.ProcessorSet{}, 0, true},
		"rejected, in doubt":      {OneStream, sent, streams.ProcessorSet{}, 0, true},
		"rejected, and a leave":   {OneStream, sent, first, 0, true},
		"group, rejected":         {SeveralStreams, sent, streams.ProcessorSet{}, 0, true},
		"group, unknown":          {SeveralStreams, failed(streams.Unknown, nil), streams.ProcessorSet{}, 0, true},
		"group, another succeeds": {SeveralStreams, sent, streams.ProcessorSet{}, 1, true},
	} {
		c := session.Change{Kind: session.Create, Want: session.Sets{id: &first}}
		facts := claims.Facts{Remainder: test.left, Unknown: test.err.Outcome == streams.Unknown || strings.HasSuffix(name, "in doubt")}
		after := session.After{Done: test.set, Findings: []session.Finding{operation(test.err, facts)}}
		detail := New("").Apply(t.Context(), test.of, c, after)[0].Detail()
		if strings.Contains(detail, notSaved) != test.says || strings.Count(detail, notSaved) > 1 {
			t.Errorf("%s: %s", name, detail)
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
		n       int
		isError bool
	}{
		{session.Edit, false, 0, 1, false}, {session.Destroy, true, 0, 1, false}, {session.Destroy, false, 0, 0, false},
		{session.Destroy, true, session.NotDetachable, 1, true},
	} {
		c := session.Change{Kind: test.kind, Detach: test.detach, Deployment: old, Was: session.Entries{id: {}}, Elsewhere: true}
		diags := New(now).Plan(OneStream, c, session.Planned{Refusal: test.refusal})
		if len(diags) != test.n || diags.HasError() != test.isError {
			t.Errorf("%+v: %v", test, diags)
			continue
		}
		for _, d := range diags {
			streamstest.WantText(t, d.Summary()+d.Detail(), deploymentChanged, old, now)
		}
	}
	findings := []session.Finding{operation(failed(streams.NotChanged, nil), claims.Facts{})}
	elsewhere := session.Change{Kind: session.Edit, Elsewhere: true}
	some := New(now).Apply(context.Background(), SeveralStreams, elsewhere, session.After{Findings: findings, Done: 1})
	none := New(now).Apply(context.Background(), SeveralStreams, elsewhere, session.After{Findings: findings})
	if some[0].Detail() == none[0].Detail() || strings.Contains(none[0].Detail(), "has what succeeded") {
		t.Errorf("%v\n%v", some, none)
	}
}
