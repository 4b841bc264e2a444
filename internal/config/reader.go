package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"golang.org/x/text/unicode/norm"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Invalid is the summary of all errors of the configuration.
const Invalid = "Invalid Provider Configuration"

// reader reads the attributes of the provider block, and collects their problems.
type reader struct {
	attributes map[string]attribute // by their paths, such as "oauth2.token_url"
	lookup     func(string) (string, bool)
	diags      diag.Diagnostics
	unset      diag.Diagnostics // those of diags that say that the environment lacks something
}

// get returns the attribute at a path.
func (r *reader) get(at string) attribute {
	a, ok := r.attributes[at]
	if !ok {
		panic("the schema has no attribute " + at)
	}
	return a
}

// getenv returns the text of an environment variable. It removes the line break at the end of a URL.
func (r *reader) getenv(variable string) string {
	text, _ := r.lookup(variable)
	if strings.HasSuffix(variable, "_URL") {
		return strings.TrimSpace(text)
	}
	return text
}

// variable returns name and text of the environment variable that the provider block leaves an attribute to, or nothing.
func (r *reader) variable(of attribute) (name, text string) {
	for _, name := range of.variables {
		if text := r.getenv(name); of.isNull && text != "" {
			return name, text
		}
	}
	return "", ""
}

// fromEnvironment returns the text of an environment variable, or "" if it is refused. Each one comes through here. It is not
// put into NFC, because credentials and paths are bytes; what a state has is.
func (r *reader) fromEnvironment(of attribute) string {
	_, text := r.variable(of)
	if err := checkVariable(text); err != nil {
		r.refuse(of, "%s.", err)
		return ""
	}
	return text
}

// checkVariable returns an error, such as "must not be in quotes", if an environment variable has another text than the user
// meant.
func checkVariable(text string) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New("is not UTF-8 text")
	case len(text) > 1 && strings.ContainsRune(`"'`, rune(text[0])) && text[0] == text[len(text)-1]:
		return errors.New("must not be in quotes, which some files of variables keep as part of the value")
	}
	return nil
}

// isSet reports whether an attribute has a value in the provider block or the environment. It may be known after apply.
func (r *reader) isSet(of attribute) bool {
	variable, _ := r.variable(of)
	return variable != "" || !of.isNull
}

// line returns "" for a value that is null, known after apply or refused.
func (r *reader) line(t attribute) string { return r.checked(t, r.lines(t)) }

// lines is like line for a value of several lines, such as PEM.
func (r *reader) lines(t attribute) string {
	if t.isEmpty() {
		r.refuse(t, "must not be empty. Leave it out, or set it to null, if it is not needed.")
	}
	return cmp.Or(t.text(), r.fromEnvironment(t))
}

// checked returns a text of one line, or "" if it is refused.
func (r *reader) checked(of attribute, text string) string {
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
func (r *reader) file(t attribute) string {
	path := r.line(t)
	if _, err := os.Stat(path); err != nil && expandable.MatchString(path) {
		r.refuse(t, `must be a plain path: nothing here expands "~", a variable or file://. In Terraform, pathexpand() expands "~".`)
		return ""
	}
	return path
}

var expandable = regexp.MustCompile(`^(~|\$|%\w+%|file:)`)

// required refuses a value that is not set. alternative is a sentence on what else may be meant, or "".
func (r *reader) required(t attribute, alternative string) string {
	if !r.isSet(t) {
		r.refuseUnset(t, alternative)
	}
	return r.line(t)
}

// refuseUnset reports that neither the provider block nor the environment has a value.
func (r *reader) refuseUnset(of attribute, alternative string) {
	r.reportUnset(of, of.at.String()+" is missing."+r.empty(of)+" Set it in the provider block, or set the environment variable "+
		of.mainVariable()+"."+alternative)
}

// reportUnset is for what terraform validate does not report, because the environment may have it later.
func (r *reader) reportUnset(of attribute, text string) {
	d := diag.NewAttributeErrorDiagnostic(of.at, Invalid, text)
	r.diags.Append(d)
	r.unset.Append(d)
}

// empty says that the environment variable of an attribute is set, but has no value, if so: a pipeline may set a variable to a
// secret that it does not have.
func (r *reader) empty(of attribute) string {
	variable := of.mainVariable()
	if _, isSet := r.lookup(variable); !isSet || r.getenv(variable) != "" {
		return ""
	}
	return " The environment variable " + variable + " is set, but empty."
}

// duration returns 0 for a value that is null, known after apply or refused.
func (r *reader) duration(at string) time.Duration {
	text := r.line(r.get(at))
	d, err := time.ParseDuration(text)
	if text != "" && (err != nil || d <= 0) {
		r.refuse(r.get(at), `must be a duration above zero, such as "500ms", "30s" or "1m30s"; it is %q.`, text)
	}
	return max(d, 0)
}

// count returns 0 for a value that is null or known after apply.
func (r *reader) count(at string, most float64) int {
	rule := fmt.Sprintf("must be a whole number from 1 to %.0f", most)
	return int(r.number(at, rule, func(n float64) bool { return n == math.Trunc(n) && n >= 1 && n <= most }))
}

// number is like count for a number that need not be whole.
func (r *reader) number(at, rule string, valid func(float64) bool) float64 {
	a := r.get(at)
	if a.isNull || a.isUnknown {
		return 0
	}
	v, _ := a.inBlock.(types.Number) // the framework calls a fraction an error of the provider if the schema has an integer
	n, _ := v.ValueBigFloat().Float64()
	if !valid(n) {
		r.refuse(a, "%s; it is %s.", rule, v)
	}
	return n
}

// element returns an element of a collection, or "" if it is known after apply or refused.
func (r *reader) element(a attribute, v attr.Value) string {
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

func (r *reader) refuse(of attribute, format string, args ...any) {
	text := r.origin(of) + " " + fmt.Sprintf(format, args...)
	if at := of.at; len(at.Steps()) > 0 {
		r.diags.AddAttributeError(at, Invalid, text)
		return
	}
	r.diags.AddError(Invalid, text)
}

// origin names the attribute, of which Terraform shows no line if it is nested, and the environment variable of a value.
func (r *reader) origin(of attribute) string {
	at := of.at.String()
	if variable, _ := r.variable(of); variable != "" {
		return strings.TrimSuffix(fmt.Sprintf("The environment variable %s (%s)", variable, at), " ()")
	}
	return at
}

// address reads an address that is required; alternative is that of required. It warns of one of another machine where requests can be
// read in transit.
func (r *reader) address(at, alternative string, parse func(string) (*url.URL, error)) string {
	a := r.get(at)
	text := norm.NFC.String(r.required(a, alternative)) // in which Terraform passes what the provider block says
	u, err := parse(text)
	switch {
	case text == "": // missing, or known after apply
	case err != nil:
		r.refuse(a, "%s.", err)
	case transport.SentInClear(u):
		r.diags.AddAttributeWarning(a.at, "Requests Are Sent in Cleartext", r.origin(a)+" is an http:// address of another machine. "+
			"Anyone between Terraform and that machine can read and change the requests, and read their credentials. Use https:// if the "+
			"service offers it.")
	}
	return text
}
