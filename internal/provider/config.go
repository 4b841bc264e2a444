package provider

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// environmentVariables has the environment variable of each attribute that has one.
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
}

// settings is what a provider block and its environment variables say.
type settings struct {
	client         streams.Config
	deployment     string // the name in the state; "" if it is known after apply
	detectDrift    bool
	missingBaseURL bool
	unknown        bool // a value is not known yet
	diags          diag.Diagnostics

	getenv      func(string) string
	variables   map[string]string // the environment variables that attributes got their values from, by path
	credentials []string          // what authenticates the requests
}

// readSettings reads all values before anything is reported, so that all problems are reported at once.
func readSettings(ctx context.Context, config tfsdk.Config, getenv func(string) string) *settings {
	s := &settings{getenv: getenv, variables: map[string]string{}, unknown: !config.Raw.IsFullyKnown()}
	var values types.Object
	s.diags.Append(config.Get(ctx, &values)...)
	block := object{s, path.Empty(), values.Attributes()}
	block.readBaseURL()
	block.readDeployment()
	block.readDetectDrift()
	block.readCredentials()
	block.readTLS()
	block.readLimits()
	block.readRetry()
	s.client.Credentials = cmp.Or(strings.Join(s.credentials, " and "), noCredentials)
	return s
}

// readDeployment comes after readBaseURL, whose address is the default.
func (o object) readDeployment() {
	name := o.text("deployment")
	switch {
	case attribute[types.String](o, "deployment").IsUnknown():
		o.deployment = ""
	case name == "":
	case utf8.RuneCountInString(name) > longestDeployment,
		strings.ContainsFunc(name, unicode.IsSpace), strings.ContainsFunc(name, unicode.IsControl):
		o.refuse(o.at("deployment"), "must have at most %d characters, and no white space or control characters.", longestDeployment)
	default:
		o.deployment = name
	}
}

const longestDeployment = 200

func (o object) readDetectDrift() {
	v, at := attribute[types.Bool](o, "detect_drift"), o.at("detect_drift")
	o.detectDrift = v.ValueBool()
	if !v.IsNull() {
		return
	}
	if text := o.fromEnvironment(at); text != "" {
		var err error
		if o.detectDrift, err = strconv.ParseBool(text); err != nil {
			o.refuse(at, `must be "true" or "false".`)
		}
	}
}

// object reads the provider block, or an object in it.
type object struct {
	*settings
	path   path.Path
	values map[string]attr.Value // empty if the object is null or not known yet
}

func (o object) at(name string) path.Path { return o.path.AtName(name) }

// nested reads an object in the object.
func (o object) nested(name string) object {
	return object{o.settings, o.at(name), attribute[types.Object](o, name).Attributes()}
}

// attribute returns the value of an attribute, which is null if the object is.
func attribute[T attr.Value](o object, name string) T {
	v, _ := o.values[name].(T)
	return v
}

// isSet reports whether the object has a value, which may be unknown.
func (o object) isSet(name string) bool {
	v := o.values[name]
	return v != nil && !v.IsNull()
}

// text returns the value of an attribute, or of its environment variable. It returns "" if neither has one, and for a
// value that is not known yet or is refused.
func (o object) text(name string) string {
	v := attribute[types.String](o, name)
	if v.IsNull() {
		return o.fromEnvironment(o.at(name))
	}
	if known(v) && v.ValueString() == "" {
		o.refuse(o.at(name), "must not be empty. Leave it out, or set it to null, if it is not needed.")
	}
	return v.ValueString()
}

func (o object) requiredText(name string) string {
	text, at := o.text(name), o.at(name)
	if text == "" && !o.isSet(name) {
		o.refuse(at, "is missing. Set it in the provider block, or set the environment variable %s.", environmentVariables[at.String()])
	}
	return text
}

// duration returns 0 if the value is null, not known yet or refused.
func (o object) duration(name string) time.Duration {
	text := o.text(name)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		o.refuse(o.at(name), `must be a duration above zero, such as "500ms", "30s" or "1m30s"; it is %q.`, text)
		return 0
	}
	return d
}

// count returns 0 if the value is null, not known yet or refused. The schema has no integers, because the framework
// would call a fraction an error of the provider.
func (o object) count(name string, most int64) int {
	v := attribute[types.Number](o, name)
	if !known(v) {
		return 0
	}
	n, accuracy := v.ValueBigFloat().Int64()
	if accuracy != big.Exact || n < 1 || n > most {
		o.refuse(o.at(name), "must be a whole number from 1 to %d; it is %s.", most, v)
		return 0
	}
	return int(n)
}

// element returns an element of a collection, or "" if it is null, which is refused, or not known yet.
func (s *settings) element(at path.Path, v attr.Value) string {
	if v.IsNull() {
		s.refuse(at, "must not be null.")
	}
	text, _ := v.(types.String) // the schema has no other elements
	return text.ValueString()
}

// fromEnvironment returns the value of an attribute's environment variable, and remembers where it came from.
func (s *settings) fromEnvironment(at path.Path) string {
	variable := environmentVariables[at.String()]
	text := s.getenv(variable)
	if strings.HasSuffix(variable, "_URL") {
		text = strings.TrimSpace(text) // such as the line break of a file
	}
	if text != "" {
		s.variables[at.String()] = variable
	}
	return text
}

// refuse reports a problem of an attribute.
func (s *settings) refuse(at path.Path, format string, args ...any) {
	s.diags.Append(invalidSetting(at, s.variables[at.String()], fmt.Sprintf(format, args...)))
}
