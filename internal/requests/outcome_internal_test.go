package requests

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Without a credential, a result is that of the request that failed instead, perhaps of another operation. Whether the stream may have
// been changed is known of the own attempts.
func TestResultOfAFailedSearch(t *testing.T) {
	t.Parallel()
	token := Result{Method: "POST", URL: "https://login.example.com", TokenRequest: true, Status: 401, Attempts: 3, MayHaveActed: true}
	file := Result{Reason: "the file cannot be used"}
	sent := failure(transport.ErrNoPong)
	sent.mayBeRead = true
	for name, test := range map[string]struct {
		attempts []attempt
		other    Result
		want     bool
	}{
		"a token":                       {nil, token, false},
		"a token, after a rejection":    {[]attempt{response(401)}, token, false},
		"a token, after no response":    {[]attempt{sent, response(401)}, token, true},
		"a token, after what Go stops":  {[]attempt{failure(transport.ErrNotSent)}, token, false},
		"a file":                        {nil, file, false},
		"a file, after a broken update": {[]attempt{sent}, file, true},
	} {
		h := history{subject: Result{Method: "PATCH", URL: "https://streams.example.com"}, attempts: test.attempts}
		got := h.result(step{}, &noCredential{result: test.other})
		if got.Attempts != test.other.Attempts || got.MayHaveActed != test.want || got.URL != test.other.URL {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
