package session

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// Panic is what a call or an operation panicked with: a bug of the provider.
type Panic struct {
	Cause any
	Stack string
}

func (p *Panic) Error() string { return fmt.Sprint(p.Cause) }

// Recovered returns the panic with a cause that was recovered in this goroutine, or before in another one.
func Recovered(cause any) *Panic {
	if p, ok := cause.(*Panic); ok {
		return p
	}
	return &Panic{cause, string(debug.Stack())}
}

// panics keeps one of the panics of several goroutines, for the one that waits for them.
type panics struct{ kept atomic.Pointer[Panic] }

// keep is deferred in each of them.
func (p *panics) keep() {
	if cause := recover(); cause != nil {
		p.kept.CompareAndSwap(nil, Recovered(cause))
	}
}

// repanic panics with the one that was kept.
func (p *panics) repanic() {
	if kept := p.kept.Load(); kept != nil {
		panic(kept)
	}
}
