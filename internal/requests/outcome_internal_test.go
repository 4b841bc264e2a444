package requests

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Without a credential, a result is that of the request that failed instead, with the attempts of the operation to send that one.
// It says whether the operation has sent its own request, too.
func TestResultOfAFailedSearch(t *testing.T) {
	t.Parallel()
	token := Result{Method: "POST", URL: "https://login.example.com", TokenRequest: true, Status: 401, Attempts: 3}
	file := Result{Reason: "the file cannot be used"}
	rejected, unsent := response(401), failure(transport.ErrNotSent)
	for name, test := range map[string]struct {
		attempts   []attempt
		search     Result
		want       int
		sentBefore bool
	}{
		"its own":                                {nil, token, 3, false},
		"its own, after a rejection":             {[]attempt{rejected}, token, 3, true},
		"another one's":                          {nil, token.unsent("no"), 0, false},
		"another one's, after attempts":          {[]attempt{response(503), rejected}, token.unsent("no"), 0, true},
		"another one's, after one that Go stops": {[]attempt{unsent}, token.unsent("no"), 0, false},
		"a file":                                 {nil, file, 0, false},
		"a file, after a rejection":              {[]attempt{rejected}, file, 0, true},
	} {
		h := history{subject: Result{Method: "PATCH", URL: "https://streams.example.com"}, attempts: test.attempts}
		got := h.result(step{}, &failedSearch{result: test.search})
		if got.Attempts != test.want || got.SentBefore != test.sentBefore || got.URL != test.search.URL {
			t.Errorf("%s: %+v", name, got)
		}
		if nothing := test.want == 0 && !test.sentBefore; got.NothingSent() != nothing {
			t.Errorf("%s: nothing sent: %t", name, !nothing)
		}
	}
}
