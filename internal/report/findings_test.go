package report

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

func TestFindingsHaveTexts(t *testing.T) {
	t.Parallel()
	withoutStreams := []text{refusals[claims.Blocked], warnings[claims.LeavesGroup], warnings[claims.MayLeaveGroup]}
	all := slices.Concat(warnings[1:], slices.Collect(maps.Values(refusals)))
	for _, text := range all {
		m := message{cause: cause{text: text}, stream: id, own: "[]"}
		if text.summary == "" || !strings.Contains(text.head, "{streams}") && !slices.Contains(withoutStreams, text) {
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

// The text of a conflict does not depend on which set was planned first.
func TestConflictInEachOrder(t *testing.T) {
	t.Parallel()
	text := func(set, other streams.ProcessorSet) string {
		return applied(OneStream, session.Finding{
			Stream: id, Decision: claims.Decision{Refusal: claims.ConflictingSets, Set: set, Other: other}, Facts: new(claims.Facts),
		})[0]
	}
	if a, b := text(streams.ProcessorSet{}, first), text(first, streams.ProcessorSet{}); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}

// Every diagnostic about an operation ends with what is now true. All outcomes are here.
func TestNowTrue(t *testing.T) {
	t.Parallel()
	const (
		unchanged, here, nothing = notChanged, notChangedHere, nothingSent

		nowBoth = `The service reports that the stream now has ["p1", "p2"].`
	)
	changed, mayHave := nowTrue(streams.Changed, nil), nowTrue(streams.Unknown, nil)
	one := func(f session.Finding) string { return applied(OneStream, f)[0] }
	refusal := func(r claims.Refusal, facts claims.Facts) session.Finding {
		return session.Finding{Stream: id, Decision: claims.Decision{Refusal: r}, Facts: &facts}
	}
	plan := func(r claims.Refusal) string {
		return New("").Plan(OneStream, updates,
			session.Planned{Findings: []session.Finding{{Stream: id, Decision: claims.Decision{Refusal: r}}}})[0].Detail()
	}
	left := func(kind claims.Warning, err error, facts claims.Facts) string {
		return one(session.Finding{Stream: id, Warning: kind, Err: err, Facts: &facts})
	}
	streamstest.WantText(t, one(operation(failed(streams.NotChanged, nil), claims.Facts{Remainder: first})),
		`an object that had set ["p1"] left the stream and sent nothing`)
	detached := claims.Facts{Detached: true, Reported: &streams.Stream{}}
	streamstest.WantText(t, one(operation(failed(streams.NotChanged, nil), detached)),
		"The stream's processors were detached before, in this run.",
		"The service reports that the stream now has [].")
	unsent, wait := claims.Facts{Reported: reported}, context.Canceled
	for name, test := range map[string]struct{ detail, want string }{
		"refused":               {one(operation(failed(streams.NotChanged, nil), claims.Facts{})), unchanged},
		"unknown":               {one(operation(failed(streams.Unknown, nil), claims.Facts{Unknown: true})), mayHave},
		"merged":                {one(operation(failed(streams.Changed, reported), claims.Facts{Reported: reported})), nowBoth},
		"refused, after others": {one(operation(failed(streams.NotChanged, nil), unsent)), nowBoth},
		"and in doubt":          {one(operation(failed(streams.NotChanged, nil), claims.Facts{Reported: reported, Unknown: true})), mayHave},
		"left by another one":   {one(operation(failed(streams.NotChanged, nil), claims.Facts{Remainder: first})), unchanged},
		"read":                  {one(session.Finding{Stream: id, Err: failed(streams.Unknown, nil)}), notChangedByRead},
		"wait":                  {one(operation(wait, claims.Facts{})), unchanged},
		"wait for another one":  {one(operation(errors.Join(session.ErrWaitedForOther, context.Canceled), claims.Facts{Unknown: true})), mayHave},
		"interrupted":           {one(operation(wait, unsent)), nowBoth},
		"not configured":        {CannotRead(session.NotConfigured, Plan)[0].Detail(), nothing + here},
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
