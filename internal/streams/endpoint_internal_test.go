package streams

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// An accepted id is one segment of the path and decodes to itself.
func FuzzStreamURL(f *testing.F) {
	for _, id := range []string{"s1", "a/b", "..", ".", "%2e%2e", "a?b#c", "a b", "a\x00", "grün", "\xff", ";", "//", "a\\b", ""} {
		f.Add(id)
	}
	base, err := ParseBaseURL("https://host.example:8443/eu%2Fwest/v2")
	if err != nil {
		f.Fatal(err)
	}
	const prefix = "/eu%2Fwest/v2/streams/"
	f.Fuzz(func(t *testing.T, id string) {
		raw, err := streamURL(base, id)
		if err != nil {
			if raw != "" {
				t.Fatalf("%q with the error %v", raw, err)
			}
			return
		}
		req, err := http.NewRequest(http.MethodPatch, raw, nil)
		if err != nil {
			t.Fatalf("%q makes the URL %q: %v", id, raw, err)
		}
		// What Go sends as request target, and how a server parses it.
		target := req.URL.RequestURI()
		segment, found := strings.CutPrefix(target, prefix)
		if !found || segment == "" || strings.Contains(segment, "/") || req.URL.Host != "host.example:8443" {
			t.Fatalf("%q is sent to %s%s, not as one segment", id, req.URL.Host, target)
		}
		for _, c := range []byte(target) {
			if c <= ' ' || c >= 0x7f || strings.ContainsRune(`?#;\"<>^{|}`, rune(c)) {
				t.Fatalf("%q is sent as %q, which has an unescaped %q", id, target, c)
			}
		}
		u, err := url.ParseRequestURI(target)
		if err != nil || u.RawQuery != "" || u.Fragment != "" {
			t.Fatalf("%q arrives as %q: %v", id, target, err)
		}
		if got, err := url.PathUnescape(segment); err != nil || got != id || got == "." || got == ".." {
			t.Fatalf("%q arrives as %q (%v)", id, got, err)
		}
		if !strings.HasSuffix(u.Path, "/"+id) {
			t.Fatalf("%q is not the end of the path %q", id, u.Path)
		}
	})
}
