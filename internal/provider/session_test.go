package provider

import (
	"testing"
	"testing/synctest"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// The plans of an apply look like those of a plan. So a conflict waits until another operation begins and ends, and only
// without any operation it says that nothing has changed.
func TestConflictWaitsForTheOtherResource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		if known := newSession("", false).knownOfConflict(t.Context(), "cam"); known != (claims.Known{}) {
			t.Errorf("in a plan: %+v", known)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := newSession("", false)
		said := make(chan claims.Known)
		go func() { said <- s.knownOfConflict(t.Context(), "cam") }()
		synctest.Wait()
		turn := s.stream("cam").turn
		turn <- struct{}{}
		s.firstApply.Do(func() { close(s.applying) })
		synctest.Wait()
		reported := &streams.Stream{ProcessorIDs: streams.NewProcessorSet("p1")}
		rules(s, "cam", func(r *claims.Stream) any { r.EndSet(claims.Result{Reported: reported}, false); return nil })
		<-turn
		if known := <-said; known.Reported != reported || known.InDoubt {
			t.Errorf("in an apply: %+v", known)
		}
	})
}
