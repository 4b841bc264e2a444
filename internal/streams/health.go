package streams

import "sync"

// health is what all requests learn together about an endpoint or a credential, so that a fleet does not find out
// the same for each stream. Failures count only if there was no success in the meantime.
type health struct {
	mu        sync.Mutex
	successes int // so far
	failures  int // since the last success
}

func (h *health) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.successes
}

func (h *health) succeeded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.successes++
	h.failures = 0
}

// failed reports a failure of a request that began after the given number of successes.
func (h *health) failed(successes int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.successes == successes {
		h.failures++
	}
}

// isBad reports whether there were that many failures.
func (h *health) isBad(failures int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failures >= failures
}
