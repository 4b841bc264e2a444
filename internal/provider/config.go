package provider

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// providerModel is the provider block. Nested objects are types.Object, because each of them may be
// unknown while a plan is made.
type providerModel struct {
	BaseURL           types.String  `tfsdk:"base_url"`
	Token             types.String  `tfsdk:"token"`
	BasicAuth         types.Object  `tfsdk:"basic_auth"`
	OAuth2            types.Object  `tfsdk:"oauth2"`
	Headers           types.Map     `tfsdk:"headers"`
	TLS               types.Object  `tfsdk:"tls"`
	RequestTimeout    types.String  `tfsdk:"request_timeout"`
	Retry             types.Object  `tfsdk:"retry"`
	RequestsPerSecond types.Float64 `tfsdk:"requests_per_second"`
	DetectDrift       types.Bool    `tfsdk:"detect_drift"`
}

const invalidConfiguration = "Invalid Provider Configuration"

var missingBaseURL = diag.NewAttributeErrorDiagnostic(path.Root("base_url"), invalidConfiguration,
	"The address of the service is missing. Set base_url in the provider block, or the environment variable "+
		`STREAM_BASE_URL, to an address such as "https://streams.example.com".`)

// settings is a provider block and its environment, read. All that is wrong with them is in diags.
type settings struct {
	client      streams.Config
	detectDrift bool
	noBaseURL   bool
	unknown     bool // something is not known yet
	diags       diag.Diagnostics

	getenv func(string) string
}

// readSettings reads everything before anything is reported, so that nobody mends one mistake a run.
func readSettings(m providerModel, getenv func(string) string) *settings {
	s := &settings{getenv: getenv}
	s.readBaseURL(m.BaseURL)
	s.readHeaders(m.Headers)
	s.readCredentials(m)
	s.readTLS(m.TLS)
	s.client.RequestTimeout = s.duration(path.Root("request_timeout"), m.RequestTimeout)
	s.readRetry(m.Retry)
	s.readRate(m.RequestsPerSecond)
	s.readDetectDrift(m.DetectDrift)
	return s
}

func (s *settings) readBaseURL(v types.String) {
	at := path.Root("base_url")
	text, ok := s.text(at, v, "STREAM_BASE_URL")
	s.noBaseURL = ok && text == ""
	if text != "" {
		s.address(at, text, streams.ParseBaseURL)
		s.client.BaseURL = text
	}
}

// address checks an address, and warns where it gives away what is sent to it.
func (s *settings) address(at path.Path, text string, parse func(string) (*url.URL, error)) {
	u, err := parse(text)
	switch {
	case err != nil:
		s.refuse(at, "%s.", err)
	case streams.SentInClear(u):
		s.diags.AddAttributeWarning(at, "Credentials Travel in Clear", fmt.Sprintf(
			"%s is an http:// address of another machine: whoever is on the way can read the credentials and "+
				"change what is sent. Use https:// if the service offers it.", at))
	}
}

func (s *settings) readHeaders(v types.Map) {
	s.unknown = s.unknown || v.IsUnknown()
	s.client.Headers = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(v.Elements())) {
		at := path.Root("headers").AtMapKey(name)
		value := s.element(at, v.Elements()[name])
		if err := streams.CheckHeader(name, value); err != nil {
			s.refuse(at, "%s.", err)
		} else if strings.TrimSpace(value) != value {
			s.refuse(at, "must not have surrounding white space. If it comes from a file, use trimspace().")
		} else if other, twice := s.header(name); twice {
			s.refuse(at, "is the same header as %q.", other)
		}
		s.client.Headers[name] = value
	}
}

// header finds the configured spelling of a header's name; case does not matter in it.
func (s *settings) header(name string) (string, bool) {
	for other := range s.client.Headers {
		if strings.EqualFold(other, name) {
			return other, true
		}
	}
	return "", false
}

// readCredentials finds the one scheme in use: that of the configuration, or else of the environment.
func (s *settings) readCredentials(m providerModel) {
	type scheme struct {
		name      string
		value     attr.Value
		read      func()
		variables []string
	}
	var configured, inEnvironment []scheme
	for _, c := range []scheme{
		{"token", m.Token, func() { s.readToken(m.Token) }, []string{"STREAM_TOKEN"}},
		{"basic_auth", m.BasicAuth, func() { s.readBasicAuth(m.BasicAuth) }, []string{"STREAM_USERNAME", "STREAM_PASSWORD"}},
		{"oauth2", m.OAuth2, func() { s.readOAuth2(m.OAuth2) },
			[]string{"STREAM_OAUTH2_TOKEN_URL", "STREAM_OAUTH2_CLIENT_ID", "STREAM_OAUTH2_CLIENT_SECRET"}},
	} {
		if !c.value.IsNull() {
			configured = append(configured, c)
		}
		c.variables = slices.DeleteFunc(c.variables, func(name string) bool { return s.getenv(name) == "" })
		if len(c.variables) > 0 {
			inEnvironment = append(inEnvironment, c)
		}
	}

	header, byHeader := s.header("Authorization")
	for i, c := range configured {
		if byHeader {
			s.refuse(path.Root("headers").AtMapKey(header),
				"and %s are two ways to authenticate, and a request carries one.", c.name)
		}
		if i > 0 {
			s.refuse(path.Root(c.name), "and %s are two ways to authenticate, and a request carries one.", configured[0].name)
		}
		c.read()
	}
	// Headers that are not known yet may hold one: then the environment does not matter.
	if byHeader || m.Headers.IsUnknown() || len(configured) > 0 || len(inEnvironment) == 0 {
		return
	}
	for _, c := range inEnvironment[1:] {
		s.diags.AddError(invalidConfiguration, fmt.Sprintf(
			"The environment holds two ways to authenticate, %s (%s) and %s (%s), and a request carries one. "+
				"Unset one of them, or choose in the provider block.",
			inEnvironment[0].name, strings.Join(inEnvironment[0].variables, ", "), c.name, strings.Join(c.variables, ", ")))
	}
	inEnvironment[0].read()
}

func (s *settings) readToken(v types.String) {
	at := path.Root("token")
	s.client.Token, _ = s.text(at, v, "STREAM_TOKEN")
	if err := streams.CheckHeader("Authorization", s.client.Token); err != nil || strings.TrimSpace(s.client.Token) != s.client.Token {
		s.refuse(at, "must not hold line breaks or surrounding white space. If it comes from a file, use trimspace().")
	}
}

func (s *settings) readBasicAuth(v types.Object) {
	if s.unknown = s.unknown || v.IsUnknown(); v.IsUnknown() {
		return
	}
	at := path.Root("basic_auth")
	s.client.BasicAuth = &streams.BasicAuth{
		Username: s.required(at.AtName("username"), member[types.String](v, "username"), "STREAM_USERNAME"),
		Password: s.required(at.AtName("password"), member[types.String](v, "password"), "STREAM_PASSWORD"),
	}
	if strings.Contains(s.client.BasicAuth.Username, ":") {
		s.refuse(at.AtName("username"), "must not hold a colon, which HTTP Basic authentication cannot carry.")
	}
}

func (s *settings) readOAuth2(v types.Object) {
	if s.unknown = s.unknown || v.IsUnknown(); v.IsUnknown() {
		return
	}
	at := path.Root("oauth2")
	a := &streams.OAuth2{
		TokenURL:       s.required(at.AtName("token_url"), member[types.String](v, "token_url"), "STREAM_OAUTH2_TOKEN_URL"),
		ClientID:       s.required(at.AtName("client_id"), member[types.String](v, "client_id"), "STREAM_OAUTH2_CLIENT_ID"),
		ClientSecret:   s.required(at.AtName("client_secret"), member[types.String](v, "client_secret"), "STREAM_OAUTH2_CLIENT_SECRET"),
		EndpointParams: map[string]string{},
	}
	if a.TokenURL != "" {
		s.address(at.AtName("token_url"), a.TokenURL, streams.ParseTokenURL)
	}
	scopes := member[types.List](v, "scopes")
	for i, scope := range scopes.Elements() {
		a.Scopes = append(a.Scopes, s.element(at.AtName("scopes").AtListIndex(i), scope))
	}
	params := member[types.Map](v, "endpoint_params")
	for _, name := range slices.Sorted(maps.Keys(params.Elements())) {
		at := at.AtName("endpoint_params").AtMapKey(name)
		if name == "client_id" || name == "client_secret" || name == "scope" {
			s.refuse(at, "has an attribute of its own in oauth2.")
		}
		a.EndpointParams[name] = s.element(at, params.Elements()[name])
	}
	s.unknown = s.unknown || scopes.IsUnknown() || params.IsUnknown()
	s.client.OAuth2 = a
}

func (s *settings) readTLS(v types.Object) {
	if s.unknown = s.unknown || v.IsUnknown(); v.IsUnknown() {
		return
	}
	at := path.Root("tls")
	t := &s.client.TLS
	t.CACertPEM, _ = s.text(at.AtName("ca_cert_pem"), member[types.String](v, "ca_cert_pem"), "")
	t.ServerName, _ = s.text(at.AtName("server_name"), member[types.String](v, "server_name"), "")
	if t.CACertPEM != "" {
		if err := streams.CheckCACert(t.CACertPEM); err != nil {
			s.refuse(at.AtName("ca_cert_pem"), "%s.", err)
		}
	}

	var certificateKnown, keyKnown bool
	t.ClientCertPEM, certificateKnown = s.text(at.AtName("client_cert_pem"), member[types.String](v, "client_cert_pem"), "")
	t.ClientKeyPEM, keyKnown = s.text(at.AtName("client_key_pem"), member[types.String](v, "client_key_pem"), "")
	switch bothKnown := certificateKnown && keyKnown; {
	case !bothKnown || t.ClientCertPEM == "" && t.ClientKeyPEM == "":
	case t.ClientKeyPEM == "":
		s.refuse(at.AtName("client_key_pem"), "is missing: a client certificate needs its private key.")
	case t.ClientCertPEM == "":
		s.refuse(at.AtName("client_cert_pem"), "is missing: a private key needs its certificate.")
	default:
		if err := streams.CheckKeyPair(t.ClientCertPEM, t.ClientKeyPEM); err != nil {
			s.refuse(at.AtName("client_cert_pem"), "and client_key_pem do not make a client certificate: %s.", err)
		}
	}

	insecure := member[types.Bool](v, "insecure_skip_verify")
	s.unknown = s.unknown || insecure.IsUnknown()
	if t.InsecureSkipVerify = insecure.ValueBool(); t.InsecureSkipVerify {
		s.diags.AddAttributeWarning(at.AtName("insecure_skip_verify"), "Certificates Are Not Verified",
			"Whoever sits between Terraform and the service can read the credentials and change what is sent. "+
				"To trust a private authority, set ca_cert_pem instead.")
	}
}

func (s *settings) readRetry(v types.Object) {
	if s.unknown = s.unknown || v.IsUnknown(); v.IsUnknown() {
		return
	}
	at := path.Root("retry")
	r := &s.client.Retry
	r.MaxAttempts = streams.DefaultRetry.MaxAttempts
	attempts := member[types.Int64](v, "max_attempts")
	s.unknown = s.unknown || attempts.IsUnknown()
	if n := attempts.ValueInt64(); !attempts.IsNull() && !attempts.IsUnknown() {
		if n < 1 {
			s.refuse(at.AtName("max_attempts"), "must be at least 1, which means no retry; it is %d.", n)
		}
		r.MaxAttempts = int(min(n, math.MaxInt32))
	}

	shortest := s.duration(at.AtName("min_backoff"), member[types.String](v, "min_backoff"))
	longest := s.duration(at.AtName("max_backoff"), member[types.String](v, "max_backoff"))
	if longest != 0 && shortest > longest {
		s.refuse(at.AtName("max_backoff"), "must not be shorter than min_backoff.")
	}
	// Who sets one bound should not have to know the other's default.
	standard := streams.DefaultRetry
	r.MinBackoff = cmp.Or(shortest, min(standard.MinBackoff, cmp.Or(longest, standard.MinBackoff)))
	r.MaxBackoff = cmp.Or(longest, max(standard.MaxBackoff, shortest))
}

func (s *settings) readRate(v types.Float64) {
	s.unknown = s.unknown || v.IsUnknown()
	s.client.RequestsPerSecond = v.ValueFloat64()
	if !v.IsNull() && !v.IsUnknown() && v.ValueFloat64() <= 0 {
		s.refuse(path.Root("requests_per_second"), "must be more than 0; leave it out for no limit.")
	}
}

func (s *settings) readDetectDrift(v types.Bool) {
	s.unknown = s.unknown || v.IsUnknown()
	s.detectDrift = v.ValueBool()
	if text := s.getenv("STREAM_DETECT_DRIFT"); v.IsNull() && text != "" {
		var err error
		if s.detectDrift, err = strconv.ParseBool(text); err != nil {
			s.refuse(path.Root("detect_drift"), `must be "true" or "false" in the environment variable STREAM_DETECT_DRIFT.`)
		}
	}
}

// text returns the value of an attribute, or of its environment variable, or "". It reports false
// when the value is not known yet or was refused.
func (s *settings) text(at path.Path, v types.String, variable string) (string, bool) {
	switch {
	case v.IsUnknown():
		s.unknown = true
		return "", false
	case v.IsNull() && variable != "":
		return s.getenv(variable), true
	case v.IsNull():
		return "", true
	case v.ValueString() == "":
		s.refuse(at, "must not be empty; leave it out, or set it to null, if it is not needed.")
		return "", false
	}
	return v.ValueString(), true
}

func (s *settings) required(at path.Path, v types.String, variable string) string {
	text, ok := s.text(at, v, variable)
	if ok && text == "" {
		s.refuse(at, "is missing. Set it in the provider block, or the environment variable %s.", variable)
	}
	return text
}

// element returns an element of a collection, "" if it is not known yet. There is no sense in a null one.
func (s *settings) element(at path.Path, v attr.Value) string {
	if v.IsNull() {
		s.refuse(at, "must not be null.")
	}
	s.unknown = s.unknown || v.IsUnknown()
	text, _ := v.(types.String) // the schemas have no other elements
	return text.ValueString()
}

// duration returns 0 where there is none, or none that is known and right.
func (s *settings) duration(at path.Path, v types.String) time.Duration {
	text, ok := s.text(at, v, "")
	if !ok || text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		s.refuse(at, `must be a duration above zero, such as "500ms", "30s" or "1m30s"; it is %q.`, text)
		return 0
	}
	return d
}

// refuse names the attribute too, because Terraform shows no line for one inside of another.
func (s *settings) refuse(at path.Path, format string, args ...any) {
	s.diags.AddAttributeError(at, invalidConfiguration, at.String()+" "+fmt.Sprintf(format, args...))
}

// member returns an attribute of an object, null if the object is.
func member[T attr.Value](o types.Object, name string) T {
	v, _ := o.Attributes()[name].(T)
	return v
}
