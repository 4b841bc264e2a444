package transport

import (
	"net/http"
	"testing"
)

// Only the names count: parameters and credentials may have commas.
func TestProxySchemes(t *testing.T) {
	t.Parallel()
	for want, values := range map[string][]string{
		"": nil, "Basic": {`Basic realm="a, b", charset="UTF-8"`}, "NTLM, Negotiate": {"NTLM", "Negotiate"}, "Negotiate, NTLM, Basic": {`Negotiate, NTLM, Basic realm="x"`},
		"Digest, Basic": {`Digest realm="x", qop="auth, auth-int", nonce = "N", Basic realm="y"`}, "NTLM": {"NTLM TlRMTVNTUAAC==", "NTLM"},
	} {
		if got := ProxySchemes(http.Header{"Proxy-Authenticate": values}); got != want {
			t.Errorf("%q: %q, want %q", values, got, want)
		}
	}
}
