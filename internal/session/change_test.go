package session

import (
	"slices"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
)

// Nobody knows the marks of a tainted object, also after its destroy was refused. A stream that several resources have keeps its mark.
func TestMarksThatLast(t *testing.T) {
	t.Parallel()
	found := Marks{map[string]Mark{id: {Shared: true}}, MarkOfAll{OfCreate: true}}
	tainted := Change{Kind: Destroy, Was: found.Entries(Sets{id: &a}), Marks: found}
	kept := tainted.lasting()
	if m := kept.Of(id); m.Resend != claims.Unknown || !m.Shared || kept.All.OfCreate {
		t.Errorf("the marks that last are %+v", kept)
	}
	s := New(nil, "", false)
	s.Refresh(t.Context(), tainted.Was, Marks{})
	if m := s.Refresh(t.Context(), tainted.Was, kept).Marks.Of(id); m.Resend != claims.Unknown || !m.Shared {
		t.Errorf("after a refresh, the mark is %+v", m)
	}
}

// What Terraform tells the apply of a destroy depends on the session that planned it, and on what happened before.
func TestLeaveKind(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		plannedHere, created, failedBefore bool
		want                               claims.LeaveKind
	}{
		{false, false, false, claims.Planned}, {false, true, true, claims.Planned},
		{true, false, false, claims.LeftBehind}, {true, true, false, claims.Superseded}, {true, false, true, claims.Superseded},
	} {
		s, c := New(nil, "", false), destroys(Marks{All: MarkOfAll{Failed: test.failedBefore}})
		s.created.Store(test.created)
		if got := s.leaveKind(c, test.plannedHere); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
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
