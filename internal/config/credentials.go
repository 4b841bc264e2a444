package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// credentials reads what authenticates requests: one scheme, headers and a client certificate. Errors describe it.
func (r *reader) credentials() (c requests.Config) {
	var used, places []string
	use := func(what, place string) { used, places = append(used, what), append(places, place) }
	headers, authorization := r.headers()
	schemes := append(r.schemes(&c, use), authorization)
	chosen, isFinal := r.choose(schemes)
	for _, s := range chosen {
		s.read()
	}
	c.Headers = headers
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		use("the header "+name+odd("value", headers[name]), r.place(r.get("headers")))
	}
	if c.TLS = r.tls(); c.TLS.ClientCertPEM != "" {
		use("a client certificate", r.place(r.get("tls.client_cert_pem")))
	}
	if len(used) == 0 && isFinal && !r.get("tls.client_cert_pem").isUnknown {
		r.refuseNone(schemes)
	}
	c.Credentials = cmp.Or(strings.Join(used, " and "), requests.NoCredentials)
	c.Place = strings.Join(slices.Compact(places), " and ")
	return c
}

// schemes returns all schemes. Each one reads its attributes into c, and describes them with use.
func (r *reader) schemes(c *requests.Config, use func(what, place string)) []scheme {
	user, password := r.get("basic_auth.username"), r.get("basic_auth.password")
	var ofClient []attribute
	for _, name := range []string{"token_url", "client_id", "client_secret", "client_assertion", "client_assertion_file"} {
		ofClient = append(ofClient, r.get("oauth2."+name))
	}
	scopes, params := r.get("oauth2.scopes"), r.get("oauth2.endpoint_params")
	if len(scopes.list())+len(params.elements()) > 0 {
		ofClient = append(ofClient, scopes, params)
	}
	return []scheme{
		schemeOf(r.get("token"), func(t attribute) {
			c.Token = r.token(t)
			use("a bearer token"+odd("value", c.Token), r.place(t))
		}),
		schemeOf(r.get("token_file"), func(t attribute) { // the file may not exist before the first request
			c.TokenFile = r.file(t)
			file := fmt.Sprintf("the file %q", c.TokenFile)
			use("the bearer token in "+file, file)
		}),
		{r.get("basic_auth"), []attribute{user, password}, func() {
			c.BasicAuth = r.basicAuth(user, password)
			what := "the basic_auth"
			if c.BasicAuth.Password != "" { // otherwise, the user name may be an API key
				what += fmt.Sprintf(" of user %q", c.BasicAuth.Username)
			}
			use(what+odd("password", c.BasicAuth.Password), r.place(user)+" and "+r.place(password))
		}},
		{r.get("oauth2"), ofClient, func() {
			c.OAuth2 = r.oauth2()
			use(fmt.Sprintf("a token of the oauth2 client %q", c.OAuth2.ClientID),
				"oauth2.scopes and oauth2.endpoint_params (such as audience or resource)")
		}},
	}
}

// odd says what of a credential may not be what somebody meant, or returns "".
func odd(name, value string) string {
	if suspicion := requests.Suspicion(value); suspicion != "" {
		return " (the " + name + " " + suspicion + ")"
	}
	return ""
}

// place names the attribute or the variable that a setting comes from.
func (r *reader) place(of attribute) string {
	variable, _ := r.variable(of)
	return cmp.Or(variable, of.at.String()+" in the provider block")
}

// token refuses a token that cannot be sent.
func (r *reader) token(t attribute) string {
	token := r.line(t)
	if err := requests.CheckToken(token); err != nil {
		r.refuse(t, "cannot be sent: %s.", err)
	}
	return token
}

func (r *reader) basicAuth(user, password attribute) *requests.BasicAuth {
	read := func(t attribute) string {
		if t.isEmpty() { // RFC 7617 allows it, and services take a key as one of the two
			return ""
		}
		return r.required(t, "")
	}
	username := read(user)
	if strings.Contains(username, ":") {
		r.refuse(user, "must not contain a colon, which HTTP Basic authentication cannot carry.")
	}
	return &requests.BasicAuth{Username: username, Password: read(password)}
}

func (r *reader) oauth2() *requests.OAuth2 {
	a := &requests.OAuth2{EndpointParams: map[string]string{}}
	a.TokenURL = r.address("oauth2.token_url", "", transport.ParseURL)
	a.ClientID = r.required(r.get("oauth2.client_id"), "")
	assertion := schemeOf(r.get("oauth2.client_assertion"), func(t attribute) { a.ClientAssertion = r.token(t) })
	schemes := []scheme{
		schemeOf(r.get("oauth2.client_secret"), func(t attribute) { a.ClientSecret = r.line(t) }),
		assertion,
		schemeOf(r.get("oauth2.client_assertion_file"), func(t attribute) { a.ClientAssertionFile = r.file(t) }),
	}
	chosen, isFinal := r.choose(schemes)
	switch {
	case len(chosen) > 0 || !isFinal:
	case r.isSet(assertion.attribute): // its second variable does not mean it beside others
		chosen = []scheme{assertion}
	default:
		r.refuseUnset(schemes[0].attribute, " Instead of a secret, you can set client_assertion or client_assertion_file.")
	}
	for _, s := range chosen {
		s.read()
		what := strings.TrimPrefix(s.at.String(), "oauth2.")
		a.Credentials, a.Place = fmt.Sprintf("the %s of client %q", what, a.ClientID), r.place(s.attribute)
		if secret := a.ClientSecret + a.ClientAssertion; secret != "" { // "" is in a file
			a.Credentials += odd("value", secret)
		}
	}
	r.tokenParameters(a)
	return a
}

// tokenParameters reads what a token request has beside the credentials of the client.
func (r *reader) tokenParameters(a *requests.OAuth2) {
	scopes, params := r.get("oauth2.scopes"), r.get("oauth2.endpoint_params")
	for i, scope := range scopes.list() {
		a.Scopes = append(a.Scopes, r.element(scopes.element(scopes.at.AtListIndex(i)), scope))
	}
	for _, name := range slices.Sorted(maps.Keys(params.elements())) {
		at := params.element(params.at.AtMapKey(name))
		switch name {
		case "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope":
			r.refuse(at, "is set by the attributes of oauth2.")
		}
		a.EndpointParams[name] = r.element(at, params.elements()[name])
	}
}
