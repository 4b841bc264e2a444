package session

import (
	"slices"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
)

// A stream that several resources have keeps the mark that a failed replacement gave all streams.
func TestSharedStreamKeepsItsMark(t *testing.T) {
	t.Parallel()
	s, was, found := New(nil, "", false), Entries{"cam-1": {}}, Marks{All: MarkOfAll{Resend: claims.Unknown}}
	s.Refresh(t.Context(), was, Marks{})
	if found = s.Refresh(t.Context(), was, found).Marks; !found.Of("cam-1").Shared || found.Of("cam-1").Resend != claims.Unknown {
		t.Errorf("the marks are %+v", found)
	}
	planned := Marks{map[string]Mark{"cam-1": {Shared: true}}, MarkOfAll{OfCreate: true, Resend: claims.Unknown}}
	if kept := planned.lasting(); kept.Streams["cam-1"].Resend != claims.Unknown || kept.All.OfCreate {
		t.Errorf("the marks that last are %+v", kept)
	}
}

// A destroy, or a move, is refused if it would detach processors at a deployment that is not that of the state, or may not be. A
// group that drops a stream detaches, too.
func TestMayNotDetach(t *testing.T) {
	s, former := New(nil, "here", false), Entries{id: {Set: a}}
	for want, changes := range map[bool][]Change{
		true: {
			{Kind: Destroy, Detach: true, Was: former, Deployment: "there", Elsewhere: true},
			{Kind: Edit, Detach: true, Was: former, Deployment: "there", Elsewhere: true},
			{Kind: Destroy, Detach: true, Was: former},
			{Kind: Destroy, leaving: claims.Superseded, Detach: true, Was: former},
			{Kind: Edit, Detach: true, Was: former},
			{Kind: Edit, Group: true, leaving: claims.Dropped, Detach: true, Was: former},
		},
		false: {
			{Kind: Destroy, Was: former, Deployment: "there", Elsewhere: true}, {Kind: Destroy, Was: former},
			{Kind: Destroy, Detach: true, Was: former, Deployment: "here"},
			{Kind: Destroy, leaving: claims.Superseded, Detach: true, Was: former, Deployment: "there", Elsewhere: true},
			{Kind: Edit, Detach: true, Was: former, Deployment: "there", Elsewhere: true, Want: Sets{id: &a}},
			{Kind: Edit, Group: true, Detach: true, Was: former, Deployment: "there", Elsewhere: true},
			{Kind: Edit, Group: true, leaving: claims.MayBeDropped, Detach: true, Was: former},
			{Kind: Edit, Detach: true, Was: former, Want: Sets{id: &a}},
		},
	} {
		if slices.ContainsFunc(changes, func(c Change) bool { return s.mayNotDetach(c) != want }) {
			t.Errorf("not %t: %+v", want, changes)
		}
	}
	if unknown := New(nil, "", false); unknown.mayNotDetach(Change{Kind: Destroy, Detach: true, Was: former}) {
		t.Error("a plan refuses to detach at a deployment that is known after apply")
	}
}
