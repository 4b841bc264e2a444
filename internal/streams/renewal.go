package streams

import "sync"

// renewal decides whether a credential that the service refused is worth replacing. A service that
// refuses a fresh credential would refuse the next one, too.
type renewal struct {
	mu       sync.Mutex
	current  string
	accepted bool // the service has accepted current
	renewed  bool // current replaces a refused value
}

// accept reports that the service has accepted a value.
func (r *renewal) accept(value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accepted = r.accepted || value == r.current
}

// replace sets a new value.
func (r *renewal) replace(value string, afterRefusal bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if value != r.current {
		r.current, r.accepted = value, false
	}
	r.renewed = afterRefusal
}

// worthwhile reports whether to replace the current value after a refusal.
func (r *renewal) worthwhile() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.accepted || !r.renewed
}
