// Package config is the provider block: its schema, and what the block and its environment variables say.
package config

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Settings is what a provider block and its environment variables say.
type Settings struct {
	Client      streams.Config
	Deployment  string // the name in the state; "" if it is known after apply
	DetectDrift bool
	Complete    bool // nothing is known only after apply
}

// Read reads a provider block and its environment variables. It reports all problems at once.
func Read(ctx context.Context, block tfsdk.Config, getenv func(string) string) (Settings, diag.Diagnostics) {
	r := &reader{getenv: getenv}
	r.diags.Append(block.Get(ctx, &r.block)...)
	address, parsed := r.address("base_url", streams.ParseBaseURL)
	s := Settings{
		Deployment:  r.deployment(parsed),
		DetectDrift: r.detectDrift(),
		Client:      r.credentials(),
		Complete:    block.Raw.IsFullyKnown(),
	}
	s.Client.BaseURL = address
	s.Client.RequestTimeout = r.duration("request_timeout")
	s.Client.MaxConcurrent = r.count("max_concurrent_requests", 10_000) // each request may need a connection
	s.Client.RequestsPerSecond = r.rate("requests_per_second")
	s.Client.Retry = r.retry()
	return s, r.diags
}

// Validate returns the errors of [Read]. It accepts that only base_url is missing: terraform validate often runs
// without the environment variables.
func Validate(ctx context.Context, block tfsdk.Config, getenv func(string) string) diag.Diagnostics {
	_, diags := Read(ctx, block, getenv)
	problems := diags.Errors()
	if len(problems) == 1 && problems.Contains(missing("base_url")) {
		return nil
	}
	return problems
}

// address reads an address that is required. The URL is nil if the address is known after apply.
func (r *reader) address(name string, parse func(string) (*url.URL, error)) (string, *url.URL) {
	text := r.required(name)
	if text == "" {
		return "", nil
	}
	u, err := parse(text)
	switch {
	case err != nil:
		r.refuse(at(name), "%s.", err)
	case streams.SentInClear(u):
		r.diags.AddAttributeWarning(at(name), "Credentials Travel in Clear", r.origin(at(name))+" is an http:// address of "+
			"another machine. Anyone between Terraform and that machine can read the credentials and change the requests. "+
			"Use https:// if the service offers it.")
	}
	return text, u
}

var deploymentName = regexp.MustCompile(`^[^\p{Z}\p{Cc}]{0,200}$`)

func (r *reader) deployment(address *url.URL) string {
	name := r.text("deployment")
	if !deploymentName.MatchString(name) {
		r.refuse(at("deployment"), "must have at most 200 characters, and no white space or control characters.")
	}
	if name == "" && address != nil && !r.value("deployment").IsUnknown() {
		return streams.NormalURL(address)
	}
	return name
}

func (r *reader) detectDrift() bool {
	v, _ := r.value("detect_drift").(types.Bool)
	text, _ := r.environment("detect_drift")
	if text == "" {
		return v.ValueBool()
	}
	if text != "true" && text != "false" { // no other spelling, because the error names these two
		r.refuse(at("detect_drift"), `must be "true" or "false".`)
	}
	return text == "true"
}

func (r *reader) tls() streams.TLS {
	insecure, _ := r.value("tls.insecure_skip_verify").(types.Bool)
	t := streams.TLS{
		CACertPEM:          r.text("tls.ca_cert_pem"),
		ClientCertPEM:      r.text("tls.client_cert_pem"),
		ClientKeyPEM:       r.text("tls.client_key_pem"),
		ServerName:         r.text("tls.server_name"),
		InsecureSkipVerify: insecure.ValueBool(),
	}
	if _, err := (streams.TLS{CACertPEM: t.CACertPEM}).Config(); err != nil {
		r.refuse(at("tls.ca_cert_pem"), "%s.%s", err, r.fileAdvice("tls.ca_cert_pem"))
	}
	switch {
	case t.ClientCertPEM != "" && t.ClientKeyPEM != "":
		if _, err := (streams.TLS{ClientCertPEM: t.ClientCertPEM, ClientKeyPEM: t.ClientKeyPEM}).Config(); err != nil {
			r.refuse(at("tls.client_cert_pem"), "and client_key_pem do not make a client certificate: %s.%s", err,
				cmp.Or(r.fileAdvice("tls.client_cert_pem"), r.fileAdvice("tls.client_key_pem")))
		}
	case t.ClientCertPEM != "" && r.value("tls.client_key_pem").IsNull():
		r.refuse(at("tls.client_key_pem"), "is missing: a client certificate needs its private key. %s", howToSet("tls.client_key_pem"))
	case t.ClientKeyPEM != "" && r.value("tls.client_cert_pem").IsNull():
		r.refuse(at("tls.client_cert_pem"), "is missing: a private key needs its certificate. %s", howToSet("tls.client_cert_pem"))
	}
	if t.InsecureSkipVerify {
		r.diags.AddAttributeWarning(at("tls.insecure_skip_verify"), "Certificates Are Not Verified", "Anyone between "+
			"Terraform and the service can read the credentials and change the requests. To trust a private authority, "+
			"set ca_cert_pem instead.")
	}
	return t
}

// fileAdvice is a hint for one line where PEM is expected: perhaps the path of a file, or a key, which must not be quoted.
func (r *reader) fileAdvice(name string) string {
	if strings.ContainsAny(strings.TrimSpace(r.text(name)), "\r\n") {
		return ""
	}
	if _, variable := r.environment(name); variable != "" {
		return " If it is the path of a file, set " + variable + " to the content of the file."
	}
	return ` If it is the path of a file, use file("…").`
}

func (r *reader) retry() streams.Retry {
	shortest, longest, standard := r.duration("retry.min_backoff"), r.duration("retry.max_backoff"), streams.DefaultRetry
	if longest != 0 && shortest > longest {
		r.refuse(at("retry.max_backoff"), "must not be shorter than min_backoff.")
	}
	return streams.Retry{
		MaxAttempts: cmp.Or(r.count("retry.max_attempts", 1_000_000), standard.MaxAttempts),
		// A user who sets one bound need not know the default of the other.
		MinBackoff: cmp.Or(shortest, min(standard.MinBackoff, cmp.Or(longest, standard.MinBackoff))),
		MaxBackoff: cmp.Or(longest, max(standard.MaxBackoff, shortest)),
	}
}
