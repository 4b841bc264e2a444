package requests

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// health is what all deliveries have learned together about an endpoint: the service, or the token endpoint.
type health struct {
	mu sync.Mutex
	view
	silentSince time.Time // when an attempt had waited for the whole request timeout; zero once anything is heard
}

// view is an endpoint's health at a moment.
type view struct {
	condition condition
	taken     int   // requests, whose responses would not be others later
	takenLate int   // those of them that it had not taken at first, because it was busy
	silence   error // of the last attempt that had waited for the whole request timeout
}

// condition is what the last deliveries show about an endpoint, from the best to the worst. In all but the first one, a delivery makes
// one attempt.
type condition int

const (
	working condition = iota // or nothing is known
	failing                  // a delivery has failed for as long as its patience, and the endpoint has taken no request meanwhile, or since
	mute                     // an attempt has got no response, nor has a delivery that began after it: attempts are short
)

// now returns the health at this moment.
func (h *health) now() view {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.view
}

// took notes a request that the endpoint has taken, perhaps late: it was too busy at first.
func (h *health) took(late bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.condition, h.silentSince = working, time.Time{}
	h.taken++
	if late {
		h.takenLate++
	}
}

// heard notes an attempt that failed for the moment with a response, or with an error of the connection. An endpoint that was mute
// fails from then on.
func (h *health) heard() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.condition, h.silentSince = min(h.condition, failing), time.Time{}
}

// failed notes a delivery that shows that the endpoint fails, unless it has taken more requests by now than the delivery knows of.
func (h *health) failed(taken int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.taken == taken {
		h.condition = max(h.condition, failing)
	}
}

// heardNothing notes an attempt that waited for the whole request timeout, with its error. Its delivery began at the given
// time: the attempts for one stream show nothing about the others.
func (h *health) heardNothing(began time.Time, silence error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.silence = silence
	switch {
	case h.silentSince.IsZero():
		h.silentSince = time.Now()
	case !began.Before(h.silentSince):
		h.condition = mute
	}
}

// checkSilence returns an error if nothing responds to other deliveries. receiver is the name of the endpoint.
func (h *health) checkSilence(receiver string, timeout time.Duration) error {
	now := h.now()
	if now.condition != mute {
		return nil
	}
	if errors.Is(now.silence, transport.ErrNoConnection) {
		return fmt.Errorf("other operations got no response: %w", now.silence)
	}
	return fmt.Errorf("the %s %w %s to other operations", receiver, ErrRequestTimeout, timeout)
}

// A short attempt has a part of the request timeout, and time for one response of a slow service.
const (
	shortPart = 20
	shortest  = 5 * time.Second
)

// shortened returns the time of a short attempt.
func shortened(timeout time.Duration) time.Duration {
	return min(timeout, max(timeout/shortPart, shortest))
}

// shortWait returns how long a delivery waits for a turn while nothing responds: less than a short attempt, because who gets a turn
// at the end of the wait makes such an attempt, too.
func shortWait(timeout time.Duration) time.Duration { return max(1, shortened(timeout)*3/5) }
