package streams

import "testing"

func TestDescribeText(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ body, want string }{
		"text":            {"no healthy upstream", "no healthy upstream"},
		"other JSON":      {`{"error":"<b>no</b>"}`, `{"error":"<b>no</b>"}`},
		"heading alone":   {"<h1>Not Found</h1>", "HTML page: Not Found"},
		"title and text":  {"<!DOCTYPE html>\n<html><head><title>Sign\n in</title></head><body><p>Please <b>sign</b> in.</p></body></html>", `HTML page "Sign in": Please sign in.`},
		"long head":       {"<html><head><style>p{color:red}</style><script>if (a<b) document.write('<p>no</p>')</script><meta name=a content=b></head><body>Down</body>", "HTML page: Down"},
		"title alone":     {"<html><head><title>Loading</title></head><body><noscript>Turn <b>it</b> on</noscript></body></html>", `HTML page "Loading"`},
		"nothing visible": {"<html><body><script>go()</script><template><p>x</p></template></body></html>", "HTML page without text"},
		"title in SVG":    {"<html><title>Gateway</title><svg><title>Logo</title></svg><p>Error</p>", `HTML page "Gateway": Error`},
		"entities":        {"<html>caf&eacute; &amp; co &lt;1&gt;</html>", "HTML page: café & co <1>"},
		"comment":         {"<html><!-- build 7 --><p>Error</p></html>", "HTML page: Error"},
		"after XML":       {`<?xml version="1.0"?><html><body>Error</body></html>`, "HTML page: Error"},
		"cut in the head": {"<html><head><title>Err", `HTML page "Err"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := joinFields(string(describeText([]byte(test.body)))); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
