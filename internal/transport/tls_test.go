package transport_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// A certificate and its key are judged one by one. With both, a service may ask for the certificate after the request.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	a, b := ca.Issue(t, "a"), ca.Issue(t, "b")
	const noPair = "client_key_pem does not make a client certificate with client_cert_pem: tls: "
	type settings = transport.TLS
	encrypted := strings.ReplaceAll(a.KeyPEM, "PRIVATE KEY", "ENCRYPTED PRIVATE KEY")
	old := strings.Replace(a.KeyPEM, "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n", 1)
	for name, test := range map[string]struct {
		cert, key string
		want      []string
	}{
		"pair":          {a.CertPEM, a.KeyPEM, nil},
		"chain":         {"\ufeff" + a.CertPEM + ca.CertPEM, "\ufeff" + a.KeyPEM, nil},
		"one file":      {a.KeyPEM + a.CertPEM, a.CertPEM + a.KeyPEM, nil},
		"parameters":    {"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n" + a.KeyPEM + a.CertPEM, a.KeyPEM, nil},
		"paths":         {"a.pem", "a.key", []string{"client_cert_pem contains no PEM block", "client_key_pem contains no PEM block"}},
		"path of a key": {a.CertPEM, "a.key", []string{"client_key_pem contains no PEM block"}},
		"broken key":    {a.CertPEM, strings.Replace(a.KeyPEM, "M", "*", 1), []string{"client_key_pem contains a damaged PEM block, number 1"}},
		"no key":        {a.CertPEM, strings.Replace(a.KeyPEM, "MC", "AC", 1), []string{noPair + "failed to parse"}},
		"another key":   {a.CertPEM, b.KeyPEM, []string{noPair + "private key does not match"}},
		"certificates":  {a.CertPEM, a.CertPEM, []string{"client_key_pem contains no private key"}},
		"keys":          {a.KeyPEM, a.KeyPEM, []string{"client_cert_pem contains no certificate"}},
		"broken chain": {a.CertPEM + strings.TrimSpace(ca.CertPEM) + b.CertPEM, a.KeyPEM,
			[]string{"client_cert_pem contains a damaged PEM block, number 2"}},
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
		"first record does not look like a TLS handshake":   {nil, transport.TLS{}, new(error)},
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
