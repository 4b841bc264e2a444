package session

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const id = "cam-1"

var (
	a = streams.NewProcessorSet("a")
	b = streams.NewProcessorSet("b")
)

func newSession(t *testing.T, config streams.Config) *Session {
	t.Helper()
	config.Retry = streams.Retry{MaxAttempts: 1, MinBackoff: 1, MaxBackoff: 1}
	client, err := streams.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return New(client, "here", false)
}

func creates(id string, set streams.ProcessorSet) Change { return Change{Kind: Create, Want: Sets{id: &set}} }

func keeps(set streams.ProcessorSet) Change {
	return Change{Kind: Update, Was: Entries{id: {Set: set}}, Want: Sets{id: &set}}
}

func destroys(marks Marks) Change {
	return Change{Kind: Destroy, Was: Entries{id: {Set: a}}, Detach: true, Marks: marks}
}

// If the destroy of an object that was replaced fails, the next apply detaches its processors. It does not if an earlier apply had
// left the object behind: another resource may have the stream.
func TestFailedDestroyOfAnOldObject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ plannedHere, replaced, detaches bool }{
		{false, false, false}, {false, true, false}, {true, false, false}, {true, true, true},
	} {
		service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(id, "cam-2")...)
		s, old := newSession(t, streams.Config{BaseURL: url}), destroys(Marks{})
		s.Plan(t.Context(), keeps(b)) // the destroy sends this set, whatever it knows of the object
		if test.replaced {
			s.Apply(t.Context(), creates("cam-2", a))
		}
		if test.plannedHere {
			old.Marks = s.Plan(t.Context(), old).Marks
		}
		service.Inject(streamstest.Fault{Status: http.StatusForbidden})
		failed := s.Apply(t.Context(), old)
		next := newSession(t, streams.Config{BaseURL: url})
		old = destroys(next.Plan(t.Context(), destroys(failed.Marks)).Marks)
		service.ForgetRequests()
		if after := next.Apply(t.Context(), old); !failed.Failed || after.Failed || len(after.Findings) != 1 {
			t.Errorf("%+v: %+v, and then %+v", test, failed, after)
		}
		var want []string
		if test.detaches {
			want = []string{`PATCH /v2/streams/cam-1 {"processor_ids":[]}`}
		}
		service.WantRequests(t, want...)
	}
}

// The plan of a destroy beside a resource that keeps the stream says what may happen to an object that was left behind, as soon as
// the session plans what makes that possible: a create.
func TestFindingsOfOldObjectsAreHeldBack(t *testing.T) {
	t.Parallel()
	s := New(nil, "here", false)
	for i, want := range []int{0, 0, 1, 0} {
		c := []Change{keeps(a), destroys(Marks{}), creates("cam-2", a), creates("cam-3", a)}[i]
		if found := s.Plan(t.Context(), c).Findings; len(found) != want || want > 0 && found[0].Kind != claims.MayBeLeftBehind {
			t.Errorf("plan %d: %+v, want %d findings", i, found, want)
		}
	}
}

// The plan of a replacement foresees that its destroy detaches if an update before it does. A tainted object has no such update.
// Nobody knows the marks of the old object, so the destroy sends the set that another resource relies on.
func TestDestroyWithoutAPlan(t *testing.T) {
	t.Parallel()
	moves := Change{Kind: Update, Was: Entries{id: {Set: a}}, Want: Sets{"cam-2": &a}, Leaving: claims.Replaced}
	for _, test := range []struct{ tainted, detaches, other, foreseen bool }{
		{detaches: true, foreseen: true}, {}, {tainted: true}, {other: true, foreseen: true},
	} {
		s := New(nil, "here", false)
		if test.other {
			s.Plan(t.Context(), keeps(a))
		}
		create := creates("cam-2", a)
		if moves.Detach = test.detaches; !test.tainted {
			create.Marks = s.Plan(t.Context(), moves).Marks
		}
		planned := s.Plan(t.Context(), create).Marks
		if l := destroys(planned).leave(id); l.Unforeseen == test.foreseen || planned.Entry(id, a).Resend != claims.Unknown && test.tainted {
			t.Errorf("%+v: the leave is %+v", test, l)
		}
	}
}

// A destroy waits a moment for the resources that claim its stream in the same apply, and then sends nothing.
func TestLeaveAwaitsFirstClaims(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		listener, service := streamstest.Listen(), streamstest.New(streamstest.Options{}, streamstest.Streams(id)...)
		server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: service}}
		server.Start()
		t.Cleanup(server.Close)
		dial := func(ctx context.Context, _, address string) (net.Conn, error) { return listener.DialContext(ctx) }
		s, done := newSession(t, streams.Config{BaseURL: "http://127.0.0.1", DialContext: dial}), make(chan Applied)
		go func() { done <- s.Apply(t.Context(), destroys(Marks{})) }()
		time.Sleep(claimDelay / 2)
		s.Apply(t.Context(), creates(id, b))
		if left := <-done; left.Failed {
			t.Errorf("%+v", left)
		}
		service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["b"]}`)
	})
}
