package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

const secondScheme = "and %s are two ways to authenticate. A request carries one."

// scheme is a way to authenticate.
type scheme struct {
	setting
	parts []setting // an environment variable of one means this scheme
	use   func()
}

// credentials reads what authenticates requests: one scheme, headers and a client certificate. Errors describe it.
func (r *reader) credentials() (c streams.Config) {
	var used []string
	use := func(what string, a setting) { used = append(used, what+" from "+r.source(a)) }
	o := r.OAuth2
	schemes := []scheme{
		{r.Token, []setting{r.Token}, func() {
			c.Token = r.token(r.Token)
			use("a bearer token", r.Token)
		}},
		{r.TokenFile, []setting{r.TokenFile}, func() { // the file may not exist before the first request
			c.TokenFile = r.line(r.TokenFile)
			use(fmt.Sprintf("the bearer token in the file %q", c.TokenFile), r.TokenFile)
		}},
		{r.BasicAuth, []setting{r.BasicAuth.Username, r.BasicAuth.Password}, func() {
			c.BasicAuth = r.basicAuth()
			use(fmt.Sprintf("the basic_auth of user %q", c.BasicAuth.Username), r.BasicAuth.Username)
		}},
		{o, []setting{
			o.TokenURL, o.ClientID, o.ClientSecret, o.ClientAssertion, o.ClientAssertionFile,
		}, func() {
			c.OAuth2 = r.oauth2()
			use(fmt.Sprintf("a token of the oauth2 client %q", c.OAuth2.ClientID), o.ClientID)
		}},
	}

	headers, authorization := r.headers()
	found, inBlock := r.configured(schemes), !r.Headers.self().isNull
	switch {
	case len(found) > 0 && !inBlock: // a scheme in the block takes precedence over the environment
		delete(headers, authorization)
	case len(found) > 0 && authorization != "":
		r.refuse(r.Headers.element(r.Headers.at.AtMapKey(authorization)), secondScheme, found[0].self().at)
	case len(found) > 0, inBlock && authorization != "", r.Headers.self().isUnknown: // they may hold Authorization
	case authorization != "":
		found = r.inEnvironment(append(schemes, scheme{r.Headers, []setting{r.Headers}, func() {}}))
	default:
		found = r.inEnvironment(schemes)
	}
	for _, s := range found {
		if !s.self().isUnknown {
			s.use()
		}
	}
	c.Headers = headers
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		use("the header "+name, r.Headers)
	}
	if c.TLS = r.tls(); c.TLS.ClientCertPEM != "" {
		use("a client certificate", r.TLS.ClientCertPEM)
	}
	c.Credentials = cmp.Or(strings.Join(used, " and "), streams.NoCredentials)
	return c
}

func (r *reader) source(a setting) string {
	variable, _ := r.variable(a)
	return cmp.Or(variable, "the provider block")
}

// headers returns the headers, and the name of the one that is Authorization: case does not matter.
func (r *reader) headers() (headers map[string]string, authorization string) {
	headers, names := map[string]string{}, map[string]string{}
	elements := r.Headers.inBlock.Elements()
	if _, text := r.variable(r.Headers); text != "" {
		var values map[string]*string
		if json.Unmarshal([]byte(text), &values) != nil || values == nil { // the decoder's errors would quote secrets
			r.refuse(r.Headers, `must be a JSON object of texts, such as {"X-Api-Key": "…"}.`)
		}
		for name, value := range values {
			elements[name] = types.StringPointerValue(value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(elements)) {
		a, canonical := r.Headers.element(r.Headers.at.AtMapKey(name)), http.CanonicalHeaderKey(name)
		value := r.element(a, elements[name])
		err := streams.CheckHeader(name, value)
		switch {
		case err != nil:
			r.refuse(a, "%s.", err)
		case names[canonical] != "":
			r.refuse(a, "is the same header as %q.", names[canonical])
		}
		headers[name], names[canonical] = value, name
	}
	return headers, names["Authorization"]
}

// configured returns the schemes that are in the provider block. It refuses all but the first.
func (r *reader) configured(schemes []scheme) []scheme {
	found := slices.DeleteFunc(slices.Clone(schemes), func(s scheme) bool { return s.self().isNull })
	for i := 1; i < len(found); i++ {
		r.refuse(found[i], secondScheme, found[0].self().at)
	}
	return found
}

// inEnvironment returns the first scheme that is in the environment. It refuses several.
func (r *reader) inEnvironment(schemes []scheme) (found []scheme) {
	var variables []string
	for _, s := range schemes {
		named := len(variables)
		for _, a := range s.parts {
			if variable := a.self().variables[0]; r.getenv(variable) != "" { // the others do not mean a scheme alone
				variables = append(variables, variable)
			}
		}
		if len(variables) > named {
			found = append(found, s)
		}
	}
	if len(found) > 1 {
		slices.Sort(variables)
		r.diags.AddError(Invalid, fmt.Sprintf("The environment has several ways to authenticate: %s. A request carries one. "+
			"Unset the variables of the others, or set one in the provider block.", strings.Join(variables, ", ")))
	}
	return found[:min(len(found), 1)]
}

// token refuses a token that cannot be sent.
func (r *reader) token(t text) string {
	token := r.line(t)
	if err := streams.CheckToken(token); err != nil {
		r.refuse(t, "cannot be sent: %s.", err)
	}
	return token
}

func (r *reader) basicAuth() *streams.BasicAuth {
	username := r.required(r.BasicAuth.Username)
	if strings.Contains(username, ":") {
		r.refuse(r.BasicAuth.Username, "must not contain a colon, which HTTP Basic authentication cannot carry.")
	}
	return &streams.BasicAuth{Username: username, Password: r.required(r.BasicAuth.Password)}
}

func (r *reader) oauth2() *streams.OAuth2 {
	o, a := r.OAuth2, &streams.OAuth2{EndpointParams: map[string]string{}}
	a.TokenURL = r.address(o.TokenURL, streams.ParseURL)
	a.ClientID = r.required(o.ClientID)
	of := func(t setting, use func()) scheme { return scheme{t, []setting{t}, use} }
	assertion := of(o.ClientAssertion, func() { a.ClientAssertion = r.token(o.ClientAssertion) })
	schemes := []scheme{
		of(o.ClientSecret, func() { a.ClientSecret = r.line(o.ClientSecret) }),
		assertion,
		of(o.ClientAssertionFile, func() { a.ClientAssertionFile = r.line(o.ClientAssertionFile) }),
	}
	found := r.configured(schemes)
	if len(found) == 0 {
		found = r.inEnvironment(schemes)
	}
	if len(found) == 0 && r.isSet(assertion) {
		found = []scheme{assertion}
	}
	if len(found) == 0 {
		r.diags.Append(missing(o.ClientSecret, " Instead of a secret, you can set client_assertion or client_assertion_file."))
	}
	for _, s := range found {
		a.Credentials = fmt.Sprintf("the %s from %s", strings.TrimPrefix(s.self().at.String(), "oauth2."), r.source(s))
		s.use()
	}

	for i, scope := range o.Scopes.inBlock.Elements() {
		a.Scopes = append(a.Scopes, r.element(o.Scopes.element(o.Scopes.at.AtListIndex(i)), scope))
	}
	params := o.EndpointParams.inBlock.Elements()
	for _, name := range slices.Sorted(maps.Keys(params)) {
		param := o.EndpointParams.element(o.EndpointParams.at.AtMapKey(name))
		switch name {
		case "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope":
			r.refuse(param, "is set by the attributes of oauth2.")
		}
		a.EndpointParams[name] = r.element(param, params[name])
	}
	return a
}
