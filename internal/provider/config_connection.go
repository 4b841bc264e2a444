package provider

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func (o object) readBaseURL() {
	text := o.requiredText("base_url")
	o.client.BaseURL = text
	o.missingBaseURL = text == "" && !o.isSet("base_url")
	if u := o.checkAddress(o.at("base_url"), text, streams.ParseBaseURL); u != nil {
		o.deployment = streams.NormalURL(u)
	}
}

// checkAddress refuses what parse refuses, and warns if requests can be read on their way. It returns nil if there is no
// text, or it was refused.
func (s *settings) checkAddress(at path.Path, text string, parse func(string) (*url.URL, error)) *url.URL {
	if text == "" {
		return nil
	}
	u, err := parse(text)
	switch {
	case err != nil:
		s.refuse(at, "%s.", err)
	case streams.SentInClear(u):
		s.diags.Append(sentInClearWarning(at, s.variables[at.String()]))
	}
	return u
}

func (o object) readTLS() {
	tls := o.nested("tls")
	t := streams.TLS{
		CACertPEM:          tls.text("ca_cert_pem"),
		ClientCertPEM:      tls.text("client_cert_pem"),
		ClientKeyPEM:       tls.text("client_key_pem"),
		ServerName:         tls.text("server_name"),
		InsecureSkipVerify: attribute[types.Bool](tls, "insecure_skip_verify").ValueBool(),
	}
	o.client.TLS = t
	if err := (streams.TLS{CACertPEM: t.CACertPEM}).Check(); err != nil {
		o.refuse(tls.at("ca_cert_pem"), "%s.%s", err, fileAdvice(t.CACertPEM))
	}
	switch {
	case t.ClientCertPEM != "" && t.ClientKeyPEM != "":
		o.credentials = append(o.credentials, "a client certificate")
		if err := (streams.TLS{ClientCertPEM: t.ClientCertPEM, ClientKeyPEM: t.ClientKeyPEM}).Check(); err != nil {
			o.refuse(tls.at("client_cert_pem"), "and client_key_pem do not make a client certificate: %s.%s", err,
				cmp.Or(fileAdvice(t.ClientCertPEM), fileAdvice(t.ClientKeyPEM)))
		}
	case t.ClientCertPEM != "" && !tls.isSet("client_key_pem"):
		o.refuse(tls.at("client_key_pem"), "is missing: a client certificate needs its private key.")
	case t.ClientKeyPEM != "" && !tls.isSet("client_cert_pem"):
		o.refuse(tls.at("client_cert_pem"), "is missing: a private key needs its certificate.")
	}
	if t.InsecureSkipVerify {
		o.diags.Append(notVerifiedWarning(tls.at("insecure_skip_verify")))
	}
}

// fileAdvice is a hint for a text of one line where PEM is expected: it may be the path of a file. It does
// not quote the text, which may be a key.
func fileAdvice(text string) string {
	if strings.ContainsAny(strings.TrimSpace(text), "\r\n") {
		return ""
	}
	return ` If it is the path of a file, use file("…").`
}

func (o object) readLimits() {
	o.client.RequestTimeout = o.duration("request_timeout")
	o.client.MaxConcurrent = o.count("max_concurrent_requests", 10_000) // each request may need a connection
	rate := attribute[types.Float64](o, "requests_per_second")
	o.client.RequestsPerSecond = rate.ValueFloat64()
	if known(rate) && rate.ValueFloat64() <= 0 {
		o.refuse(o.at("requests_per_second"), "must be more than 0. Leave it out for no limit.")
	}
}

func (o object) readRetry() {
	retry, standard := o.nested("retry"), streams.DefaultRetry
	shortest, longest := retry.duration("min_backoff"), retry.duration("max_backoff")
	if longest != 0 && shortest > longest {
		o.refuse(retry.at("max_backoff"), "must not be shorter than min_backoff.")
	}
	o.client.Retry = streams.Retry{
		MaxAttempts: cmp.Or(retry.count("max_attempts", 1_000_000), standard.MaxAttempts),
		// A user who sets one bound need not know the default of the other.
		MinBackoff: cmp.Or(shortest, min(standard.MinBackoff, cmp.Or(longest, standard.MinBackoff))),
		MaxBackoff: cmp.Or(longest, max(standard.MaxBackoff, shortest)),
	}
}
