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

// credentials reads what authenticates requests: one scheme, headers and a client certificate. Errors describe it.
func (r *reader) credentials() streams.Config {
	headers, authorization := r.headers()
	schemes := []string{"token", "token_file", "basic_auth", "oauth2"}
	found := r.configured(schemes)
	inBlock := !r.value("headers").IsNull()
	switch {
	case len(found) > 0 && !inBlock: // a scheme in the block takes precedence over the environment
		delete(headers, authorization)
	case len(found) > 0 && authorization != "":
		r.refuse(at("headers").AtMapKey(authorization), secondScheme, found[0])
	case len(found) > 0, inBlock && authorization != "", r.value("headers").IsUnknown(): // they may hold Authorization
	case authorization != "":
		found = r.inEnvironment(append(schemes, "headers"))
	default:
		found = r.inEnvironment(schemes)
	}

	c := streams.Config{Headers: headers}
	var used []string
	use := func(what, name string) { used = append(used, what+" from "+r.source(name)) }
	for _, scheme := range found {
		switch {
		case r.value(scheme).IsUnknown():
		case scheme == "token":
			c.Token = r.token(scheme)
			use("a bearer token", scheme)
		case scheme == "token_file": // the file may not exist before the first request
			c.TokenFile = r.text(scheme)
			use(fmt.Sprintf("the bearer token in the file %q", c.TokenFile), scheme)
		case scheme == "basic_auth":
			c.BasicAuth = r.basicAuth()
			use(fmt.Sprintf("the basic_auth of user %q", c.BasicAuth.Username), "basic_auth.username")
		case scheme == "oauth2":
			c.OAuth2 = r.oauth2()
			use(fmt.Sprintf("a token of the oauth2 client %q", c.OAuth2.ClientID), "oauth2.client_id")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		use("the header "+name, "headers")
	}
	if c.TLS = r.tls(); c.TLS.ClientCertPEM != "" {
		use("a client certificate", "tls.client_cert_pem")
	}
	c.Credentials = cmp.Or(strings.Join(used, " and "), streams.NoCredentials)
	return c
}

func (r *reader) source(name string) string {
	_, variable := r.environment(name)
	return cmp.Or(variable, "the provider block")
}

// headers returns the headers, and the name of the one that is Authorization: case does not matter.
func (r *reader) headers() (headers map[string]string, authorization string) {
	headers, names := map[string]string{}, map[string]string{}
	v, _ := r.value("headers").(types.Map)
	elements := v.Elements()
	if text, _ := r.environment("headers"); text != "" {
		var values map[string]*string
		if json.Unmarshal([]byte(text), &values) != nil || values == nil { // the decoder's errors would quote secrets
			r.refuse(at("headers"), `must be a JSON object of texts, such as {"X-Api-Key": "…"}.`)
		}
		for name, value := range values {
			elements[name] = types.StringPointerValue(value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(elements)) {
		at, canonical := at("headers").AtMapKey(name), http.CanonicalHeaderKey(name)
		value := r.element(at, elements[name])
		err := streams.CheckHeader(name, value)
		switch {
		case err != nil:
			r.refuse(at, "%s.", err)
		case names[canonical] != "":
			r.refuse(at, "is the same header as %q.", names[canonical])
		}
		headers[name], names[canonical] = value, name
	}
	return headers, names["Authorization"]
}

// configured returns the schemes that are in the provider block. It refuses all but the first.
func (r *reader) configured(schemes []string) []string {
	found := slices.DeleteFunc(slices.Clone(schemes), func(scheme string) bool { return r.value(scheme).IsNull() })
	for i := 1; i < len(found); i++ {
		r.refuse(at(found[i]), secondScheme, found[0])
	}
	return found
}

// inEnvironment returns the first scheme that is in the environment. It refuses several.
func (r *reader) inEnvironment(schemes []string) []string {
	var found, variables []string
	for _, scheme := range schemes {
		for name, variable := range environmentVariables {
			if strings.HasPrefix(name+".", scheme+".") && r.getenv(variable) != "" {
				found, variables = append(found, scheme), append(variables, variable)
			}
		}
	}
	if found = slices.Compact(found); len(found) > 1 {
		slices.Sort(variables)
		r.diags.AddError(Invalid, fmt.Sprintf("The environment has several ways to authenticate: %s. A request carries one. "+
			"Unset the variables of the others, or set one in the provider block.", strings.Join(variables, ", ")))
	}
	return found[:min(len(found), 1)]
}

// token refuses a token that cannot be sent.
func (r *reader) token(name string) string {
	token := r.text(name)
	if err := streams.CheckToken(token); err != nil {
		r.refuse(at(name), "cannot be sent: %s.", err)
	}
	return token
}

func (r *reader) basicAuth() *streams.BasicAuth {
	username := r.required("basic_auth.username")
	if strings.Contains(username, ":") {
		r.refuse(at("basic_auth.username"), "must not contain a colon, which HTTP Basic authentication cannot carry.")
	}
	return &streams.BasicAuth{Username: username, Password: r.required("basic_auth.password")}
}

func (r *reader) oauth2() *streams.OAuth2 {
	a := &streams.OAuth2{EndpointParams: map[string]string{}}
	a.TokenURL = r.address("oauth2.token_url", streams.ParseURL)
	a.ClientID = r.required("oauth2.client_id")

	schemes := []string{"oauth2.client_secret", "oauth2.client_assertion", "oauth2.client_assertion_file"}
	found := r.configured(schemes)
	if len(found) == 0 {
		found = r.inEnvironment(schemes)
	}
	if _, variable := r.environment("oauth2.client_assertion"); len(found) == 0 && variable != "" {
		found = []string{"oauth2.client_assertion"}
	}
	if len(found) == 0 {
		r.diags.Append(missing("oauth2.client_secret", " Instead of a secret, you can set client_assertion or client_assertion_file."))
	}
	for _, scheme := range found {
		a.Credentials = fmt.Sprintf("the %s from %s", strings.TrimPrefix(scheme, "oauth2."), r.source(scheme))
		switch scheme {
		case "oauth2.client_secret":
			a.ClientSecret = r.text(scheme)
		case "oauth2.client_assertion":
			a.ClientAssertion = r.token(scheme)
		case "oauth2.client_assertion_file":
			a.ClientAssertionFile = r.text(scheme)
		}
	}

	scopes, _ := r.value("oauth2.scopes").(types.List)
	for i, scope := range scopes.Elements() {
		a.Scopes = append(a.Scopes, r.element(at("oauth2.scopes").AtListIndex(i), scope))
	}
	params, _ := r.value("oauth2.endpoint_params").(types.Map)
	for _, name := range slices.Sorted(maps.Keys(params.Elements())) {
		at := at("oauth2.endpoint_params").AtMapKey(name)
		switch name {
		case "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope":
			r.refuse(at, "is set by the attributes of oauth2.")
		}
		a.EndpointParams[name] = r.element(at, params.Elements()[name])
	}
	return a
}
