package config

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"golang.org/x/text/unicode/norm"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Invalid is the summary of all errors of the configuration.
const Invalid = "Invalid Provider Configuration"

// reader reads the attributes of a model, and collects their problems.
type reader struct {
	model
	lookup func(string) (string, bool)
	diags  diag.Diagnostics
	unset  diag.Diagnostics // those of diags that say that the environment lacks something
}

// getenv returns the text of an environment variable. It removes the line break at the end of a URL.
func (r *reader) getenv(variable string) string {
	text, _ := r.lookup(variable)
	if strings.HasSuffix(variable, "_URL") {
		return strings.TrimSpace(text)
	}
	return text
}

// variable returns name and text of the environment variable that the provider block leaves a setting to, or nothing.
func (r *reader) variable(of setting) (name, text string) {
	a := of.self()
	for _, name := range a.variables {
		if text := r.getenv(name); a.isNull && text != "" {
			return name, text
		}
	}
	return "", ""
}

// fromEnvironment returns the text of an environment variable, or "" if it is refused. Each one comes through here. It is not
// put into NFC, because credentials and paths are bytes; what a state has is.
func (r *reader) fromEnvironment(of setting) string {
	_, text := r.variable(of)
	if err := checkVariable(text); err != nil {
		r.refuse(of, "%s.", err)
		return ""
	}
	return text
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
	return cmp.Or(t.inBlock.ValueString(), r.fromEnvironment(t))
}

// checked returns a text of one line, or "" if it is refused.
func (r *reader) checked(of setting, text string) string {
	err := streams.CheckLine(text)
	if err == nil {
		return text
	}
	advice := ""
	if variable, _ := r.variable(of); variable == "" && strings.TrimSpace(text) != text {
		advice = " In Terraform, trimspace() removes it."
	}
	r.refuse(of, "%s.%s", err, advice)
	return ""
}

// file is like line for the path of a file, which may not exist yet. A path that a shell would expand is refused unless it does.
func (r *reader) file(t text) string {
	path := r.line(t)
	if _, err := os.Stat(path); err != nil && expandable.MatchString(path) {
		r.refuse(t, `must be a plain path: nothing here expands "~", a variable or file://. In Terraform, pathexpand() expands "~".`)
		return ""
	}
	return path
}

var expandable = regexp.MustCompile(`^(~|\$|%\w+%|file:)`)

// required refuses a value that is not set. alternative is a sentence on what else may be meant, or "".
func (r *reader) required(t text, alternative string) string {
	if !r.isSet(t) {
		r.refuseUnset(t, alternative)
	}
	return r.line(t)
}

// refuseUnset reports that neither the provider block nor the environment has a value.
func (r *reader) refuseUnset(of setting, alternative string) {
	a := of.self()
	r.reportUnset(a, a.at.String()+" is missing."+r.empty(a)+" Set it in the provider block, or set the environment variable "+
		a.mainVariable()+"."+alternative)
}

// reportUnset is for what terraform validate does not report, because the environment may have it later.
func (r *reader) reportUnset(of setting, text string) {
	d := diag.NewAttributeErrorDiagnostic(of.self().at, Invalid, text)
	r.diags.Append(d)
	r.unset.Append(d)
}

// empty says that the environment variable of a setting is set, but has no value, if so: a pipeline may set a variable to a
// secret that it does not have.
func (r *reader) empty(of setting) string {
	variable := of.self().mainVariable()
	if _, isSet := r.lookup(variable); !isSet || r.getenv(variable) != "" {
		return ""
	}
	return " The environment variable " + variable + " is set, but empty."
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
	if !valid(n) {
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

// userAgent returns what the environment adds to the User-Agent header.
func (r *reader) userAgent() string {
	added := attribute{isNull: true, variables: []string{"TF_APPEND_USER_AGENT"}}
	return r.checked(added, strings.TrimSpace(r.fromEnvironment(added)))
}

func (r *reader) refuse(of setting, format string, args ...any) {
	text := r.origin(of) + " " + fmt.Sprintf(format, args...)
	if at := of.self().at; len(at.Steps()) > 0 {
		r.diags.AddAttributeError(at, Invalid, text)
		return
	}
	r.diags.AddError(Invalid, text)
}

// origin names the attribute, of which Terraform shows no line if it is nested, and the environment variable of a value.
func (r *reader) origin(of setting) string {
	at := of.self().at.String()
	if variable, _ := r.variable(of); variable != "" {
		return strings.TrimSuffix(fmt.Sprintf("The environment variable %s (%s)", variable, at), " ()")
	}
	return at
}

// address reads an address that is required; alternative is that of required.
func (r *reader) address(a text, alternative string, parse func(string) (*url.URL, error)) string {
	text := norm.NFC.String(r.required(a, alternative))  // in which Terraform passes what the provider block says
	if _, err := parse(text); text != "" && err != nil { // "" is missing, or known after apply
		r.refuse(a, "%s.", err)
	}
	return text
}

// warnOfCleartext warns of an address of another machine where requests can be read in transit.
func (r *reader) warnOfCleartext(a text, address string) {
	u, err := transport.ParseURL(address)
	if err != nil || !transport.SentInClear(u) {
		return
	}
	r.diags.AddAttributeWarning(a.at, "Requests Are Sent in Cleartext", r.origin(a)+" is an http:// address of another machine. "+
		"Anyone between Terraform and that machine can read and change the requests, and read their credentials. Use https:// if the "+
		"service offers it.")
}
