// Package config is the provider block: its schema, and what the block and its environment variables say.
package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"golang.org/x/text/unicode/norm"

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
	address := r.address("base_url", streams.ParseBaseURL)
	s := Settings{
		Deployment:  r.deployment(address),
		DetectDrift: r.detectDrift(),
		Client:      r.credentials(),
		Complete:    block.Raw.IsFullyKnown(),
	}
	s.Client.BaseURL = address
	s.Client.UserAgent = r.userAgent()
	r.checkProxies()
	s.Client.RequestTimeout = r.duration("request_timeout")
	s.Client.MaxConcurrent = r.count("max_concurrent_requests", 10_000) // each request may need a connection
	s.Client.RequestsPerSecond = r.number("requests_per_second", "must be more than 0", func(n float64) bool { return n > 0 })
	s.Client.Retry = r.retry()
	return s, r.diags
}

// Validate returns the errors of [Read]. It accepts that only base_url is missing: terraform validate often runs
// without the environment variables.
func Validate(ctx context.Context, block tfsdk.Config, getenv func(string) string) diag.Diagnostics {
	_, diags := Read(ctx, block, getenv)
	if problems := diags.Errors(); len(problems) != 1 || !problems.Contains(missing("base_url", "")) {
		return problems
	}
	return nil
}

// address reads an address that is required.
func (r *reader) address(name string, parse func(string) (*url.URL, error)) string {
	text := norm.NFC.String(r.required(name)) // in which Terraform passes what the provider block says
	u, err := parse(text)
	switch {
	case text == "": // missing, or known after apply
	case err != nil:
		r.refuse(at(name), "%s.", err)
	case streams.SentInClear(u):
		r.diags.AddAttributeWarning(at(name), "Credentials Are Sent in Cleartext", r.origin(at(name))+" is an http:// address of "+
			"another machine. Anyone between Terraform and that machine can read the credentials and change the requests. "+
			"Use https:// if the service offers it.")
	}
	return text
}

var deploymentName = regexp.MustCompile(`^\PZ{0,200}$`)

func (r *reader) deployment(address string) string {
	name := norm.NFC.String(r.text("deployment")) // as in the state
	if !deploymentName.MatchString(name) {
		r.refuse(at("deployment"), "must have at most 200 characters, and no white space.")
	}
	base, err := streams.ParseBaseURL(address)
	if name == "" && err == nil && !r.value("deployment").IsUnknown() {
		return streams.NormalURL(base)
	}
	return name
}

func (r *reader) detectDrift() bool {
	text, _ := r.environment("detect_drift")
	if text != "" && text != "true" && text != "false" { // no other spelling, because the error names these two
		r.refuse(at("detect_drift"), `must be "true" or "false".`)
	}
	v, _ := r.value("detect_drift").(types.Bool)
	return v.ValueBool() || text == "true"
}

func (r *reader) tls() streams.TLS {
	insecure, _ := r.value("tls.insecure_skip_verify").(types.Bool)
	t := streams.TLS{
		CACertPEM:          r.lines("tls.ca_cert_pem"),
		ClientCertPEM:      r.lines("tls.client_cert_pem"),
		ClientKeyPEM:       r.lines("tls.client_key_pem"),
		ServerName:         r.text("tls.server_name"),
		InsecureSkipVerify: insecure.ValueBool(),
	}
	checked := t
	if t.ClientCertPEM == "" || t.ClientKeyPEM == "" { // missing, or known after apply
		checked.ClientCertPEM, checked.ClientKeyPEM = "", ""
	}
	switch {
	case t.ClientCertPEM != "" && !r.isSet("tls.client_key_pem"):
		r.diags.Append(missing("tls.client_key_pem", " A client certificate needs its key."))
	case t.ClientKeyPEM != "" && !r.isSet("tls.client_cert_pem"):
		r.diags.Append(missing("tls.client_cert_pem", " A key needs its client certificate."))
	}
	_, problems := checked.Config()
	for _, problem := range problems {
		advice := ""
		if errors.Is(problem.Err, streams.ErrNoPEM) {
			advice = ` Set it to the content of the file, in Terraform with file("…"), not to the path.`
		}
		r.refuse(at("tls."+problem.Setting), "%s.%s", problem.Err, advice)
	}
	if t.InsecureSkipVerify {
		r.diags.AddAttributeWarning(at("tls.insecure_skip_verify"), "Certificates Are Not Verified", "Anyone between "+
			"Terraform and the service can read the credentials and change the requests. To trust a private authority, "+
			"set ca_cert_pem instead.")
	}
	return t
}

func (r *reader) retry() streams.Retry {
	shortest, longest, standard := r.duration("retry.min_backoff"), r.duration("retry.max_backoff"), streams.DefaultRetry
	if longest != 0 && shortest > longest {
		r.refuse(at("retry.max_backoff"), "must not be shorter than min_backoff.")
	}
	return streams.Retry{
		MaxAttempts: r.count("retry.max_attempts", 1_000_000),
		// A user who sets one bound need not know the default of the other.
		MinBackoff: cmp.Or(shortest, min(standard.MinBackoff, cmp.Or(longest, standard.MinBackoff))),
		MaxBackoff: cmp.Or(longest, max(standard.MaxBackoff, shortest)),
	}
}

var environmentVariables = map[string]string{
	"base_url":                     "STREAM_BASE_URL",
	"deployment":                   "STREAM_DEPLOYMENT",
	"detect_drift":                 "STREAM_DETECT_DRIFT",
	"token":                        "STREAM_TOKEN",
	"token_file":                   "STREAM_TOKEN_FILE",
	"basic_auth.username":          "STREAM_USERNAME",
	"basic_auth.password":          "STREAM_PASSWORD",
	"oauth2.token_url":             "STREAM_OAUTH2_TOKEN_URL",
	"oauth2.client_id":             "STREAM_OAUTH2_CLIENT_ID",
	"oauth2.client_secret":         "STREAM_OAUTH2_CLIENT_SECRET",
	"oauth2.client_assertion":      "STREAM_OAUTH2_CLIENT_ASSERTION",
	"oauth2.client_assertion_file": "STREAM_OAUTH2_CLIENT_ASSERTION_FILE",
	"headers":                      "STREAM_HEADERS",
	"tls.ca_cert_pem":              "STREAM_TLS_CA_CERT_PEM",
	"tls.client_cert_pem":          "STREAM_TLS_CLIENT_CERT_PEM",
	"tls.client_key_pem":           "STREAM_TLS_CLIENT_KEY_PEM",
}

// Invalid is the summary of all errors of the configuration.
const Invalid = "Invalid Provider Configuration"

// reader reads attributes by name, such as "token" or "tls.server_name", and collects their problems.
type reader struct {
	block  types.Object
	getenv func(string) string
	diags  diag.Diagnostics
}

// value returns an attribute of the provider block. In an object that is null or known after apply, it is the same.
func (r *reader) value(name string) attr.Value {
	var v attr.Value = r.block
	for step := range strings.SplitSeq(name, ".") {
		object, _ := v.(types.Object)
		if object.IsUnknown() {
			return types.StringUnknown()
		}
		v = object.Attributes()[step]
	}
	if v == nil {
		return types.StringNull()
	}
	return v
}

// environment returns text and name of the environment variable that the provider block leaves an attribute to, or nothing.
func (r *reader) environment(name string) (text, variable string) {
	if !r.value(name).IsNull() {
		return "", ""
	}
	variable = environmentVariables[name]
	if name == "oauth2.client_assertion" && r.getenv(variable) == "" {
		variable = "TFC_WORKLOAD_IDENTITY_TOKEN_STREAM" // where HCP Terraform puts a token for a run
	}
	text = r.getenv(variable)
	if strings.HasSuffix(variable, "_URL") {
		text = strings.TrimSpace(text) // such as the line break of a file
	}
	if text == "" {
		return "", ""
	}
	return r.decoded(at(name), text, variable), variable
}

// decoded returns the value of an environment variable, or "" if it is refused. Each value comes through here. It is not put
// into NFC, because credentials and paths are bytes; what a state has is.
func (r *reader) decoded(at path.Path, text, variable string) string {
	if utf8.ValidString(text) {
		return text
	}
	r.diags.AddAttributeError(at, Invalid, fmt.Sprintf("The environment variable %s is not UTF-8 text.", variable))
	return ""
}

// isSet reports whether an attribute has a value in the provider block or the environment. It may be known after apply.
func (r *reader) isSet(name string) bool {
	_, variable := r.environment(name)
	return variable != "" || !r.value(name).IsNull()
}

// text returns "" for a value that is null, known after apply or refused.
func (r *reader) text(name string) string { return r.checked(at(name), r.lines(name)) }

// lines is like text for a value of several lines, such as PEM.
func (r *reader) lines(name string) string {
	v, _ := r.value(name).(types.String)
	if v.Equal(types.StringValue("")) {
		r.refuse(at(name), "must not be empty. Leave it out, or set it to null, if it is not needed.")
	}
	text, _ := r.environment(name)
	return cmp.Or(v.ValueString(), text)
}

// checked returns a text, or "" if it is refused. Secrets often come from files, with what these have at their ends.
func (r *reader) checked(at path.Path, text string) string {
	switch {
	case strings.TrimSpace(text) != text:
		r.refuse(at, "must not begin or end with white space, such as the line break of a file. In Terraform, trimspace() "+
			"removes it.")
	case strings.ContainsFunc(text, unicode.IsControl):
		r.refuse(at, "must not have control characters.")
	case strings.Contains(text, "\ufeff"):
		r.refuse(at, "must not have a byte order mark (U+FEFF), with which some editors begin a file.")
	default:
		return text
	}
	return ""
}

func (r *reader) required(name string) string {
	if !r.isSet(name) {
		r.diags.Append(missing(name, ""))
	}
	return r.text(name)
}

func missing(name, alternative string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at(name), Invalid, name+" is missing. Set it in the provider block, or set the "+
		"environment variable "+environmentVariables[name]+"."+alternative)
}

// duration returns 0 for a value that is null, known after apply or refused.
func (r *reader) duration(name string) time.Duration {
	text := r.text(name)
	d, err := time.ParseDuration(text)
	if text != "" && (err != nil || d <= 0) {
		r.refuse(at(name), `must be a duration above zero, such as "500ms", "30s" or "1m30s"; it is %q.`, text)
	}
	return max(d, 0)
}

// count returns 0 for a value that is null or known after apply.
func (r *reader) count(name string, most float64) int {
	rule := fmt.Sprintf("must be a whole number from 1 to %.0f", most)
	n := r.number(name, rule, func(n float64) bool { return n == math.Trunc(n) && n >= 1 && n <= most })
	return int(n)
}

// number is like count. The schema has no integers, because the framework calls a fraction an error of the provider.
func (r *reader) number(name, rule string, valid func(float64) bool) float64 {
	v, _ := r.value(name).(types.Number)
	if v.IsNull() || v.IsUnknown() {
		return 0
	}
	n, _ := v.ValueBigFloat().Float64()
	switch {
	case math.IsInf(n, 0), n == 0 && v.ValueBigFloat().Sign() != 0:
		r.refuse(at(name), "is too large or too close to 0; it is %s.", v)
	case !valid(n):
		r.refuse(at(name), "%s; it is %s.", rule, v)
	}
	return n
}

// element returns an element of a collection, or "" if it is known after apply or refused.
func (r *reader) element(at path.Path, v attr.Value) string {
	if v.IsNull() {
		r.refuse(at, "must not be null.")
	}
	text, _ := v.(types.String) // the schema has no other elements
	return r.checked(at, text.ValueString())
}

// proxyVariables are the environment variables of proxies. Of each pair, the first one that is set counts.
var proxyVariables = [][2]string{{"HTTPS_PROXY", "https_proxy"}, {"HTTP_PROXY", "http_proxy"}}

func (r *reader) checkProxies() {
	for _, pair := range proxyVariables {
		variable := pair[0]
		if r.getenv(variable) == "" {
			variable = pair[1]
		}
		address := r.decoded(path.Empty(), r.getenv(variable), variable)
		if _, err := streams.ParseProxy(address); address != "" && err != nil {
			r.diags.AddError(Invalid, fmt.Sprintf("The environment variable %s %s.", variable, err))
		}
	}
}

// userAgent returns what the environment adds to the User-Agent header.
func (r *reader) userAgent() string {
	const variable = "TF_APPEND_USER_AGENT"
	added := strings.TrimSpace(r.decoded(path.Empty(), r.getenv(variable), variable))
	if err := streams.CheckHeader("User-Agent", added); err != nil {
		r.diags.AddError(Invalid, fmt.Sprintf("The environment variable %s %s.", variable, err))
	}
	return added
}

func at(name string) path.Path {
	at := path.Empty()
	for step := range strings.SplitSeq(name, ".") {
		at = at.AtName(step)
	}
	return at
}

func (r *reader) refuse(at path.Path, format string, args ...any) {
	r.diags.AddAttributeError(at, Invalid, r.origin(at)+" "+fmt.Sprintf(format, args...))
}

// origin names the attribute, of which Terraform shows no line if it is nested, and the environment variable of a value.
func (r *reader) origin(at path.Path) string {
	name, _, _ := strings.Cut(at.String(), "[") // an element has the variable of its collection
	if _, variable := r.environment(name); variable != "" {
		return fmt.Sprintf("The environment variable %s (%s)", variable, at)
	}
	return at.String()
}
