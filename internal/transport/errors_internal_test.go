package transport

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
)

// The TLS alerts of both sides are failures of TLS. Only one of the other side about the client's certificate shows that it has not
// read the request.
func TestAlerts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sender              string
		alert               tls.AlertError
		isFailure, isReject bool
	}{
		"handshake failure": {byPeer, 40, true, true}, "access denied": {byPeer, 49, true, true}, "certificate required": {byPeer, 116, true, true},
		"before them": {byPeer, 22, true, false}, "after them": {byPeer, 50, true, false}, "internal error": {byPeer, 80, true, false},
		"of the client": {byClient, 116, true, false}, "a broken connection": {"read", 116, false, false},
	} {
		alert := &net.OpError{Op: test.sender, Err: errors.New(test.alert.Error())}
		for _, err := range []error{alert, fmt.Errorf("x: %w", alert), &net.OpError{Op: "proxyconnect", Err: alert}} {
			if IsTLSFailure(err) != test.isFailure || WouldFailAgain(err) != test.isFailure || RejectsClient(err) != test.isReject {
				t.Errorf("%s: %v: %t, %t", name, err, IsTLSFailure(err), RejectsClient(err))
			}
		}
	}
}

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
