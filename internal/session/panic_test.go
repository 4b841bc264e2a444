package session

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// A panic in the operation on one stream fails this operation, whose outcome is unknown. The other streams are changed, and the next
// operation on the stream goes on.
func TestPanicOfAnOperation(t *testing.T) {
	t.Parallel()
	bug := true
	observe := func(_ context.Context, a requests.Attempt) {
		if bug && strings.HasSuffix(a.URL, "/cam-1") {
			panic("a bug")
		}
	}
	for name, was := range map[string]Entries{"an update": {id: {Set: b}, "cam-2": {Set: b}}, "a destroy": {id: {Set: a}, "cam-2": {Set: a}}} {
		service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(id, "cam-2")...)
		s := newSession(t, requests.Config{BaseURL: url, Observe: observe})
		c := Change{Kind: Edit, Group: true, Was: was, Deployment: "here", Want: Sets{id: &a, "cam-2": &a}}
		if name == "a destroy" {
			c.Kind, c.Want, c.Detach = Destroy, nil, true
		}
		bug = true
		after := s.Apply(t.Context(), c)
		p, panicked := errors.AsType[*Panic](after.Findings[0].Err)
		if len(after.Findings) != 1 || !panicked || !strings.Contains(p.Stack, "TestPanicOfAnOperation") || !after.Findings[0].Facts.Unknown {
			t.Fatalf("%s: %+v", name, after)
		}
		if after.Kept[id].Resend != claims.Unknown || after.Marks.Streams[id].Resend != claims.Unknown {
			t.Errorf("%s: the state has %+v, and the mark is %+v", name, after.Kept[id], after.Marks)
		}
		bug = false
		if next := s.Apply(t.Context(), creates(id, a)).Findings; len(next) != 1 || next[0].Decision.Refusal != claims.Blocked {
			t.Errorf("%s: another resource may make the state untrue: %+v", name, next)
		}
		if _, failed := s.SetOnce(t.Context(), id, a); len(failed) > 0 {
			t.Errorf("%s: an action fails: %+v", name, failed)
		}
		service.WantAttached(t, id, "a")
	}
}

// A panic anywhere else ends the call, after all of its goroutines, in the goroutine of the call.
func TestPanicOfACall(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{})
	s, done := newSession(t, requests.Config{BaseURL: url}), make(chan string, 1)
	defer func() {
		p := Recovered(recover())
		if p.Cause != "a bug" || !strings.Contains(p.Stack, "TestPanicOfACall.func") || <-done != "cam-2" {
			t.Errorf("%+v", p)
		}
	}()
	forEach(s, []string{id, "cam-2"}, func(stream string) bool {
		if stream == id {
			panic("a bug")
		}
		done <- stream
		return true
	})
}
