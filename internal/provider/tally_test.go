package provider

import (
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// A destroy that does not do what its plan says is a warning.
func TestLeft(t *testing.T) {
	t.Parallel()
	sends := func(facts claims.Facts, processors ...string) operation {
		decision := claims.Decision{Send: true, Set: streams.NewProcessorSet(processors...)}
		return operation{decision: decision, result: new(claims.Result), facts: facts}
	}
	none, otherFailed := claims.Facts{}, claims.Facts{Failed: true}
	detaches, keeps, settled := claims.Leave{Detach: true}, claims.Leave{}, claims.Leave{Detach: true, Kind: claims.LeftBehind}
	uncertain, kept := settled, settled // old objects, whose states have no processors
	uncertain.Resend, kept.Resend, kept.Detach = claims.Unknown, claims.Unknown, false
	for _, test := range []struct {
		leave      claims.Leave
		unforeseen bool
		operation  operation
		want       string
	}{
		{detaches, true, sends(none), unforeseenDetach.summary},
		{detaches, true, operation{}, ""},
		{keeps, true, sends(none), ""},
		{detaches, false, operation{facts: otherFailed}, staysAttached.summary},
		{detaches, false, operation{facts: claims.Facts{Failed: true, Reported: new(streams.Stream)}}, ""},
		{detaches, false, sends(otherFailed, "p1"), ""},
		{keeps, false, operation{facts: otherFailed}, ""},
		{uncertain, true, operation{}, leftAttached.summary},
		{uncertain, true, operation{facts: claims.Facts{Reported: new(streams.Stream)}}, ""},
		{uncertain, true, sends(none, "p1"), ""},
		{settled, true, operation{}, ""},
		{kept, true, operation{}, ""},
	} {
		counts, got := &tally{inFull: func(string, string) bool { return true }}, ""
		counts.left("cam-1", test.leave, test.operation, test.unforeseen)
		for _, d := range counts.diagnostics("") {
			got, _, _ = strings.Cut(d.Summary(), ":")
		}
		if got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
