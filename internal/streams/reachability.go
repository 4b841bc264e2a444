package streams

import "sync"

// reachability is what all operations know about an endpoint together. When the endpoint cannot be
// reached, one operation uses up its attempts. The others then make one attempt each, until there is a
// response: a fleet would otherwise need minutes to report that one endpoint is down.
type reachability struct {
	mu        sync.Mutex
	responses int  // so far, of any status
	lost      bool // an operation has used up its attempts, and there was no response since its first one
}

// count returns the number of responses so far.
func (r *reachability) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.responses
}

func (r *reachability) responded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.responses++
	r.lost = false
}

// gaveUp reports that an operation has used up its attempts. before is the number of responses before
// its first attempt.
func (r *reachability) gaveUp(before int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = r.lost || r.responses == before
}

func (r *reachability) isLost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}
