package session

import (
	"fmt"
	"runtime/debug"
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
