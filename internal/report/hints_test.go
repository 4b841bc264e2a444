package report

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// golden has what a person reads. The texts are reviewed there, and not asserted here.
const golden = "../testing/texts/testdata/texts.txt"

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// Each row of the table is the hint of a failure in the golden file, so none is hidden by those above it. Its first thing to check refers
// to nothing before it, and does not turn reads off: many short errors would say so, although one stream may be missing.
func TestHintsAreReached(t *testing.T) {
	t.Parallel()
	texts, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range hints {
		if regexp.MustCompile(`detect_drift|that name|without one`).MatchString(placeholder.ReplaceAllString(h.check, "")) || h.check == "" {
			t.Errorf("row %d checks first: %s", i, h.check)
		}
		for _, part := range placeholder.Split(join(" ", h.why, h.check), -1) {
			if !strings.Contains(string(texts), strings.TrimSpace(part)) {
				t.Errorf("no failure has the hint of row %d: %s", i, h.whole())
			}
		}
	}
}

// A time limit is not blamed on the service alone, and a credential that works is not called the wrong one. What says so is the same for
// all streams of a call.
func TestFactsOfACall(t *testing.T) {
	t.Parallel()
	hint := func(e streams.Error, t task) string { return hintFor(failure{&e, t}).whole() }
	forbidden := update(403, streams.KindUnauthorized)
	texts := map[string]bool{}
	for _, accepted := range []requests.Acceptance{requests.NotAccepted, requests.AcceptedReads, requests.AcceptedUpdates} {
		texts[hint(forbidden, task{accepted: accepted})] = true
	}
	if len(texts) != 3 {
		t.Errorf("%d hints about what the service accepts: %v", len(texts), texts)
	}
	if reads := hint(read(forbidden), task{accepted: requests.AcceptedReads}); reads != hint(read(forbidden),
		task{accepted: requests.AcceptedUpdates}) {
		t.Errorf("a read beside reads: %s", reads)
	}
	for _, test := range []struct {
		name string
		err  streams.Error
		says bool
	}{
		{"408", update(408, streams.KindTimeout), true}, {"503", update(503, generic), true}, {"504", update(504, streams.KindTimeout), true},
		{"500", update(500, generic), false}, {"429", update(429, bad), false}, {"a token request", token(update(503, generic)), false},
		{"a timeout", without(requests.ErrRequestTimeout), true}, {"no connection", without(os.ErrNotExist), false},
	} {
		alone, beside := hint(test.err, task{}), hint(test.err, task{others: true})
		if (alone != beside) != test.says {
			t.Errorf("%s: alone %q, beside others that succeed %q", test.name, alone, beside)
		}
	}

	var f failures
	f.add(2, service(403, "no", streams.NotChanged))
	works := standing(failure{task: task{accepted: requests.AcceptedUpdates}, Error: &forbidden})
	if detail := f.diagnostics()[0].Detail(); !strings.Contains(detail, works) { // others of the group succeed
		t.Error(detail)
	}
	accepted := service(403, "no", streams.NotChanged)
	accepted.Accepted = requests.AcceptedUpdates
	f.add(2, accepted)
	if diags := f.diagnostics(); len(diags) != 1 {
		t.Errorf("%d errors: %v", len(diags), diags)
	}
}

// The hint of a refused credential names the place that it came from, and no other one.
func TestPlaceOfACredential(t *testing.T) {
	t.Parallel()
	for _, e := range []streams.Error{
		update(401, streams.KindAuthentication), update(403, streams.KindUnauthorized), token(update(401, streams.KindAuthentication)),
	} {
		e.Place = "{STREAM_PLACE}" // what comes from outside is not filled in
		var f failures
		f.add(1, e)
		detail := f.diagnostics()[0].Detail()
		if !strings.Contains(detail, "Check {STREAM_PLACE}") || strings.Contains(strings.ReplaceAll(detail, "STREAM_PLACE", ""), "STREAM_") {
			t.Error(detail)
		}
	}
}
