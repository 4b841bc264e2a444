package requests

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// failedSearch is why there is no credential to send. All deliveries share it.
type failedSearch struct {
	result  Result
	until   time.Time // before which a search would fail again; zero: it would in the whole run
	hurried bool      // it is the time limit of the operations that did not allow another attempt
}

// Error says what the client adds to the response.
func (f *failedSearch) Error() string { return "no credential: " + f.result.Reason }

// Unwrap returns the cause, or nil.
func (f *failedSearch) Unwrap() error { return f.result.Err }

// holds reports whether an operation with this limit need not search again.
func (f *failedSearch) holds(limit timeLimit) bool {
	switch {
	case f.until.IsZero():
		return true
	case f.hurried:
		return !limit.allows(f.until)
	}
	return time.Now().Before(f.until)
}

// search is a search for a credential. It belongs to all operations that wait for it: as a context, it ends when none does, and its
// deadline is that of the one that can wait longest.
type search struct {
	context.Context
	end      context.CancelFunc
	rejected bool // the current credential was
	done     chan struct{}
	bug      error // a panic

	mu       sync.Mutex
	waiting  int // operations
	deadline time.Time
}

// begin begins a search for the operations that join it. It belongs to none of them.
func (c *credentials) begin(ctx context.Context, rejected bool) *search {
	s, begin := &search{rejected: rejected, done: make(chan struct{})}, time.Now()
	s.Context, s.end = context.WithCancel(context.WithoutCancel(ctx))
	if c.failed != nil && c.failed.hurried {
		begin = c.failed.until
	}
	go c.run(s, begin)
	return s
}

// run makes a search, from a time on.
func (c *credentials) run(s *search, begin time.Time) {
	defer close(s.done)
	defer func() {
		if bug := recover(); bug != nil { // it is one of the operations that wait
			s.bug = fmt.Errorf("%v\n%s", bug, debug.Stack())
		}
	}()
	select {
	case <-time.After(time.Until(begin)):
	case <-s.Done():
		return
	}
	c.finding <- struct{}{} // a search that nobody waits for may not have ended yet
	defer func() { <-c.finding }()
	found, failed := c.find(s, s.rejected)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.search == s {
		c.note(found, failed, s.rejected)
	}
}

// join adds an operation that waits.
func (s *search) join(ctx context.Context) {
	deadline, _ := ctx.Deadline() // which each operation has
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting++
	if deadline.After(s.deadline) {
		s.deadline = deadline
	}
}

// leave removes an operation, and reports whether none is left: then the search ends.
func (s *search) leave() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting--; s.waiting > 0 {
		return false
	}
	s.end()
	return true
}

// Deadline implements [context.Context].
func (s *search) Deadline() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deadline, !s.deadline.IsZero()
}
