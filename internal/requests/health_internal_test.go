package requests

import "testing"

// What operations show together about an endpoint. A request that was taken meanwhile counts more than the end of a delivery.
func TestHealth(t *testing.T) {
	t.Parallel()
	var h health
	learn := func(a attempt) func() { return func() { h.learn(a) } }
	fail := func(taken int, c condition) func() { return func() { h.fail(taken, c) } }
	for i, step := range []struct {
		happens func()
		want    view
	}{
		{learn(response(503)), view{0, working}},
		{fail(0, failing), view{0, failing}},
		{learn(response(503)), view{0, failing}},
		{learn(failure(ErrRequestTimeout)), view{0, failing}},
		{learn(response(200)), view{1, working}},
		{fail(0, failing), view{1, working}},
		{fail(1, silent), view{1, silent}},
		{learn(failure(ErrRequestTimeout)), view{1, silent}},
		{learn(response(503)), view{1, failing}},
		{fail(1, silent), view{1, silent}},
		{learn(response(401)), view{2, working}},
		{learn(response(429)), view{2, working}},
		{learn(failure(ErrIncomplete)), view{2, working}},
	} {
		if step.happens(); h.now() != step.want {
			t.Fatalf("step %d: %+v, want %+v", i+1, h.now(), step.want)
		}
	}
}
