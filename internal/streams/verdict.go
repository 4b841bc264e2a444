package streams

import "sync"

// verdict is what all operations learn together about an endpoint or a credential, so that a fleet does not find
// out the same for each stream. Failures count only if there was no success in the meantime.
type verdict struct {
	mu        sync.Mutex
	successes int // so far
	failures  int // since the last success
}

// count returns the number of successes so far.
func (v *verdict) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.successes
}

func (v *verdict) succeeded() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.successes++
	v.failures = 0
}

// failed reports a failure of an operation that began after the given number of successes.
func (v *verdict) failed(successes int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.successes == successes {
		v.failures++
	}
}

// isBad reports whether there were that many failures.
func (v *verdict) isBad(failures int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.failures >= failures
}
