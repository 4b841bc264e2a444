package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"

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
		use("the header "+name+odd("value", headers[name]), r.place(r.Headers))
	}
	if c.TLS = r.tls(); c.TLS.ClientCertPEM != "" {
		use("a client certificate", r.place(r.TLS.ClientCertPEM))
	}
	if len(used) == 0 && isFinal && !r.TLS.ClientCertPEM.isUnknown {
		r.refuseNone(schemes)
	}
	c.Credentials = cmp.Or(strings.Join(used, " and "), requests.NoCredentials)
	c.Place = strings.Join(slices.Compact(places), " and ")
	return c
}

// schemes returns all schemes. Each one reads its attributes into c, and describes them with use.
func (r *reader) schemes(c *requests.Config, use func(what, place string)) []scheme {
	b, o := r.BasicAuth, r.OAuth2
	ofClient := []setting{o.TokenURL, o.ClientID, o.ClientSecret, o.ClientAssertion, o.ClientAssertionFile}
	if len(o.Scopes.inBlock.Elements())+len(o.EndpointParams.inBlock.Elements()) > 0 {
		ofClient = append(ofClient, o.Scopes, o.EndpointParams)
	}
	return []scheme{
		{r.Token, []setting{r.Token}, func() {
			c.Token = r.token(r.Token)
			use("a bearer token"+odd("value", c.Token), r.place(r.Token))
		}},
		{r.TokenFile, []setting{r.TokenFile}, func() { // the file may not exist before the first request
			c.TokenFile = r.file(r.TokenFile)
			file := fmt.Sprintf("the file %q", c.TokenFile)
			use("the bearer token in "+file, file)
		}},
		{b, []setting{b.Username, b.Password}, func() {
			c.BasicAuth = r.basicAuth()
			user, password := c.BasicAuth.Username, c.BasicAuth.Password
			what := "the basic_auth"
			if password != "" { // otherwise, the user name may be an API key
				what += fmt.Sprintf(" of user %q", user)
			}
			use(what+odd("password", password), r.place(b.Username)+" and "+r.place(b.Password))
		}},
		{o, ofClient, func() {
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
func (r *reader) place(of setting) string {
	variable, _ := r.variable(of)
	return cmp.Or(variable, of.self().at.String()+" in the provider block")
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
	read := func(t text) string {
		if t.inBlock.Equal(types.StringValue("")) { // RFC 7617 allows it, and services take a key as one of the two
			return ""
		}
		return r.required(t, "")
	}
	username := read(r.BasicAuth.Username)
	if strings.Contains(username, ":") {
		r.refuse(r.BasicAuth.Username, "must not contain a colon, which HTTP Basic authentication cannot carry.")
	}
	return &requests.BasicAuth{Username: username, Password: read(r.BasicAuth.Password)}
}

func (r *reader) oauth2() *requests.OAuth2 {
	o, a := r.OAuth2, &requests.OAuth2{EndpointParams: map[string]string{}}
	a.TokenURL = r.address(o.TokenURL, "", transport.ParseURL)
	a.ClientID = r.required(o.ClientID, "")
	r.warnOfCleartext(o.TokenURL, a.TokenURL)
	of := func(t setting, read func()) scheme { return scheme{t, []setting{t}, read} }
	assertion := of(o.ClientAssertion, func() { a.ClientAssertion = r.token(o.ClientAssertion) })
	schemes := []scheme{
		of(o.ClientSecret, func() { a.ClientSecret = r.line(o.ClientSecret) }),
		assertion,
		of(o.ClientAssertionFile, func() { a.ClientAssertionFile = r.file(o.ClientAssertionFile) }),
	}
	chosen, isFinal := r.choose(schemes)
	switch {
	case len(chosen) > 0 || !isFinal:
	case r.isSet(o.ClientAssertion): // its second variable does not mean it beside others
		chosen = []scheme{assertion}
	default:
		r.refuseUnset(o.ClientSecret, " Instead of a secret, you can set client_assertion or client_assertion_file.")
	}
	for _, s := range chosen {
		s.read()
		what := strings.TrimPrefix(s.self().at.String(), "oauth2.")
		a.Credentials, a.Place = fmt.Sprintf("the %s of client %q", what, a.ClientID), r.place(s)
		if secret := a.ClientSecret + a.ClientAssertion; secret != "" { // "" is in a file
			a.Credentials += odd("value", secret)
		}
	}
	r.tokenParameters(a)
	return a
}

// tokenParameters reads what a token request has beside the credentials of the client.
func (r *reader) tokenParameters(a *requests.OAuth2) {
	o := r.OAuth2
	for i, element := range o.Scopes.inBlock.Elements() {
		at := o.Scopes.element(o.Scopes.at.AtListIndex(i))
		a.Scopes = append(a.Scopes, r.element(at, element))
	}
	params := o.EndpointParams.inBlock.Elements()
	for _, name := range slices.Sorted(maps.Keys(params)) {
		at := o.EndpointParams.element(o.EndpointParams.at.AtMapKey(name))
		switch name {
		case "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope":
			r.refuse(at, "is set by the attributes of oauth2.")
		}
		a.EndpointParams[name] = r.element(at, params[name])
	}
}
