package config

import "testing"

// Package httpproxy would ignore what it cannot parse.
func TestProxies(t *testing.T) {
	t.Parallel()
	refused := func(variable string) string {
		return "The environment variable " + variable + " is not the address of a proxy;"
	}
	problems{
		"good ones": {nil, environment{"HTTPS_PROXY": "proxy:3128", "https_proxy": "::::", "http_proxy": "http://me:p@proxy"}, nil},
		"bad ones": {nil, environment{"HTTPS_PROXY": "::::Hidden1", "HTTP_PROXY": "socks4://proxy"},
			[]string{refused("HTTPS_PROXY"), refused("HTTP_PROXY")}},
		"in lower case": {nil, environment{"https_proxy": "http://a b:3128", "http_proxy": "http://me:Hidden1@proxy:port", "no_proxy": "::::"},
			[]string{refused("http_proxy"), refused("https_proxy")}},
		"a list in quotes": {nil, environment{"NO_PROXY": `"a.example"`},
			[]string{"The environment variable NO_PROXY must not be in quotes"}},
		"a list of lines": {nil, environment{"HTTPS_PROXY": "proxy", "NO_PROXY": "a.example\r\nb.example c.example\n"}, nil},
	}.run(t)
}
