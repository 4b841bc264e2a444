package session

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

const id = "cam-1"

var (
	a = streams.NewProcessorSet("a")
	b = streams.NewProcessorSet("b")
)

func newSession(t *testing.T, config requests.Config) *Session {
	t.Helper()
	config.Retry = requests.Retry{MaxAttempts: 1, MinBackoff: 1, MaxBackoff: 1}
	client, err := streams.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return New(client, "here", false)
}

func newReader(t *testing.T, url string) *Session {
	t.Helper()
	s := newSession(t, requests.Config{BaseURL: url})
	s.detectDrift = true
	return s
}

func creates(id string, set streams.ProcessorSet) Change {
	return Change{Kind: Create, Want: Sets{id: &set}}
}

func keeps(set streams.ProcessorSet) Change {
	return Change{Kind: Edit, Was: Entries{id: {Set: set}}, Deployment: "here", Want: Sets{id: &set}}
}

func destroys(marks Marks) Change {
	return Change{Kind: Destroy, Was: Entries{id: {Set: a}}, Deployment: "here", Detach: true, Marks: marks}
}

// If the destroy of an object that was replaced fails, the next apply detaches its processors. It does not if an earlier apply had
// left the object behind: another resource may have the stream.
func TestFailedDestroyOfAnOldObject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ plannedHere, replaced, detaches bool }{
		{false, false, false}, {false, true, false}, {true, false, false}, {true, true, true},
	} {
		service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(id, "cam-2")...)
		s, old := newSession(t, requests.Config{BaseURL: url}), destroys(Marks{})
		s.Plan(t.Context(), keeps(b)) // the destroy sends this set, whatever it knows of the object
		if test.replaced {
			s.Apply(t.Context(), creates("cam-2", a))
		}
		if test.plannedHere {
			old.Marks = s.Plan(t.Context(), old).Marks
		}
		service.Inject(streamstest.Fault{Status: http.StatusForbidden})
		failed := s.Apply(t.Context(), old)
		next := newSession(t, requests.Config{BaseURL: url})
		old = destroys(next.Plan(t.Context(), destroys(failed.Marks)).Marks)
		service.ForgetRequests()
		if after := next.Apply(t.Context(), old); !failed.Failed() || after.Failed() || len(after.Findings) != 1 {
			t.Errorf("%+v: %+v, and then %+v", test, failed, after)
		}
		var want []string
		if test.detaches {
			want = []string{`PATCH /v2/streams/cam-1 {"processor_ids":[]}`}
		}
		service.WantRequests(t, want...)
	}
}

// The plan of a replacement foresees that its destroy detaches if an update before it does. A tainted object has no such update.
// Nobody knows its marks either: what is in the state is in doubt, also after a failed destroy. With ignore_changes, the first plan keeps
// the stream, and only the second one leaves it.
func TestDestroyWithoutAPlan(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ tainted, detaches, other, kept, foreseen, stays bool }{
		{detaches: true, foreseen: true}, {}, {tainted: true}, {other: true, foreseen: true},
		{kept: true, detaches: true, foreseen: true}, {kept: true}, {kept: true, other: true, foreseen: true},
		{tainted: true, stays: true, foreseen: true}, {kept: true, stays: true, foreseen: true},
	} {
		moves := Change{Kind: Edit, Was: Entries{id: {Set: a}}, Deployment: "here", Want: Sets{"cam-2": &a}}
		if test.kept {
			moves.Want = Sets{id: &a}
		}
		s := New(nil, "here", false)
		if test.other {
			s.Plan(t.Context(), keeps(a))
		}
		create := creates("cam-2", a)
		if test.stays {
			create = creates(id, a)
		}
		if moves.Detach = test.detaches; !test.tainted {
			create.Marks = s.Plan(t.Context(), moves).Marks
		}
		planned := s.Plan(t.Context(), create).Marks
		interrupted, interrupt := context.WithCancel(t.Context())
		interrupt()
		old := destroys(planned)
		old.Was = planned.Entries(Sets{id: &a})
		kept := newSession(t, requests.Config{BaseURL: "http://127.0.0.1:1"}).Apply(interrupted, old).Kept[id]
		if l := old.leave(id); l.Unforeseen == test.foreseen || kept == nil || (kept.Resend == claims.Unknown) != test.tainted {
			t.Errorf("%+v: the leave is %+v, and what a failed destroy keeps %+v", test, l, kept)
		}
	}
}

// The object of another deployment that is replaced leaves nothing here: another resource with the stream keeps its set.
func TestReplacementOfAnotherDeployment(t *testing.T) {
	t.Parallel()
	s, create := New(nil, "here", false), creates("cam-2", a)
	moves := Change{Kind: Edit, Was: Entries{id: {Set: a}}, Deployment: "there", Elsewhere: true, Want: create.Want}
	create.Marks = s.Plan(t.Context(), moves).Marks
	s.Plan(t.Context(), create)
	if p := s.Plan(t.Context(), keeps(b)); p.Sends {
		t.Errorf("%+v", p)
	}
}

// A destroy that was planned, or that an older CLI does not plan, is foreseen.
func TestForeseenDestroy(t *testing.T) {
	t.Parallel()
	for _, marks := range []Marks{{}, New(nil, "here", false).Plan(t.Context(), destroys(Marks{})).Marks} {
		if destroys(marks).leave(id).Unforeseen {
			t.Errorf("%+v", marks)
		}
	}
}

// A failed operation blocks the next ones on its stream if the state of its resource relies on what the stream has: also on what the
// service has reported of a stream that a group adds. A create saves nothing.
func TestWhatBlocksAStream(t *testing.T) {
	t.Parallel()
	adds := Change{Kind: Edit, Group: true, Was: Entries{}, Deployment: "here", Want: Sets{id: &a}}
	refused, unclear := streamstest.Fault{Status: http.StatusForbidden}, streamstest.Fault{Status: http.StatusInternalServerError, Apply: true}
	merges := streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ProcessorIDs = append(s.ProcessorIDs, "p9") }}
	for name, test := range map[string]struct {
		change Change
		fault  streamstest.Fault
		blocks bool
	}{
		"a stream that a group adds, reported":       {adds, merges, true},
		"a stream that a group adds, without report": {adds, unclear, false},
		"a stream that a group adds, refused":        {adds, refused, false},
		"a create, reported":                         {creates(id, a), merges, false},
		"a create of a group, reported":              {Change{Kind: Create, Group: true, Want: Sets{id: &a}}, merges, false},
		"an update, refused": {Change{Kind: Edit, Was: Entries{id: {Set: b}}, Deployment: "here", Want: Sets{id: &a}},
			refused, true},
		"an update at another deployment, reported": {Change{Kind: Edit, Was: Entries{id: {Set: b}}, Deployment: "there", Elsewhere: true,
			Want: Sets{id: &a}}, merges, false},
	} {
		service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(id)...)
		s := newSession(t, requests.Config{BaseURL: url})
		service.Inject(test.fault)
		failed := s.Apply(t.Context(), test.change)
		if next := s.Apply(t.Context(), creates(id, a)); !failed.Failed() || next.Failed() != test.blocks {
			t.Errorf("%s: %+v, and then %+v", name, failed, next)
		}
	}
}

// The first calls that leave a stream wait 50 ms for the claims of others. A resource whose stream is shared waits for the plan of the
// other one only if the refresh has read both.
func TestWaits(t *testing.T) {
	t.Parallel()
	shared := keeps(a)
	shared.Marks = Marks{Streams: map[string]Mark{id: {Shared: true}}}
	for _, test := range []struct {
		change Change
		reads  int
		want   time.Duration
	}{
		{destroys(Marks{}), 0, 50 * time.Millisecond}, {keeps(a), 0, 0}, {creates(id, a), 0, 0},
		{shared, 0, 0}, {shared, 1, 0}, {shared, 2, 50 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, start := New(nil, "here", false), time.Now()
			for range test.reads {
				s.Refresh(t.Context(), Entries{id: {Set: a}}, Marks{})
			}
			s.stream(id).primaryPlanned = make(chan struct{}) // the other resource is not planned
			if s.Plan(t.Context(), test.change); time.Since(start) != test.want {
				t.Errorf("%+v after %d reads: %s", test.change, test.reads, time.Since(start))
			}
		})
	}
}

// A resource that takes a stream over is checked, also if the stream was imported without a read, or at another deployment.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	const accepts, refuses = false, true
	wants, read, unread := Sets{id: &a}, Entries{id: {Set: a}}, Entries{id: {Resend: claims.Unread}}
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Stream{ID: id, ProcessorIDs: []string{"b"}})
	for name, test := range map[string]struct {
		change    Change
		takesOver bool
		failed    claims.Warning // of a failed read, if others may be detached
	}{
		"a create":           {Change{Kind: Create, Want: wants}, true, 0},
		"an added stream":    {Change{Kind: Edit, Group: true, Want: wants}, true, 0},
		"an unread import":   {Change{Kind: Edit, Was: unread, Want: wants}, true, 0},
		"another deployment": {Change{Kind: Edit, Was: read, Elsewhere: true, Want: wants}, true, claims.MayBeDetached},
		"an update":          {Change{Kind: Edit, Was: read, Want: Sets{id: &b}}, false, 0},
		"an unknown map":     {Change{Kind: Edit, Group: true, Was: read}, false, 0},
	} {
		plan := func(s *Session, refuses bool) Planned {
			test.change.Refuses = refuses
			return s.Plan(t.Context(), test.change)
		}
		if p := plan(newSession(t, requests.Config{BaseURL: url}), refuses); (p.Refusal == NeedsReads) != test.takesOver {
			t.Errorf("%s without reads: %+v", name, p)
		}
		for refuses, want := range map[bool]Finding{
			refuses: {Decision: claims.Decision{Refusal: claims.DetachesOthers}}, accepts: {Warning: claims.WillBeDetached},
		} {
			found := plan(newReader(t, url), refuses).Findings
			if !test.takesOver && len(found) > 0 || test.takesOver &&
				(found[0].Decision.Refusal != want.Decision.Refusal || found[0].Warning != want.Warning || found[0].Shown != `["b"]`) {
				t.Errorf("%s, refuses %t: %+v", name, refuses, found)
			}
		}
		service.InjectFunc(func(streamstest.Request) *streamstest.Fault { return &streamstest.Fault{Status: http.StatusForbidden} })
		if found := plan(newReader(t, url), accepts).Findings; test.takesOver && (found[0].Warning != test.failed || found[0].Err == nil) {
			t.Errorf("%s, a failed read: %+v", name, found)
		}
		if found := plan(newReader(t, url), refuses).Findings; test.takesOver && !found[0].IsError() {
			t.Errorf("%s, a failed read does not fail a plan that refuses: %+v", name, found)
		}
		service.InjectFunc(nil)
	}
	late := Change{Kind: Create, Refuses: true}
	if p := newSession(t, requests.Config{BaseURL: url}).Plan(t.Context(), late); p.Refusal != NeedsReads {
		t.Errorf("a create whose stream is known after apply: %+v", p)
	}
}

// A refresh marks each stream that it has read before, and keeps the mark of an old object, with and without reads.
func TestMarksOfARefresh(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Stream{ID: id, ProcessorIDs: []string{"a"}})
	for name, s := range map[string]*Session{"without reads": newSession(t, requests.Config{BaseURL: url}), "with reads": newReader(t, url)} {
		for _, shared := range []bool{false, true} {
			after := s.Refresh(t.Context(), Entries{id: {Set: a}}, Marks{All: MarkOfAll{Failed: true}})
			if !after.Marks.All.Failed || after.Marks.Of(id).Shared != shared {
				t.Errorf("%s: %+v, shared %t", name, after.Marks, shared)
			}
		}
	}
}

// A refresh keeps what reads have proven at an address, also if it finds nothing. They prove nothing at another address of the
// deployment: its gateway may respond to every path in the form of the service.
func TestWhatReadsProve(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{ServeGet: true})
	stays := Entries{id: {Set: a}}
	for _, test := range []struct {
		base, readAt string
		was          Entries
		gone         bool
	}{
		{url, url, stays, true},
		{url + "/v2/", url, stays, true},
		{url, url, Entries{}, false},
		{url + "/wrong", url, stays, false},
		{url, url + "/wrong", stays, false},
		{url, "here", stays, false},
		{url, "", stays, false},
	} {
		s := newReader(t, test.base)
		after := s.Refresh(t.Context(), test.was, Marks{All: MarkOfAll{ReadAt: test.readAt}})
		gone := len(after.Findings) > 0 && after.Findings[0].Warning == claims.Gone
		if gone != test.gone || after.Marks.All.ReadAt != test.readAt {
			t.Errorf("%+v: %+v", test, after)
		}
	}
}

// After an interrupt, a resource still leaves a stream that another one has set: nothing is to be sent.
func TestLeaveAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(id)...)
	s := newSession(t, requests.Config{BaseURL: url})
	s.Apply(t.Context(), creates(id, b))
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	if after := s.Apply(interrupted, destroys(Marks{})); after.Failed() || after.Done != 1 {
		t.Errorf("%+v", after)
	}
	service.WantAttached(t, id, "b")
}

// If all streams fail at another deployment, the state stays that of the former one. A stream that may have been changed gets a
// mark: two names may stand for one deployment.
func TestFailureAtAnotherDeployment(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(id)...)
	for status, want := range map[int]claims.Resend{http.StatusForbidden: claims.Settled, http.StatusInternalServerError: claims.Unknown} {
		service.Inject(streamstest.Fault{Status: status})
		former := Entries{id: {Set: a}}
		change := Change{Kind: Edit, Was: former, Elsewhere: true, Want: Sets{id: &b}}
		after := newSession(t, requests.Config{BaseURL: url}).Apply(t.Context(), change)
		if got := after.Marks.Streams[id].Resend; !after.KeepState || after.Kept[id] != former[id] || got != want {
			t.Errorf("%d: %+v", status, after)
		}
	}
}

// Operations on one stream never overlap.
func TestOperationsTakeTurns(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{Latency: time.Millisecond}, streamstest.Streams(id, "cam-2")...)
	s := newSession(t, requests.Config{BaseURL: url})
	var all sync.WaitGroup
	for range 10 {
		for _, c := range []Change{creates(id, a), {Kind: Create, Group: true, Want: Sets{id: &a, "cam-2": &a}}} {
			all.Go(func() { s.Apply(t.Context(), c) })
		}
	}
	all.Wait()
	last, requests := map[string]streamstest.Request{}, service.Requests()
	for _, r := range requests {
		if r.Start.Before(last[r.StreamID].End) {
			t.Errorf("two operations on stream %q overlap", r.StreamID)
		}
		last[r.StreamID] = r
	}
	if len(requests) != 30 {
		t.Errorf("%d requests, want 30", len(requests))
	}
}

// A list behind count loses its first stream: each resource moves to the next stream. All plans claim their streams before they
// wait, and wait before they plan how they leave one. So whichever comes first, the apply of each destroy knows the next resource.
func TestShiftedList(t *testing.T) {
	t.Parallel()
	for _, first := range []int{0, 1, maxWaiting - 1} {
		synctest.Test(t, func(t *testing.T) {
			s, planned := New(nil, "here", false), make([]Planned, maxWaiting)
			stream := func(i int) string { return fmt.Sprint("cam-", i) }
			var all sync.WaitGroup
			for n := range planned {
				i := (first + n) % len(planned)
				moves := Change{Kind: Edit, Was: Entries{stream(i): {Set: a}}, Deployment: "here", Want: Sets{stream(i + 1): &a}, Detach: true}
				all.Go(func() { planned[i] = s.Plan(t.Context(), moves) })
				synctest.Wait()
			}
			all.Wait()
			for i, p := range planned {
				if claimed := p.Marks.Streams[stream(i)].Claim.Kind != claims.Nobody; claimed != (i > 0) {
					t.Errorf("the first plan is %d: that of %s knows of a claim: %t", first, stream(i), claimed)
				}
			}
		})
	}
}

// Two resources with one stream and one set stay: the one that was read last waits for the plan of the other, and sends nothing.
// It does not wait for long: the other one may be an old object, and then its plan does not claim the stream.
func TestSharedStream(t *testing.T) {
	t.Parallel()
	for other, change := range map[string]Change{"stays": keeps(a), "leaves": destroys(Marks{}), "is not planned": {}} {
		synctest.Test(t, func(t *testing.T) {
			s, last, done := New(nil, "here", false), keeps(a), make(chan Planned, 1)
			s.Refresh(t.Context(), Entries{id: {Set: a}}, Marks{})
			last.Marks = s.Refresh(t.Context(), Entries{id: {Set: a}}, Marks{}).Marks
			go func() { done <- s.Plan(t.Context(), last) }()
			synctest.Wait()
			if change.Was != nil {
				s.Plan(t.Context(), change)
			}
			if p := <-done; p.Sends != (other != "stays") {
				t.Errorf("the other resource %s: %+v", other, p)
			}
		})
	}
}

// The destroy of a replacement gets the marks of its create: if both have the stream, it sends nothing.
func TestReplacementOnOneStream(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(id)...)
	planned := New(nil, "here", false).Plan(t.Context(), creates(id, b)).Marks
	if after := newSession(t, requests.Config{BaseURL: url}).Apply(t.Context(), destroys(planned)); after.Failed() {
		t.Errorf("%+v", after)
	}
	service.WantRequests(t)
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
		s, done := newSession(t, requests.Config{BaseURL: "http://127.0.0.1", DialContext: dial}), make(chan After)
		go func() { done <- s.Apply(t.Context(), destroys(Marks{})) }()
		synctest.Wait()
		s.Apply(t.Context(), creates(id, b))
		if left := <-done; left.Failed() {
			t.Errorf("%+v", left)
		}
		service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["b"]}`)
	})
}
