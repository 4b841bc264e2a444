package transport_test

import (
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// What package httpproxy takes for an address is one, and nothing else: it would ignore what it cannot parse.
func TestParseProxy(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"proxy": "http://proxy", "proxy.example:3128": "http://proxy.example:3128", ":3128": "http://:3128", "https://proxy": "https://proxy",
		"socks5://[::1]:1080": "socks5://[::1]:1080", "me:p%40ss@proxy:1": "http://me:p%40ss@proxy:1", "http://proxy:": "http://proxy:",
		"": "", "::::": "", "http://[::1": "", "http://a b:3128": "", "http://proxy:port": "", "http://": "", "//proxy": "", "http://proxy:0": "",
		"http://me:p#s@proxy:1": "", "socks4://proxy:1080": "", "ftp://proxy": "",
		"HTTP://proxy": "http://proxy", "socks5h://proxy:1080": "socks5h://proxy:1080", "http://$PROXY:3128": "",
		"http://http://proxy:3128": "http://http://proxy:3128", "{proxy}:3128": "", "http://proxy:3128\n": "", "proxy:70000": "",
		"http://me:s3cret@": "", "http://me:100%@proxy": "",
	} {
		u, err := transport.ParseProxy(raw)
		if (err == nil) != (want != "") || err == nil && u.String() != want || strings.Contains(ErrorText(err), "s3cret") {
			t.Errorf("%q: %v, %v", raw, u, err)
		}
	}
}

func TestSentInClear(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		"https://host": false, "http://host": true, "http://localhost.evil": true, "http://127.0.0.1.evil": true,
		"http://localhost.": false, "http://api.LocalHost:80": false, "http://api.localhost.:80": false, "http://notlocalhost": true,
		"http://127.1.evil": true, "http://128.1": true, "http://0.0.0.0:80": false,
		"http://[::ffff:127.0.0.1]": false, "http://LOCALHOST:80": false, "http://127.9.9.9": false, "http://[::1]:8080": false,
	} {
		if u, err := streams.ParseBaseURL(raw); err != nil || transport.SentInClear(u) != want {
			t.Errorf("SentInClear(%s) is not %t: %v", raw, want, err)
		}
	}
}
