package session

import (
	"errors"
	"net/http"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Finding is what a person should know of one stream after a call: an error if Refusal or Err is set, otherwise a warning.
type Finding struct {
	Stream  string
	Kind    claims.Finding // of a warning
	Refusal claims.Refusal // why nothing is sent
	Err     error          // of a read or an operation

	Operation *Operation // nil if there was none
	Set       streams.ProcessorSet
	Other     streams.ProcessorSet // see [claims.Plan] and [claims.Finding]
	Shown     string               // Other as a person may read it: known secrets are masked
}

// IsError reports whether the call fails.
func (f Finding) IsError() bool { return f.Kind == 0 }

// Refusal is why a whole call is refused.
type Refusal int

// The refusals of calls.
const (
	accepted      Refusal = iota
	NotConfigured         // the provider's configuration is known after apply
	NeedsReads            // without detect_drift, nobody can check what a resource takes over
	NotDetachable         // the state is that of another deployment, and a destroy would detach there
)

// ErrWaitedForOther says that an operation ended while it waited for another one on the stream.
var ErrWaitedForOther = errors.New("waited for another operation on the stream")

// IsNotFound reports whether the service itself said that there is no such stream. A 404 in another form may come from a
// proxy, and be about the route.
func IsNotFound(err error) bool {
	e, ok := errors.AsType[*streams.Error](err)
	return ok && e.Status == http.StatusNotFound && e.Documented
}
