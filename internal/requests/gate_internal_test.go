package requests

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// What the attempts of deliveries make of the gate of a credential. Each step says who may send it then, and how many requests wait.
func TestGate(t *testing.T) {
	t.Parallel()
	const a, b, c = 0, 1, 2 // deliveries
	silence, rejected := failure(ErrRequestTimeout), response(401)
	type step struct {
		delivery int
		does     any // "enter", "end", or an attempt
		verdict  verdict
		waiting  int // deliveries
	}
	enter := func(delivery, waiting int) step { return step{delivery, "enter", untested, waiting} }
	for name, steps := range map[string][]step{
		"accepted": {enter(a, 0), enter(b, 0), enter(c, 1), {a, response(200), right, 0}, {b, rejected, right, 0},
			{b, "end", right, 0}, {c, rejected, right, 0}, {c, "end", right, 0}},
		"another final response": {enter(a, 0), enter(b, 0), enter(c, 1), {a, response(404), right, 0}},
		"silence": {enter(a, 0), enter(b, 0), enter(c, 1), {a, silence, unproven, 0}, {b, rejected, unproven, 0},
			{b, "end", unproven, 0}, {c, rejected, unproven, 0}, {c, "end", wrong, 0}},
		"silence, then accepted":  {enter(a, 0), {a, silence, unproven, 0}, {a, response(200), right, 0}},
		"silence after a success": {enter(a, 0), {a, response(200), right, 0}, {a, silence, right, 0}},
		"a failure": {enter(a, 0), enter(b, 0), enter(c, 1), {a, response(503), untested, 0}, {b, "end", untested, 0},
			{c, "end", untested, 0}},
		"a broken connection": {enter(a, 0), enter(b, 0), enter(c, 1), {b, failure(errors.New("reset")), untested, 0}},
		"conflicts":           {enter(a, 0), enter(b, 0), enter(c, 1), {b, response(409), untested, 0}},
		"rejected": {enter(a, 0), {a, rejected, untested, 0}, enter(b, 0), enter(c, 1), {a, rejected, untested, 1},
			{a, "end", untested, 1}, {b, rejected, untested, 1}, {b, "end", wrong, 0}},
		"rejected, then failed": {enter(a, 0), {a, rejected, untested, 0}, {a, response(503), untested, 0}, enter(b, 0), enter(c, 1),
			{a, "end", untested, 1}, {b, response(503), untested, 0}, {c, rejected, untested, 0}, {c, "end", wrong, 0}},
		"rejected, then accepted": {enter(a, 0), {a, rejected, untested, 0}, {a, response(200), right, 0}, {a, "end", right, 0},
			{b, "enter", right, 0}, {b, rejected, right, 0}, {b, "end", right, 0}},
		"an end without attempts": {enter(a, 0), enter(b, 0), enter(c, 1), {a, "end", untested, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g, deliveries, waiting := newGate(NotAccepted), make([]pass, 3), 0
				ctx, cancel := context.WithCancel(t.Context())
				for i, s := range steps {
					p := &deliveries[s.delivery]
					switch does := s.does.(type) {
					case attempt:
						if does.isRejection() {
							p.reject(Result{Reason: "no"})
						} else {
							p.learn(does, "PATCH")
						}
					case string:
						if does == "end" {
							p.end()
							break
						}
						waiting++
						go func() {
							_ = p.enter(ctx, g)
							waiting--
						}()
					}
					synctest.Wait()
					if verdict, _ := g.now(); verdict != s.verdict || waiting != s.waiting {
						t.Fatalf("step %d: verdict %d, %d wait; want %d, %d", i+1, verdict, waiting, s.verdict, s.waiting)
					}
				}
				cancel()
				synctest.Wait()
			})
		})
	}
}

// A delivery whose credential was replaced has its place at the next gate, and gives up the other one.
func TestPassThroughAnotherGate(t *testing.T) {
	t.Parallel()
	var p pass
	first, second := newGate(NotAccepted), newGate(NotAccepted)
	if err := p.enter(t.Context(), first); err != nil || len(first.places) != maxUntested-1 {
		t.Errorf("%d places are left: %v", len(first.places), err)
	}
	if err := p.enter(t.Context(), second); err != nil || len(first.places) != maxUntested || len(second.places) != maxUntested-1 {
		t.Errorf("%d and %d places are left: %v", len(first.places), len(second.places), err)
	}
	p.reject(Result{})
	second.close()
	if err := p.enter(t.Context(), second); !errors.Is(err, errOutdated) {
		t.Error(err)
	}
	third := newGate(NotAccepted)
	if err := p.enter(t.Context(), third); err != nil || p.rejection != nil || second.rejections != 1 {
		t.Errorf("%+v: %v", p, err)
	}
	p.end()
	if len(third.places) != maxUntested || third.rejections != 0 {
		t.Error("the rejection counts again")
	}
}

// Reads and updates that the service accepts count apart, and only successes do.
func TestAcceptance(t *testing.T) {
	t.Parallel()
	g := newGate(NotAccepted)
	for _, step := range []struct {
		method string
		status int
		want   Acceptance
	}{
		{"GET", 404, NotAccepted}, {"PATCH", 403, NotAccepted}, {"GET", 200, AcceptedReads}, {"PATCH", 422, AcceptedReads},
		{"PATCH", 200, AcceptedUpdates}, {"GET", 200, AcceptedUpdates},
	} {
		g.learn(response(step.status), step.method)
		if verdict, accepted := g.now(); accepted != step.want || verdict != right {
			t.Errorf("%s, %d: %d", step.method, step.status, accepted)
		}
	}
}
