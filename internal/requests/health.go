package requests

import (
	"sync"
	"time"
)

// health is what all deliveries have learned together about an endpoint: the service, or the token endpoint.
type health struct {
	mu sync.Mutex
	view
}

// view is an endpoint's health at a moment.
type view struct {
	taken     int // requests, whose responses would not be others later
	condition condition
}

// condition is what the last deliveries show about an endpoint. In all but the first one, a delivery makes one attempt.
type condition int

const (
	working condition = iota // or nothing is known
	failing                  // a delivery has used up its patience, and the endpoint has taken no request since its first failure
	silent                   // and that delivery got no response in the end: attempts are short
)

// shortAttempt is the time of an attempt while nothing responds: enough for one response of a slow service.
const shortAttempt = 5 * time.Second

// now returns the health at this moment.
func (h *health) now() view {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.view
}

// learn notes what an attempt shows about the endpoint, and returns its health.
func (h *health) learn(a attempt) view {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case a.isTaken():
		h.taken++
		h.condition = working
	case a.isResponse():
		h.condition = min(h.condition, failing)
	}
	return h.view
}

// fail notes a delivery that has used up its patience, unless the endpoint has taken a request since its first failure: taken is how
// many there were then.
func (h *health) fail(taken int, c condition) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.taken == taken {
		h.condition = c
	}
}
