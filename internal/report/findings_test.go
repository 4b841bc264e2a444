package report

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

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
		return New("").Plan(context.Background(), OneStream, updates, session.Planned{Findings: []session.Finding{{Stream: id, Decision: claims.Decision{Refusal: r}}}})[0].Detail()
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
