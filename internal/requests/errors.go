package requests

import (
	"errors"
)

// Causes of a failure, beside those of packages context and transport.
var (
	ErrRateLimit      = errors.New("the operation's time limit ends before the limit of requests per second allows another request")
	ErrNoTime         = errors.New("the operation's time limit leaves no time for another attempt")
	ErrTurnWait       = errors.New("the operation waited for the first responses to requests with the same credentials")
	ErrSlotWait       = errors.New("the operation waited until fewer requests were under way")
	ErrTokenWait      = errors.New("the operation waited for the token request of another operation")
	ErrRequestTimeout = errors.New("did not respond within") // the request timeout, in the last attempt
	ErrIncomplete     = errors.New("the response is incomplete")
	ErrSecretFile     = errors.New("the file with the credential cannot be used")
)
