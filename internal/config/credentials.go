package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
)

const secondScheme = "and %s are two ways to authenticate. A request carries one."

// scheme is a way to authenticate.
type scheme struct {
	setting
	parts []setting // an environment variable of one means this scheme
	read  func()
}

// credentials reads what authenticates requests: one scheme, headers and a client certificate. Errors describe it.
func (r *reader) credentials() (c requests.Config) {
	var used []string
	use := func(what, source string) { used = append(used, what+source) }
	schemes := r.schemes(&c, use)
	headers, authorization := r.headers()
	found, inBlock := r.configured(schemes), !r.Headers.isNull
	switch {
	case len(found) > 0 && !inBlock: // a scheme in the block takes precedence over the environment
		delete(headers, authorization)
	case len(found) > 0 && authorization != "":
		r.refuse(r.Headers.element(r.Headers.at.AtMapKey(authorization)), secondScheme, found[0].self().at)
	case len(found) > 0, inBlock && authorization != "", r.Headers.isUnknown: // they may hold Authorization
	case authorization != "":
		found = r.inEnvironment(append(schemes, scheme{r.Headers, []setting{r.Headers}, func() {}}))
	default:
		found = r.inEnvironment(schemes)
	}
	for _, s := range found {
		if !s.self().isUnknown {
			s.read()
		}
	}
	c.Headers = headers
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		use("the header "+name, r.source(r.Headers, headers[name]))
	}
	if c.TLS = r.tls(); c.TLS.ClientCertPEM != "" {
		use("a client certificate", r.source(r.TLS.ClientCertPEM))
	}
	if len(used) == 0 && len(found) == 0 && !r.Headers.isUnknown && !r.TLS.ClientCertPEM.isUnknown {
		r.refuseEmpty(schemes)
	}
	c.Credentials = cmp.Or(strings.Join(used, " and "), requests.NoCredentials)
	return c
}

// schemes returns all schemes. Each one reads its attributes into c, and describes them with use.
func (r *reader) schemes(c *requests.Config, use func(what, source string)) []scheme {
	b, o := r.BasicAuth, r.OAuth2
	return []scheme{
		{r.Token, []setting{r.Token}, func() {
			c.Token = r.token(r.Token)
			use("a bearer token", r.source(r.Token, c.Token))
		}},
		{r.TokenFile, []setting{r.TokenFile}, func() { // the file may not exist before the first request
			c.TokenFile = r.file(r.TokenFile)
			use(fmt.Sprintf("the bearer token in the file %q", c.TokenFile), r.source(r.TokenFile))
		}},
		{b, []setting{b.Username, b.Password}, func() {
			c.BasicAuth = r.basicAuth()
			use(fmt.Sprintf("the basic_auth of user %q", c.BasicAuth.Username),
				r.source(b.Username, c.BasicAuth.Username, c.BasicAuth.Password))
		}},
		{o, []setting{o.TokenURL, o.ClientID, o.ClientSecret, o.ClientAssertion, o.ClientAssertionFile}, func() {
			c.OAuth2 = r.oauth2()
			source := r.source(o.ClientID)
			if with := c.OAuth2.Credentials; with != "" {
				source += ", obtained with " + with
			}
			use(fmt.Sprintf("a token of the oauth2 client %q", c.OAuth2.ClientID), source)
		}},
	}
}

// refuseEmpty reports the variables of schemes that are set, but have no value, where nothing else authenticates requests.
func (r *reader) refuseEmpty(schemes []scheme) {
	for _, s := range schemes {
		for _, part := range s.parts {
			if empty := r.empty(part); empty != "" {
				r.reportUnset(part, strings.TrimSpace(empty)+" If requests need no credentials, unset the variable.")
			}
		}
	}
}

// source describes where a credential comes from, and says if it may not be one.
func (r *reader) source(a setting, values ...string) string {
	variable, _ := r.variable(a)
	source := " from " + cmp.Or(variable, "the provider block")
	if slices.ContainsFunc(values, requests.LooksUnfilled) {
		source += " (the value looks like a reference that nothing has replaced)"
	}
	return source
}

// headers returns the headers, and the name of the one that is Authorization: case does not matter.
func (r *reader) headers() (headers map[string]string, authorization string) {
	headers, names := map[string]string{}, map[string]string{}
	elements := r.Headers.inBlock.Elements()
	if text := r.fromEnvironment(r.Headers); text != "" {
		var err error
		if elements, err = parseHeaders(text); err != nil {
			r.refuse(r.Headers, "%s.", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(elements)) {
		a, canonical := r.Headers.element(r.Headers.at.AtMapKey(name)), http.CanonicalHeaderKey(name)
		value := r.element(a, elements[name])
		switch err := requests.CheckHeader(name); {
		case err != nil:
			r.refuse(a, "%s.", err)
		case names[canonical] != "":
			r.refuse(a, "is the same header as %q.", names[canonical])
		case elements[name].Equal(types.StringValue("")):
			r.refuse(a, "is set, but empty. Leave it out if the service does not need it.")
		}
		headers[name], names[canonical] = value, name
	}
	return headers, names["Authorization"]
}

// parseHeaders reads a JSON object of texts. Its errors do not quote the values, which are secret.
func parseHeaders(text string) (map[string]attr.Value, error) {
	text = strings.TrimSpace(text)
	wrongForm := errors.New(`must be a JSON object of texts, such as {"X-Api-Key": "…"}`)
	switch {
	case strings.HasPrefix(text, "\ufeff"):
		return nil, requests.ErrMark
	case !json.Valid([]byte(text)), text[0] != '{':
		return nil, wrongForm
	}
	headers, decoder := map[string]attr.Value{}, json.NewDecoder(strings.NewReader(text))
	_, _ = decoder.Token() // the brace
	for decoder.More() {
		token, _ := decoder.Token()
		name := fmt.Sprint(token)
		var value *string
		if decoder.Decode(&value) != nil {
			return nil, wrongForm
		}
		if headers[name] != nil { // package json would take the last one
			return nil, fmt.Errorf("has the header %q twice", name)
		}
		headers[name] = types.StringPointerValue(value)
	}
	return headers, nil
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
	if err := requests.CheckToken(token); err != nil {
		r.refuse(t, "cannot be sent: %s.", err)
	}
	return token
}

func (r *reader) basicAuth() *requests.BasicAuth {
	username := r.required(r.BasicAuth.Username, "")
	if strings.Contains(username, ":") {
		r.refuse(r.BasicAuth.Username, "must not contain a colon, which HTTP Basic authentication cannot carry.")
	}
	return &requests.BasicAuth{Username: username, Password: r.required(r.BasicAuth.Password, "")}
}

func (r *reader) oauth2() *requests.OAuth2 {
	o, a := r.OAuth2, &requests.OAuth2{EndpointParams: map[string]string{}}
	a.TokenURL = r.address(o.TokenURL, "", requests.ParseURL)
	a.ClientID = r.required(o.ClientID, "")
	of := func(t setting, read func()) scheme { return scheme{t, []setting{t}, read} }
	assertion := of(o.ClientAssertion, func() { a.ClientAssertion = r.token(o.ClientAssertion) })
	schemes := []scheme{
		of(o.ClientSecret, func() { a.ClientSecret = r.line(o.ClientSecret) }),
		assertion,
		of(o.ClientAssertionFile, func() { a.ClientAssertionFile = r.file(o.ClientAssertionFile) }),
	}
	found := r.configured(schemes)
	if len(found) == 0 {
		found = r.inEnvironment(schemes)
	}
	if len(found) == 0 && r.isSet(assertion) {
		found = []scheme{assertion}
	}
	if len(found) == 0 {
		r.refuseUnset(o.ClientSecret, " Instead of a secret, you can set client_assertion or client_assertion_file.")
	}
	for _, s := range found {
		s.read()
		a.Credentials = "the " + strings.TrimPrefix(s.self().at.String(), "oauth2.") + r.source(s, a.ClientID, a.ClientSecret, a.ClientAssertion)
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
