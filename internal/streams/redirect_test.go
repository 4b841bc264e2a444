package streams_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// A redirect is never followed: Go would send a GET instead of the PATCH, and its response would look
// like a success.
func TestRedirect(t *testing.T) {
	t.Parallel()
	target := startService(t, applyUpdate)
	for _, status := range []int{300, 301, 302, 303, 304, 305, 307, 308, 399} {
		outcome := streams.Unknown
		switch status {
		case 301, 302, 307, 308:
			outcome = streams.NotChanged
		}
		for _, location := range []struct{ sent, shown string }{
			{target.URL + "/v2/streams/s1", target.URL + "/v2/streams/s1"},
			{"/login?next=%2Fv2", "/login?next=%2Fv2"},
			{"", ""},
			{"http://[::1", "http://[::1"},
			{":// %zz", ":// %zz"},
			{"https://x/\xff\xe2\x80\xae", `https://x/\xff\u202e`},
			{"https://x/" + strings.Repeat("a", 5000), "https://x/" + strings.Repeat("a", 290) + "…"},
		} {
			t.Run(fmt.Sprintf("%d to %.12q", status, location.sent), func(t *testing.T) {
				t.Parallel()
				var header []string
				if location.sent != "" {
					header = []string{"Location", location.sent}
				}
				s := startService(t, respondError(status, "moved", header...))
				e := s.updateError(t, streams.Config{})
				message, documented := "moved", true
				if status == http.StatusNotModified {
					message, documented = "", false // HTTP does not allow a body
				}
				if diff := cmp.Diff(&streams.Error{
					Kind: streams.KindRedirect, Method: "PATCH", URL: s.URL + "/v2/streams/s1", Status: status,
					Message: message, Documented: documented, Location: location.shown,
					Reason:   "the response is a redirect, and redirects are never followed",
					Attempts: 1, Outcome: outcome,
				}, e); diff != "" {
					t.Errorf("error (-want +got):\n%s", diff)
				}
				s.wantRequests(t, 1)
			})
		}
	}
	t.Cleanup(func() { target.wantRequests(t, 0) }) // after the parallel tests
}
