package provider

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// providerModel is the provider block. Nested objects are types.Object, because each may be unknown
// during plan.
type providerModel struct {
	BaseURL           types.String  `tfsdk:"base_url"`
	Token             types.String  `tfsdk:"token"`
	TokenFile         types.String  `tfsdk:"token_file"`
	BasicAuth         types.Object  `tfsdk:"basic_auth"`
	OAuth2            types.Object  `tfsdk:"oauth2"`
	Headers           types.Map     `tfsdk:"headers"`
	TLS               types.Object  `tfsdk:"tls"`
	RequestTimeout    types.String  `tfsdk:"request_timeout"`
	Retry             types.Object  `tfsdk:"retry"`
	RequestsPerSecond types.Float64 `tfsdk:"requests_per_second"`
	MaxConcurrent     types.Number  `tfsdk:"max_concurrent_requests"`
	Deployment        types.String  `tfsdk:"deployment"`
	DetectDrift       types.Bool    `tfsdk:"detect_drift"`
}

// providerSchema is the schema of the provider block. Each concern has a file with its attributes and
// their reader.
func providerSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: "Manages which processors are attached to the streams of a stream management service.",
		Attributes: map[string]schema.Attribute{
			"base_url":                baseURLAttribute(),
			"token":                   tokenAttribute(),
			"token_file":              tokenFileAttribute(),
			"basic_auth":              basicAuthAttribute(),
			"oauth2":                  oauth2Attribute(),
			"headers":                 headersAttribute(),
			"tls":                     tlsAttribute(),
			"request_timeout":         requestTimeoutAttribute(),
			"retry":                   retryAttribute(),
			"requests_per_second":     requestsPerSecondAttribute(),
			"max_concurrent_requests": maxConcurrentAttribute(),
			"deployment":              deploymentAttribute(),
			"detect_drift":            detectDriftAttribute(),
		},
	}
}

func optionalString(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description}
}

func secretString(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: description}
}

// settings is what a provider block and its environment variables say.
type settings struct {
	client         streams.Config
	deployment     string // the name in the state; "" if it is known after apply
	detectDrift    bool
	missingBaseURL bool
	unknown        bool // a value is not known yet
	diags          diag.Diagnostics

	getenv    func(string) string
	variables map[string]string // the environment variables that attributes got their values from, by path
}

// readSettings reads all values before anything is reported, so that all problems are reported at once.
func readSettings(m providerModel, getenv func(string) string) *settings {
	s := &settings{getenv: getenv, variables: map[string]string{}}
	s.readBaseURL(m.BaseURL)
	s.readDeployment(m.Deployment)
	s.readHeaders(m.Headers)
	s.readCredentials(m)
	s.readTLS(m.TLS)
	s.readRequestTimeout(m.RequestTimeout)
	s.readRetry(m.Retry)
	s.readRequestsPerSecond(m.RequestsPerSecond)
	s.readMaxConcurrent(m.MaxConcurrent)
	s.readDetectDrift(m.DetectDrift)
	s.client.Credentials = s.describeCredentials()
	return s
}

func detectDriftAttribute() schema.Attribute {
	return schema.BoolAttribute{
		Optional: true,
		MarkdownDescription: "Read streams with `GET /v2/streams/{id}` in refresh, import and queries, and before a create is planned. " +
			"**The service's interface document does not specify this route**: turn `detect_drift` on only for a deployment " +
			"that offers it. Environment: `STREAM_DETECT_DRIFT`. Default: `false`.",
	}
}

func (s *settings) readDetectDrift(v types.Bool) {
	s.unknown = s.unknown || v.IsUnknown()
	s.detectDrift = v.ValueBool()
	if v.IsNull() {
		text := s.fromEnvironment(path.Root("detect_drift"), "STREAM_DETECT_DRIFT")
		var err error
		if s.detectDrift, err = strconv.ParseBool(text); text != "" && err != nil {
			s.refuse(path.Root("detect_drift"), `must be "true" or "false".`)
		}
	}
}

// text returns the value of an attribute, or of its environment variable, or "". It reports false if
// the value is not known yet or was refused.
func (s *settings) text(at path.Path, v types.String, variable string) (string, bool) {
	switch {
	case v.IsUnknown():
		s.unknown = true
		return "", false
	case v.IsNull() && variable != "":
		return s.fromEnvironment(at, variable), true
	case v.IsNull():
		return "", true
	case v.ValueString() == "":
		s.refuse(at, "must not be empty. Leave it out, or set it to null, if it is not needed.")
		return "", false
	}
	return v.ValueString(), true
}

// fromEnvironment returns the value of an environment variable, and remembers where the attribute got its
// value from.
func (s *settings) fromEnvironment(at path.Path, variable string) string {
	text := s.getenv(variable)
	if strings.HasSuffix(variable, "_URL") {
		text = strings.TrimSpace(text) // such as the line break of a file
	}
	if text != "" {
		s.variables[at.String()] = variable
	}
	return text
}

// variable returns the environment variable that an attribute got its value from, or "".
func (s *settings) variable(at path.Path) string { return s.variables[at.String()] }

func (s *settings) requiredText(at path.Path, v types.String, variable string) string {
	text, ok := s.text(at, v, variable)
	if ok && text == "" {
		s.refuse(at, "is missing. Set it in the provider block, or set the environment variable %s.", variable)
	}
	return text
}

// elementText returns an element of a collection, or "" if it is null, which is refused, or unknown.
func (s *settings) elementText(at path.Path, v attr.Value) string {
	if v.IsNull() {
		s.refuse(at, "must not be null.")
	}
	s.unknown = s.unknown || v.IsUnknown()
	text, _ := v.(types.String) // the schemas have no other elements
	return text.ValueString()
}

// duration returns 0 if the value is null, not known yet or refused.
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

// refuse reports a problem of an attribute.
func (s *settings) refuse(at path.Path, format string, args ...any) {
	s.diags.Append(invalidSetting(at, s.variable(at), fmt.Sprintf(format, args...)))
}

// objectAttribute returns an attribute of an object, or null if the object is null.
func objectAttribute[T attr.Value](o types.Object, name string) T {
	v, _ := o.Attributes()[name].(T)
	return v
}
