package transport_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	. "github.com/stream-management/terraform-provider-stream/internal/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Each PEM block must be a certificate; the error says which is none. Texts between the blocks are comments.
func TestAuthorities(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	pair := ca.Issue(t, "other")
	one, two := ca.CertPEM, pair.CertPEM
	const first, last = "-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\n"
	const ofBlock1, ofBlock2 = "contains a damaged PEM block, number 1", "contains a damaged PEM block, number 2"
	for name, test := range map[string]struct{ pem, want string }{
		"two":                      {one + two, ""},
		"comments":                 {"subject=a\r\n" + one + "\n# the other one\n" + two + "# end", ""},
		"line breaks of Windows":   {strings.ReplaceAll(one+two, "\n", "\r\n"), ""},
		"no line break at the end": {one + strings.TrimSpace(two), ""},
		"a byte order mark":        {"\ufeff" + one, ""},
		"two byte order marks":     {"\ufeff" + one + "\ufeff" + two, ""},
		"a path":                   {"/etc/ssl/ca.pem", "contains no PEM block"},
		"no line break between":    {strings.TrimSpace(one) + two, "contains a PEM block, number 2, that does not begin on a line of its own"},
		"indented":                 {"  " + strings.ReplaceAll(one, "\n", "\n  "), "contains a PEM block, number 1, that does not begin on a line of its own"},
		"escaped line breaks":      {strings.ReplaceAll(one, "\n", `\n`), `contains \n in place of line breaks`},
		"no line breaks":           {strings.ReplaceAll(one, "\n", ""), "contains no line breaks; PEM needs them"},
		"no line breaks within":    {one + strings.ReplaceAll(two, "\n", "") + "\n", "contains no line breaks; PEM needs them"},
		"spaces":                   {strings.ReplaceAll(one+two, "\n", " "), "contains spaces in place of line breaks"},
		"carriage returns":         {strings.ReplaceAll(one, "\n", "\r"), "contains carriage returns in place of line breaks"},
		"in base64":                {base64.StdEncoding.EncodeToString([]byte(one)), "contains PEM in base64, which must be decoded"},
		"damaged":                  {one + strings.Replace(two, "MII", "M*I", 1), ofBlock2},
		"the first is damaged":     {strings.Replace(one, "MII", "M*I", 1) + two, ofBlock1},
		"cut":                      {one + strings.TrimSpace(two)[:200], ofBlock2},
		"without its last line":    {strings.TrimSuffix(one, last) + two, ofBlock1},
		"without its first line":   {strings.TrimPrefix(one, first) + two, ofBlock1},
		"the same for the second":  {one + strings.TrimPrefix(two, first), ofBlock2},
		"no certificate":           {one + strings.Replace(two, "MII", "AII", 1), "contains a certificate that cannot be read as PEM block 2: x509: malformed certificate"},
		"a key":                    {one + pair.KeyPEM, `contains a "PRIVATE KEY" instead of a certificate as PEM block 2`},
		"of OpenSSL":               {strings.ReplaceAll(one, "CERTIFICATE", "TRUSTED CERTIFICATE"), `contains a "TRUSTED CERTIFICATE" instead of a certificate as PEM block 1`},
	} {
		config, problems := transport.TLS{CACertPEM: test.pem}.Config()
		if test.want == "" {
			if len(problems) > 0 || config.RootCAs == nil || config.Renegotiation != tls.RenegotiateNever {
				t.Errorf("%s: %v", name, problems)
			}
			continue
		}
		if len(problems) != 1 || problems[0].Setting != "ca_cert_pem" || !strings.HasPrefix(problems[0].Err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, problems, test.want)
		}
	}
}

// A certificate and its key are judged one by one. With both, a service may ask for the certificate after the request.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	a, b := ca.Issue(t, "a"), ca.Issue(t, "b")
	type settings = transport.TLS
	encrypted := strings.ReplaceAll(a.KeyPEM, "PRIVATE KEY", "ENCRYPTED PRIVATE KEY")
	old := strings.Replace(a.KeyPEM, "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n", 1)
	for name, test := range map[string]struct {
		cert, key string
		want      []string
	}{
		"pair":           {a.CertPEM, a.KeyPEM, nil},
		"chain":          {"\ufeff" + a.CertPEM + ca.CertPEM, "\ufeff" + a.KeyPEM, nil},
		"one file":       {a.KeyPEM + a.CertPEM, a.CertPEM + a.KeyPEM, nil},
		"paths":          {"a.pem", "a.key", []string{"client_cert_pem contains no PEM block", "client_key_pem contains no PEM block"}},
		"path of a key":  {a.CertPEM, "a.key", []string{"client_key_pem contains no PEM block"}},
		"broken key":     {a.CertPEM, strings.Replace(a.KeyPEM, "M", "*", 1), []string{"client_key_pem contains a damaged PEM block, number 1"}},
		"no key":         {a.CertPEM, strings.Replace(a.KeyPEM, "MC", "AC", 1), []string{"client_key_pem does not make a client certificate with client_cert_pem: tls: failed to parse"}},
		"another key":    {a.CertPEM, b.KeyPEM, []string{"client_key_pem does not make a client certificate with client_cert_pem: tls: private key does not match"}},
		"certificates":   {a.CertPEM, a.CertPEM, []string{"client_key_pem contains no private key"}},
		"keys":           {a.KeyPEM, a.KeyPEM, []string{"client_cert_pem contains no certificate"}},
		"broken chain":   {a.CertPEM + strings.TrimSpace(ca.CertPEM) + b.CertPEM, a.KeyPEM, []string{"client_cert_pem contains a PEM block, number 3, that"}},
		"encrypted":      {a.CertPEM, encrypted, []string{"client_key_pem is encrypted. "}},
		"encrypted, old": {a.CertPEM, old, []string{"client_key_pem is encrypted. "}},
	} {
		config, problems := settings{ClientCertPEM: test.cert, ClientKeyPEM: test.key}.Config()
		var got []string
		for _, p := range problems {
			got = append(got, p.Setting+" "+p.Err.Error())
		}
		if len(got) != len(test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
			continue
		}
		for i, want := range test.want {
			if !strings.HasPrefix(got[i], want) || strings.Contains(got[i], a.KeyPEM[40:60]) {
				t.Errorf("%s: %q, want %q", name, got, test.want)
			}
		}
		if test.want == nil && (len(config.Certificates) != 1 || config.Renegotiation != tls.RenegotiateOnceAsClient) {
			t.Errorf("%s: %+v", name, config)
		}
	}
	if _, problems := (settings{CACertPEM: "x"}).Config(); !errors.Is(problems[0].Err, transport.ErrNoPEM) {
		t.Errorf("%v", problems)
	}
}

// The certificate is sent although its issuer is not among the authorities that the service lists.
func TestClientCertificateIsSent(t *testing.T) {
	t.Parallel()
	root, itself := streamstest.NewAuthority(t), streamstest.NewAuthority(t)
	for name, test := range map[string]struct {
		client streamstest.KeyPair
		listed []byte // a name
	}{
		"of a listed authority":  {root.Issue(t, "client"), subject(t, asn1.TagPrintableString)},
		"of an intermediate":     {root.NewIntermediate(t).Issue(t, "client"), subject(t, asn1.TagPrintableString)},
		"of itself":              {itself.KeyPair, subject(t, asn1.TagUTF8String)},
		"name in UTF-8":          {root.Issue(t, "client"), subject(t, asn1.TagUTF8String)},
		"name in another string": {root.Issue(t, "client"), subject(t, asn1.TagIA5String)},
	} {
		want := serverWith(t, test.client).Certificates[0].Leaf
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			for _, asks := range []tls.ClientAuthType{tls.RequestClientCert, tls.RequireAnyClientCert} {
				listed := x509.NewCertPool()
				listed.AddCert(&x509.Certificate{Raw: []byte{}, RawSubject: test.listed})
				server := &tls.Config{MaxVersion: version, ClientAuth: asks, ClientCAs: listed}
				s := StartTCPService(t, server, func(w http.ResponseWriter, r *http.Request) {
					if got := r.TLS.PeerCertificates; len(got) == 0 || !got[0].Equal(want) {
						t.Errorf("%s, %s: the service received %d certificates", name, tls.VersionName(version), len(got))
					}
					ApplyUpdate(w, r)
				})
				pair := transport.TLS{CACertPEM: s.CAPEM(), ClientCertPEM: test.client.CertPEM, ClientKeyPEM: test.client.KeyPEM}
				if _, err := s.Update(t, requests.Config{TLS: pair, DialContext: DialTCP}); err != nil {
					t.Errorf("%s, %s: %v", name, tls.VersionName(version), err)
				}
			}
		}
	}
}

// subject encodes the name of a private authority with a type of string.
func subject(t *testing.T, tag int) []byte {
	t.Helper()
	der, err := asn1.Marshal(pkix.RDNSequence{{{
		Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: asn1.RawValue{Tag: tag, Bytes: []byte("Private Authority")},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// With TLS 1.3, a client learns only after its request that the service rejects its certificate, and the service may have
// closed the connection before that. Each error has the alert, and the stream was not changed.
func TestClientIsRejectedAfterItsRequest(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	other, expired := streamstest.NewAuthority(t).Issue(t, "other"), ca.IssueExpired(t, "client")
	for alert, pair := range map[string]streamstest.KeyPair{
		"certificate required": {}, "unknown certificate authority": other, "expired certificate": expired,
	} {
		for _, protocol := range []string{"h2", "http/1.1"} {
			server := requireCertificateOf(ca, 0)
			server.NextProtos = []string{protocol}
			s := StartTCPService(t, server, ApplyUpdate)
			client := transport.TLS{CACertPEM: s.CAPEM(), ClientCertPEM: pair.CertPEM, ClientKeyPEM: pair.KeyPEM}
			for range 10 { // which side is faster is a matter of luck
				e := s.UpdateError(t, requests.Config{TLS: client, DialContext: DialTCP})
				WantFailed(t, e, streams.KindConnection, streams.NotChanged, 1)
				if streamstest.WantText(t, e.Reason, "remote error: tls: "+alert); errors.Is(e, transport.ErrNoCertificate) != (pair.CertPEM == "") {
					t.Errorf("%#v", e)
				}
			}
			s.WantRequests(t, 0)
		}
	}
}

// Over HTTP/2, requests share a connection from its beginning. A service that rejects the client has read none of them.
func TestClientIsRejectedAfterManyRequests(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	for range 10 {
		s := StartTCPService(t, requireCertificateOf(ca, 0), ApplyUpdate)
		c := NewClient(t, requests.Config{BaseURL: s.URL, TLS: transport.TLS{CACertPEM: s.CAPEM()}, DialContext: DialTCP})
		for _, err := range UpdateAll(t, c, 12) {
			if e := AsError(t, err); e.Outcome != streams.NotChanged || !errors.Is(e, transport.ErrNoCertificate) {
				t.Fatalf("%#v", e)
			}
		}
		s.WantRequests(t, 0)
	}
}

// A service that asks for a client certificate, gets none and ends the connection without an alert may require one.
func TestCertificateMayBeMissing(t *testing.T) {
	t.Parallel()
	for _, asks := range []tls.ClientAuthType{tls.NoClientCert, tls.RequestClientCert} {
		s := StartTCPService(t, &tls.Config{ClientAuth: asks, NextProtos: []string{"http/1.1"}}, ResetConnection)
		e := s.UpdateError(t, requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM()}, DialContext: DialTCP, Retry: requests.Retry{MaxAttempts: 1}})
		if WantFailed(t, e, streams.KindConnection, streams.Unknown, 1); errors.Is(e, transport.ErrNoCertificate) != (asks != tls.NoClientCert) {
			t.Errorf("%#v", e)
		}
	}
}

// A server may reject a client without a certificate only after the handshake. The error says so, unless the response has
// another reason.
func TestCertificateMayBeMissingAfterTheHandshake(t *testing.T) {
	t.Parallel()
	asking := func() *tls.Config { return &tls.Config{ClientAuth: tls.RequestClientCert} }
	for name, test := range map[string]struct {
		tls      *tls.Config
		response http.HandlerFunc
		want     bool
	}{
		"400 of nginx":       {asking(), Respond(400, "<html>No required SSL certificate was sent", "Content-Type", "text/html"), true},
		"496":                {asking(), Respond(496, ""), true},
		"401":                {asking(), RespondError(401, "who?"), true},
		"403":                {asking(), RespondError(403, "no"), true},
		"400 of the service": {asking(), RespondError(400, "no such processor"), false},
		"404":                {asking(), Respond(404, ""), false},
		"not asked":          {nil, Respond(400, ""), false},
	} {
		s := StartTLSService(t, test.tls, test.response)
		e := s.UpdateError(t, requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM()}})
		if errors.Is(e, transport.ErrNoCertificate) != test.want || strings.Contains(e.Reason, "none is set") != test.want || e.Status == 0 {
			t.Errorf("%s: %#v", name, e)
		}
	}
	s := StartTLSService(t, asking(), Respond(400, ""))
	pair := streamstest.NewAuthority(t).Issue(t, "client")
	e := s.UpdateError(t, requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM(), ClientCertPEM: pair.CertPEM, ClientKeyPEM: pair.KeyPEM}})
	if errors.Is(e, transport.ErrNoCertificate) {
		t.Errorf("%#v", e)
	}
}

// A service that does not know the host, or no version or cipher of Go, says so with an alert. The request was not sent.
func TestAlertsOfAHandshake(t *testing.T) {
	t.Parallel()
	unknownHost := func(err error) *tls.Config {
		return &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, err }}
	}
	for alert, config := range map[string]*tls.Config{
		"unrecognized name":              unknownHost(nil),
		"internal error":                 unknownHost(errors.New("x")),
		"protocol version not supported": {MaxVersion: tls.VersionTLS11},
		"handshake failure":              {MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}},
	} {
		s := NewService(t, ApplyUpdate)
		s.TLS = config
		s.StartTLS()
		if config.GetCertificate != nil {
			s.TLS.Certificates = nil
		}
		e := s.UpdateError(t, requests.Config{TLS: transport.TLS{CACertPEM: s.CAPEM()}})
		if WantFailed(t, e, streams.KindConnection, streams.NotChanged, 1); !transport.IsTLSFailure(e) {
			t.Errorf("%s: %#v", alert, e)
		}
		streamstest.WantText(t, e.Reason, "remote error: tls: "+alert)
	}
}

// requireCertificateOf returns the TLS configuration of a service that accepts the certificates of an authority.
func requireCertificateOf(ca *streamstest.Authority, maxVersion uint16) *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(ca.CertPEM))
	return &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MaxVersion: maxVersion}
}

// Each TLS setting works for the service and for the token endpoint, over HTTP/2.
func TestTLSAccepted(t *testing.T) {
	t.Parallel()
	ca, theirs := streamstest.NewAuthority(t), StartTLSService(t, nil).CAPEM() // which all services share
	client := ca.Issue(t, "client")
	pair := transport.TLS{CACertPEM: theirs, ClientCertPEM: client.CertPEM, ClientKeyPEM: client.KeyPEM}
	open, mutual := &tls.Config{}, requireCertificateOf(ca, 0)
	for name, test := range map[string]struct {
		server *tls.Config
		client transport.TLS
	}{
		"authority alone":             {open, transport.TLS{CACertPEM: theirs}},
		"one of several authorities":  {open, transport.TLS{CACertPEM: client.CertPEM + "\n# theirs\n" + theirs}},
		"server name":                 {open, transport.TLS{CACertPEM: theirs, ServerName: "example.com"}},
		"insecure, with another name": {open, transport.TLS{InsecureSkipVerify: true, ServerName: "other.example"}},
		"client certificate":          {mutual, pair},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint := StartTLSService(t, test.server.Clone(), IssueTokens(0))
			s := StartTLSService(t, test.server.Clone(), ApplyUpdate)
			cfg := requests.Config{TLS: test.client, OAuth2: &requests.OAuth2{TokenURL: endpoint.URL}}
			if _, err := s.Update(t, cfg); err != nil {
				t.Fatal(err)
			}
			for _, r := range append(s.Requests(), endpoint.Requests()...) {
				if r.Proto != "HTTP/2.0" {
					t.Errorf("%s %s went over %s", r.Method, r.Target, r.Proto)
				}
			}
		})
	}
}

// A TLS error is not retried, and the stream is not changed. A service without a TLS configuration speaks plain HTTP.
func TestTLSRefused(t *testing.T) {
	t.Parallel()
	ca, otherCA, theirs := streamstest.NewAuthority(t), streamstest.NewAuthority(t), StartTLSService(t, nil).CAPEM()
	other, expired := otherCA.Issue(t, "other"), ca.IssueExpired(t, "127.0.0.1")
	open, mutual, old := &tls.Config{}, requireCertificateOf(ca, tls.VersionTLS12), &tls.Config{MaxVersion: tls.VersionTLS11}
	expiredPair, _ := tls.X509KeyPair([]byte(expired.CertPEM), []byte(expired.KeyPEM))
	named := ca.Issue(t, "example.com")
	namedPair, _ := tls.X509KeyPair([]byte(named.CertPEM), []byte(named.KeyPEM))
	for reason, test := range map[string]struct {
		server *tls.Config
		client transport.TLS
		cause  any
	}{
		"x509: certificate signed by unknown authority": {open, transport.TLS{}, new(x509.UnknownAuthorityError)},
		"certificate signed by unknown authority":       {open, transport.TLS{CACertPEM: otherCA.CertPEM}, new(x509.UnknownAuthorityError)},
		"doesn't contain any IP SANs": {
			&tls.Config{Certificates: []tls.Certificate{namedPair}}, transport.TLS{CACertPEM: ca.CertPEM}, new(x509.HostnameError)},
		"certificate has expired": {
			&tls.Config{Certificates: []tls.Certificate{expiredPair}}, transport.TLS{CACertPEM: ca.CertPEM}, new(x509.CertificateInvalidError)},
		"remote error: tls": {mutual, transport.TLS{CACertPEM: theirs}, new(error)},
		"remote error: tls: ": {
			mutual, transport.TLS{CACertPEM: theirs, ClientCertPEM: other.CertPEM, ClientKeyPEM: other.KeyPEM}, new(error)},
		"remote error: tls: protocol version not supported": {old, transport.TLS{CACertPEM: theirs}, new(error)},
		"server gave HTTP response to HTTPS client":         {nil, transport.TLS{}, new(error)},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s, plain := NewService(t, ApplyUpdate), StartService(t, ApplyUpdate)
			if s.TLS = test.server.Clone(); s.TLS != nil {
				s.StartTLS()
			} else {
				s.Start()
				s.URL = strings.Replace(s.URL, "http", "https", 1)
			}
			cfg := requests.Config{TLS: test.client}
			asEndpoint := cfg
			asEndpoint.OAuth2 = &requests.OAuth2{TokenURL: s.URL}
			for _, e := range []*streams.Error{s.UpdateError(t, cfg), plain.UpdateError(t, asEndpoint)} {
				WantFailed(t, e, streams.KindConnection, streams.NotChanged, 1)
				if e.Status != 0 || !errors.As(e, test.cause) || !transport.IsTLSFailure(e) {
					t.Errorf("error %#v", e)
				}
				streamstest.WantText(t, e.Reason, reason)
			}
			s.WantRequests(t, 0)
			plain.WantRequests(t, 0)
		})
	}
}
