package streams

import (
	"sync"
	"time"
)

// health is what all requests have learned together about an endpoint: the service, or the token endpoint.
type health struct {
	mu        sync.Mutex
	condition condition
	successes int // responses that showed that the endpoint works
}

// condition is what the last operations show about an endpoint. In all but the first one, an operation makes one attempt.
type condition int

const (
	working condition = iota // or nothing is known
	failing                  // an operation has used up its attempts, and nothing has worked since
	mute                     // the same, and the last one got no response at all
	silent                   // the same of another one, which began after that: attempts are short
)

// event is what an attempt, or the last attempt of an operation, shows about an endpoint.
type event int

const (
	worked   event = iota // the response is not one that may be another one later
	answered              // the attempt failed, but not because nobody responded
	gaveUp                // the operation has used up its attempts
	unheard               // the same, and all attempts together got no response, one of them within the whole request timeout
)

// after returns the condition after an event of an operation that began in another condition.
func (c condition) after(e event, began condition) condition {
	switch {
	case e == worked:
		return working
	case e == answered:
		return min(c, failing)
	case e == unheard && c >= mute && began >= mute:
		return silent
	case e == unheard:
		return max(c, mute)
	}
	return max(c, failing)
}

// view is an endpoint's health at a moment.
type view struct {
	condition condition
	successes int
}

func (h *health) now() view {
	h.mu.Lock()
	defer h.mu.Unlock()
	return view{h.condition, h.successes}
}

// note takes an event of an operation that began with the given view. An operation that gives up beside the successes of
// others says nothing.
func (h *health) note(e event, began view) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case e == worked:
		h.successes++
	case e != answered && h.successes != began.successes:
		return
	}
	h.condition = h.condition.after(e, began.condition)
}

// A short attempt has a part of the request timeout, and time for one response.
const (
	shortPart = 20
	shortest  = 1500 * time.Millisecond
)

// timeout returns the time of an attempt, whose full time is given.
func (c condition) timeout(full time.Duration) time.Duration {
	if c == silent {
		return min(full, max(full/shortPart, shortest))
	}
	return full
}
