package config

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Invalid is the summary of all errors of the configuration.
const Invalid = "Invalid Provider Configuration"

// reader reads the attributes of a model, and collects their problems.
type reader struct {
	model
	lookup func(string) (string, bool)
	diags  diag.Diagnostics
}

// getenv returns the text of an environment variable.
func (r *reader) getenv(variable string) string {
	text, _ := r.lookup(variable)
	return text
}

// variable returns name and text of the environment variable that the provider block leaves an attribute to, or nothing.
func (r *reader) variable(of setting) (name, text string) {
	a := of.self()
	if !a.isNull {
		return "", ""
	}
	for _, name := range a.variables {
		text := r.getenv(name)
		if strings.HasSuffix(name, "_URL") {
			text = strings.TrimSpace(text) // such as the line break of a file
		}
		if text != "" {
			return name, r.decoded(a.at, text, name)
		}
	}
	return "", ""
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
func (r *reader) isSet(of setting) bool {
	variable, _ := r.variable(of)
	return variable != "" || !of.self().isNull
}

// line returns "" for a value that is null, known after apply or refused.
func (r *reader) line(t text) string { return r.checked(t, r.lines(t)) }

// lines is like line for a value of several lines, such as PEM.
func (r *reader) lines(t text) string {
	if t.inBlock.Equal(types.StringValue("")) {
		r.refuse(t, "must not be empty. Leave it out, or set it to null, if it is not needed.")
	}
	_, text := r.variable(t)
	return cmp.Or(t.inBlock.ValueString(), text)
}

// checked returns a text, or "" if it is refused. Secrets often come from files, with what these have at their ends.
func (r *reader) checked(a setting, text string) string {
	switch {
	case strings.TrimSpace(text) != text:
		r.refuse(a, "must not begin or end with white space, such as the line break of a file. In Terraform, trimspace() "+
			"removes it.")
	case strings.ContainsFunc(text, unicode.IsControl):
		r.refuse(a, "must not have control characters.")
	case strings.Contains(text, "\ufeff"):
		r.refuse(a, "must not have a byte order mark (U+FEFF), with which some editors begin a file.")
	default:
		return text
	}
	return ""
}

func (r *reader) required(t text) string {
	if !r.isSet(t) {
		r.diags.Append(missing(t, ""))
	}
	return r.line(t)
}

func missing(of setting, alternative string) diag.Diagnostic {
	a := of.self()
	return diag.NewAttributeErrorDiagnostic(a.at, Invalid, a.at.String()+" is missing. Set it in the provider block, or set the "+
		"environment variable "+a.variables[0]+"."+alternative)
}

// duration returns 0 for a value that is null, known after apply or refused.
func (r *reader) duration(t text) time.Duration {
	text := r.line(t)
	d, err := time.ParseDuration(text)
	if text != "" && (err != nil || d <= 0) {
		r.refuse(t, `must be a duration above zero, such as "500ms", "30s" or "1m30s"; it is %q.`, text)
	}
	return max(d, 0)
}

// count returns 0 for a value that is null or known after apply.
func (r *reader) count(n number, most float64) int {
	rule := fmt.Sprintf("must be a whole number from 1 to %.0f", most)
	return int(r.number(n, rule, func(n float64) bool { return n == math.Trunc(n) && n >= 1 && n <= most }))
}

// number is like count for a number that need not be whole.
func (r *reader) number(a number, rule string, valid func(float64) bool) float64 {
	v := a.inBlock
	if v.IsNull() || v.IsUnknown() {
		return 0
	}
	n, _ := v.ValueBigFloat().Float64()
	switch {
	case math.IsInf(n, 0), n == 0 && v.ValueBigFloat().Sign() != 0:
		r.refuse(a, "is too large or too close to 0; it is %s.", v)
	case !valid(n):
		r.refuse(a, "%s; it is %s.", rule, v)
	}
	return n
}

// element returns an element of a collection, or "" if it is known after apply or refused.
func (r *reader) element(a setting, v attr.Value) string {
	if v.IsNull() {
		r.refuse(a, "must not be null.")
	}
	text, _ := v.(types.String) // the schema has no other elements
	return r.checked(a, text.ValueString())
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

func (r *reader) refuse(of setting, format string, args ...any) {
	r.diags.AddAttributeError(of.self().at, Invalid, r.origin(of)+" "+fmt.Sprintf(format, args...))
}

// origin names the attribute, of which Terraform shows no line if it is nested, and the environment variable of a value.
func (r *reader) origin(of setting) string {
	if variable, _ := r.variable(of); variable != "" {
		return fmt.Sprintf("The environment variable %s (%s)", variable, of.self().at)
	}
	return of.self().at.String()
}
