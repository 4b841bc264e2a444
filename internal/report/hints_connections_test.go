package report

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// No response came, or none that counts.
var connectionHints = map[string]hintCase{
	"interrupted": {without(context.Canceled), none, []string{"Run the command again when you are ready."}, nil},
	"bad token file": {streams.Error{Kind: streams.KindAuthentication, Result: requests.Result{Err: errors.Join(requests.ErrSecretFile, errors.New("x"))}}, none,
		[]string{"Check the file. A relative path begins in the folder that -chdir names: write an absolute path, in Terraform \"${path.cwd}/…\"."}, []string{"base_url"}},
	"not sent":            {without(transport.ErrNotSent), none, []string{"this machine"}, []string{"base_url", "service"}},
	"proxy":               {without(&transport.ProxyError{Status: 403}), none, []string{"other credentials", "HTTPS_PROXY", "NO_PROXY"}, []string{"base_url"}},
	"no proxy":            {without(new(transport.ProxyError)), none, []string{"The proxy may be down", "HTTPS_PROXY", "NO_PROXY"}, []string{"base_url", "credentials"}},
	"no connection":       {without(errors.Join(requests.ErrRequestTimeout, transport.ErrNoConnection)), none, []string{"firewall", "base_url", "HTTPS_PROXY"}, []string{"request_timeout"}},
	"wait for a token":    {without(requests.ErrTokenWait), none, []string{"oauth2.token_url", "timeouts of the resource"}, []string{"base_url", "service"}},
	"rate limit":          {without(requests.ErrRateLimit), none, []string{"requests_per_second", "timeouts of the resource"}, []string{"base_url", "slow"}},
	"wait for the stream": {*asStreamError(errors.Join(session.ErrWaitedForOther, context.DeadlineExceeded)), none, []string{"too short", "Raise the timeouts."}, []string{"base_url"}},
	"no time to begin":    {*asStreamError(context.DeadlineExceeded), none, []string{"too short", "Raise the timeouts."}, []string{"Another operation", "base_url"}},
	"wait for a turn":     {without(requests.ErrSlotWait), none, []string{"max_concurrent_requests", "timeouts of the resource"}, []string{"base_url", "slow"}},
	"TLS, proxy": {without(ofProxy(http.ErrSchemeMismatch)), none,
		[]string{"with TLS or without", "HTTPS_PROXY"}, []string{"base_url", "client certificate"}},
	"unknown authority": {without(untrusted), none, []string{"private authority, or the service may not send its intermediate certificate",
		"Add the certificate of the issuer to tls.ca_cert_pem, or check base_url."}, []string{"client_cert_pem", "server_name"}},
	"unknown authority, token": {token(without(untrusted)), none, []string{"token endpoint may not send", "check oauth2.token_url"}, []string{"base_url"}},
	"unknown authority, proxy": {without(ofProxy(untrusted)), none,
		[]string{"the proxy may not send", "tls.ca_cert_pem, or check HTTPS_PROXY"}, []string{"base_url"}},
	"another usage": {without(invalid(x509.IncompatibleUsage)), none, []string{"If the error has another reason, the operators have to replace"}, []string{"client_cert_pem", "client certificate"}},
	"wrong name": {without(wrongName("a")), none, []string{"Use a name of the certificate in base_url, or in tls.server_name."},
		[]string{"ca_cert_pem", "client_cert_pem"}},
	"wrong address":     {without(x509.HostnameError{Certificate: &x509.Certificate{IPAddresses: []net.IP{{127, 0, 0, 1}}}}), none, []string{"Use a name of the certificate in base_url"}, nil},
	"wrong name, token": {token(without(wrongName("a"))), none, []string{"Use a name of the certificate in oauth2.token_url."}, []string{"server_name"}},
	"wrong name, proxy": {without(ofProxy(wrongName("a"))), none,
		[]string{"belong to the proxy", "Use a name of the certificate in HTTPS_PROXY"}, []string{"server_name"}},
	"expired": {without(invalid(x509.Expired)), none, []string{"renew its certificate", "clock", "one of tls.ca_cert_pem"}, []string{"server_name", "client_cert_pem"}},
	"expired, proxy": {token(without(ofProxy(invalid(x509.Expired)))), none,
		[]string{"The proxy may have to renew its certificate"}, []string{"token endpoint"}},
	"alert":                   {without(alert(40)), none, []string{"may not serve this host", "version or cipher of TLS", "another client certificate", "Check base_url, tls.server_name and"}, nil},
	"alert of a proxy":        {without(ofProxy(alert(70))), none, []string{"The proxy may not serve", "HTTPS_PROXY"}, []string{"base_url"}},
	"unreadable handshake":    {without(new(transport.HandshakeError)), none, []string{"may not serve this host"}, []string{"down"}},
	"no HTTP":                 {plain(without(transport.ErrNotHTTP)), none, []string{"with TLS or without, or HTTP/2 without TLS", "Check http:// or https:// and the port in base_url."}, []string{"certificate"}},
	"407, no Basic":           {without(&transport.ProxyError{Status: 407, Schemes: "NTLM, Negotiate"}), none, []string{"only with Basic", "local helper proxy", "NO_PROXY"}, []string{"user name"}},
	"407, also Basic":         {without(&transport.ProxyError{Status: 407, Schemes: "NTLM, basic"}), none, []string{"user name and password in HTTPS_PROXY"}, []string{"helper"}},
	"no HTTP, token":          {token(plain(without(transport.ErrNotHTTP))), none, []string{"Check http:// or https:// and the port in oauth2.token_url"}, []string{"base_url"}},
	"only a common name":      {without(wrongName()), none, []string{"the operators have to replace the certificate"}, []string{"server_name", "client_cert_pem"}},
	"asked for a certificate": {without(&net.OpError{Op: "local error"}), none, []string{"tls.client_cert_pem"}, []string{"down"}},
	"TLS":                     {without(http.ErrSchemeMismatch), none, []string{"with TLS or without", "http:// or https://", "base_url"}, []string{"client_cert_pem", "ca_cert_pem", "server_name"}},
	"no TLS record, token":    {token(without(tls.RecordHeaderError{})), none, []string{"with TLS or without", "oauth2.token_url"}, []string{"client_cert_pem", "base_url"}},
	"token, no response":      {token(without(errors.New("refused"))), none, []string{"token endpoint may be down", "oauth2.token_url"}, []string{"base_url", "service"}},
	"no client certificate":   {without(transport.ErrNoCertificate), none, []string{"may require a client certificate", "Set tls.client_cert_pem"}, []string{"another", "down"}},
	"incomplete": {because(requests.ErrIncomplete, update(200, streams.KindConnection)), none,
		[]string{"wrong length", "Run the command again", "base_url"}, []string{"request_timeout", "address"}},
	"timeout beside others": {beside(because(requests.ErrRequestTimeout, update(0, streams.KindTimeout))), none,
		[]string{"Set max_concurrent_requests to a smaller number, or run the command again later.", "raise request_timeout or the timeouts"}, []string{"slow"}},
	"timeout":              {because(requests.ErrRequestTimeout, update(0, streams.KindTimeout)), none, []string{"request_timeout", "base_url"}, []string{"timeouts of the resource"}},
	"late":                 {because(context.DeadlineExceeded, update(0, streams.KindTimeout)), none, []string{"timeouts of the resource", "base_url"}, []string{"request_timeout"}},
	"503, then no service": {unknown(because(errors.New("refused"), update(503, streams.KindConnection))), none, []string{"have a fault"}, nil},
	"no answer, http://":   {unknown(plain(without(io.EOF))), none, []string{"may use TLS at this port", "base_url (http:// or https://)"}, []string{"down"}},
	"refused, http://":     {plain(without(errors.New("refused"))), none, []string{"The service may be down"}, []string{"TLS"}},
	"no service":           {without(errors.New("refused")), none, []string{"base_url", "HTTPS_PROXY"}, nil},
}
