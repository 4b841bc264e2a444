package config

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

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

// workloadIdentity is where HCP Terraform puts a token for a run, if the workspace has the environment variable
// TFC_WORKLOAD_IDENTITY_AUDIENCE_STREAM. It stands for client_assertion if nothing else authenticates the client.
const workloadIdentity = "TFC_WORKLOAD_IDENTITY_TOKEN_STREAM"

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
	variable = environmentVariables[name]
	if name == "oauth2.client_assertion" && r.getenv(variable) == "" {
		variable = workloadIdentity
	}
	text = r.getenv(variable)
	if strings.HasSuffix(variable, "_URL") {
		text = strings.TrimSpace(text) // such as the line break of a file
	}
	if text == "" || !r.value(name).IsNull() {
		return "", ""
	}
	return text, variable
}

// text returns "" for a value that is null, known after apply or refused.
func (r *reader) text(name string) string {
	v, _ := r.value(name).(types.String)
	if v.IsNull() {
		text, _ := r.environment(name)
		return text
	}
	if v.ValueString() == "" && !v.IsUnknown() {
		r.refuse(at(name), "must not be empty. Leave it out, or set it to null, if it is not needed.")
	}
	return v.ValueString()
}

func (r *reader) required(name string) string {
	text := r.text(name)
	if text == "" && r.value(name).IsNull() {
		r.diags.Append(missing(name))
	}
	return text
}

func missing(name string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at(name), Invalid, name+" is missing. "+howToSet(name))
}

func howToSet(name string) string {
	return fmt.Sprintf("Set it in the provider block, or set the environment variable %s.", environmentVariables[name])
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

// count returns 0 for a value that is null or known after apply, like rate. The schema has no integers and no floats, because
// the framework would call a number that does not fit an error of the provider.
func (r *reader) count(name string, most int64) int {
	v, _ := r.value(name).(types.Number)
	if v.IsNull() || v.IsUnknown() {
		return 0
	}
	n, accuracy := v.ValueBigFloat().Int64()
	if accuracy != big.Exact || n < 1 || n > most {
		r.refuse(at(name), "must be a whole number from 1 to %d; it is %s.", most, v)
	}
	return int(n)
}

func (r *reader) rate(name string) float64 {
	v, _ := r.value(name).(types.Number)
	if v.IsNull() || v.IsUnknown() {
		return 0
	}
	rate, _ := v.ValueBigFloat().Float64()
	switch {
	case v.ValueBigFloat().Sign() <= 0:
		r.refuse(at(name), "must be more than 0. Leave it out for no limit.")
	case rate == 0, math.IsInf(rate, 1):
		r.refuse(at(name), "is too large or too close to 0: it is %s. Leave it out for no limit.", v)
	}
	return rate
}

// element returns an element of a collection, or "" if it is known after apply.
func (r *reader) element(at path.Path, v attr.Value) string {
	if v.IsNull() {
		r.refuse(at, "must not be null.")
	}
	text, _ := v.(types.String) // the schema has no other elements
	return text.ValueString()
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
