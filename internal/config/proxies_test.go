package config

import "testing"

// A proxy variable is checked where requests need it: package httpproxy would ignore what it cannot parse.
func TestProxies(t *testing.T) {
	t.Parallel()
	refused := func(variable string) string {
		return "The environment variable " + variable + " is not the address of a proxy;"
	}
	http := oauth2(block{"token_url": "http://id.example.com", "client_secret": "s"})
	cleartext := "Warning: oauth2.token_url is an http:// address"
	problems{
		"good ones": {nil, environment{"HTTPS_PROXY": "proxy:3128", "https_proxy": "::::", "http_proxy": "http://me:p@proxy"}, nil},
		"of https": {nil, environment{"HTTPS_PROXY": "::::Hidden1", "HTTP_PROXY": "socks4://proxy"},
			[]string{refused("HTTPS_PROXY")}},
		"in lower case": {nil, environment{"https_proxy": "http://a b:3128", "no_proxy": "::::"}, []string{refused("https_proxy")}},
		"of http": {block{"base_url": "http://127.0.0.1"}, environment{"HTTP_PROXY": "socks4://proxy", "HTTPS_PROXY": "::::"},
			nil},
		"of token_url": {http, environment{"HTTP_PROXY": "http://me:Hidden1@proxy:port", "HTTPS_PROXY": "proxy"},
			[]string{refused("HTTP_PROXY"), cleartext}},
		"of both": {http, environment{"HTTP_PROXY": "ftp://proxy", "HTTPS_PROXY": "http://[::1"},
			[]string{refused("HTTPS_PROXY"), refused("HTTP_PROXY"), cleartext}},
		"not for a host":         {nil, environment{"HTTPS_PROXY": "::::", "NO_PROXY": "a.example,\n .example.com\n"}, nil},
		"nor yet":                {block{"base_url": afterApply}, environment{"HTTPS_PROXY": "::::"}, nil},
		"a list without a proxy": {nil, environment{"NO_PROXY": `"a.example"`}, nil},
		"a list in quotes": {nil, environment{"HTTPS_PROXY": "proxy", "NO_PROXY": `"a.example"`},
			[]string{"The environment variable NO_PROXY must not be in quotes"}},
		"a list of lines": {nil, environment{"HTTPS_PROXY": "proxy", "NO_PROXY": "a.example\r\nb.example c.example\n"}, nil},
	}.run(t)
}
