package streams_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func TestCheckHeader(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, value, want string }{
		{"X-Api-Key", "k3y", ""},
		{"authorization", "ApiKey abc", ""},
		{"User-Agent", "me", ""},
		{"Cookie", "a=b", ""},
		{"X-Empty", "", ""},
		{"X-Latin", "gr\xfcn", ""},
		{"", "x", "is not a valid header name"},
		{"X\r\nY", "x", "is not a valid header name"},
		{"X-Key", "a\nb", "has a value with characters that a header must not contain, such as a line break"},
		{"X-Key", "a\r", "has a value with characters that a header must not contain, such as a line break"},
		{"X-Key", "a\x00b", "has a value with characters that a header must not contain, such as a line break"},
		{"content-type", "text/plain", "must not set Content-Type, which the HTTP client controls"},
		{"Host", "x", "must not set Host, which the HTTP client controls"},
		{"Transfer-Encoding", "chunked", "must not set Transfer-Encoding, which the HTTP client controls"},
		{"Connection", "close", "must not set Connection, which the HTTP client controls"},
		{"Content-Encoding", "gzip", "must not set Content-Encoding, which the HTTP client controls"},
	} {
		if got := errorText(streams.CheckHeader(test.name, test.value)); got != test.want {
			t.Errorf("CheckHeader(%q, %q) = %q, want %q", test.name, test.value, got, test.want)
		}
	}
}

func TestConfiguredHeaders(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg    streams.Config
		header string
		want   []string
	}{
		"configured user agent":   {streams.Config{UserAgent: "terraform", Headers: map[string]string{"user-agent": "me"}}, "User-Agent", []string{"me"}},
		"authorization by header": {streams.Config{Headers: map[string]string{"AUTHORIZATION": "ApiKey abc"}}, "Authorization", []string{"ApiKey abc"}},
		"token and header":        {streams.Config{Token: "t0ken", Headers: map[string]string{"Authorization": "ApiKey abc"}}, "Authorization", []string{"Bearer t0ken"}},
		"basic":                   {streams.Config{BasicAuth: &streams.BasicAuth{Username: "me", Password: "pa:ss"}}, "Authorization", []string{"Basic bWU6cGE6c3M="}},
		"configured accept":       {streams.Config{Headers: map[string]string{"Accept": "application/vnd.streams+json"}}, "Accept", []string{"application/vnd.streams+json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startService(t, applyUpdate)
			if _, err := s.update(t, test.cfg); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.requests()[0].Header.Values(test.header)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.header, diff)
			}
		})
	}
}
