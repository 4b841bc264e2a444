package report

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

const id = "cam-1"

var (
	first    = streams.NewProcessorSet("p1")
	reported = &streams.Stream{ProcessorIDs: streams.NewProcessorSet("p1", "p2")}
	updates  = session.Change{Kind: session.Edit, Was: session.Entries{id: {}}, Want: session.Sets{id: &first}}
)

func failed(outcome streams.Outcome, s *streams.Stream) *streams.Error {
	sent := requests.Result{Method: "PATCH", URL: "https://host", Attempts: 1}
	return &streams.Error{Result: sent, Kind: streams.KindGeneric, Outcome: outcome, Stream: s}
}

// applied returns the details of the diagnostics of an apply.
func applied(of Subject, findings ...session.Finding) (details []string) {
	for _, d := range New("").Apply(context.Background(), of, updates, session.After{Findings: findings, Done: 3}) {
		details = append(details, d.Detail())
	}
	return details
}

func operation(err error, facts claims.Facts) session.Finding {
	return session.Finding{Stream: id, Err: err, Facts: &facts}
}

// Terraform merges warnings with equal summaries: those with nothing of their own have no id in the summary. Each names its stream.
func TestEqualWarnings(t *testing.T) {
	t.Parallel()
	for kind := claims.Warning(1); kind < claims.WarningCount; kind++ {
		r, summaries := New(""), map[string]bool{}
		for i := range shownWarnings + 2 {
			f := session.Finding{Stream: fmt.Sprint("cam-", i), Warning: kind, Shown: `["p1"]`, Facts: &claims.Facts{},
				Err: failed(streams.NotChanged, nil)}
			d := r.Reads(OneStream, 1, []session.Finding{f}, Refresh)[0]
			if kind != claims.MayLeaveGroup {
				streamstest.WantText(t, d.Detail(), fmt.Sprintf("%q", f.Stream))
			}
			summaries[d.Summary()] = true
		}
		if own := strings.Contains(warnings[kind].head, "{own}"); (len(summaries) == 1) == own {
			t.Errorf("finding %d has the summaries %v", kind, summaries)
		}
	}
}

// A session shows the first warnings of a kind that have sets of their own in full, also in a second plan. The others have one
// summary, and name the stream and the processors. A group has one warning, which names all.
func TestManyWarnings(t *testing.T) {
	t.Parallel()
	r, full := New(""), 0
	warn := func(of Subject, ids ...string) (summary, detail string) {
		var p session.Planned
		for _, id := range ids {
			p.Findings = append(p.Findings, session.Finding{Stream: id, Warning: claims.WillBeDetached, Shown: `["old"]`})
		}
		d := r.Plan(of, updates, p)[0]
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
	summary, detail := warn(SeveralStreams, "a", "b", "c")
	streamstest.WantText(t, summary+detail, "Processors Will Be Detached: more streams", `"a", "b", "c": ["old"]`)
	r = New("")
	summary, detail = warn(SeveralStreams, "a", "b", "c")
	streamstest.WantText(t, summary+detail, `Processors Will Be Detached: stream "a" and 2 more`,
		"3 streams have processors that are not in the planned sets, and the apply detaches them: see below.\n\"a\", \"b\", \"c\": "+
			"[\"old\"]\nTo keep")
}

// A diagnostic about one stream has the path of its attribute. For several streams, Terraform would print the whole map.
func TestPaths(t *testing.T) {
	t.Parallel()
	var f failures
	f.add(1, service(400, "no", streams.NotChanged))
	if d, located := f.diagnostics()[0].(diag.DiagnosticWithPath); located {
		t.Errorf("Terraform would print all of %s", d.Path())
	}
	beside := session.Planned{Findings: []session.Finding{
		{Stream: id, Warning: claims.WillBeDetached, Shown: `["p9"]`}, {Stream: id, Decision: claims.Decision{Refusal: claims.StreamIsKept}},
	}}
	get := read(service(400, "no", streams.NotChanged))
	for want, d := range map[string]diag.Diagnostic{
		"processor_ids": New("").Plan(OneStream, updates, beside)[0], // beside an error without a path
		"stream_id":     New("").Reads(OneStream, 1, []session.Finding{{Stream: id, Err: &get}}, DataSource)[0],
	} {
		if d, located := d.(diag.DiagnosticWithPath); !located || d.Path().String() != want {
			t.Errorf("want the path %s: %+v", want, d)
		}
	}
}
