package requests

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

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

// newSearch returns a search that an operation waits for. It belongs to none of them.
func newSearch(ctx context.Context, rejected bool) *search {
	s := &search{rejected: rejected, done: make(chan struct{})}
	s.Context, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.join(ctx)
	return s
}

// close notes the end of a search, also by a panic, which is one of the operations that wait.
func (s *search) close() {
	if bug := recover(); bug != nil {
		s.bug = fmt.Errorf("%v\n%s", bug, debug.Stack())
	}
	close(s.done)
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
