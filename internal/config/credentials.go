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

// credentials reads what authenticates requests to an address: one scheme, headers and a client certificate. Errors describe it.
func (r *reader) credentials(address string) (c requests.Config) {
	var used []string
	use := func(what, source string) { used = append(used, what+source) }
	headers, authorization := r.headers()
	schemes := append(r.schemes(&c, use), authorization)
	chosen, isFinal := r.choose(schemes)
	for _, s := range chosen {
		s.read()
	}
	c.Headers, c.Unused = headers, r.unusedHeaders(authorization, chosen)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		use("the header "+name, r.source(r.Headers, part{"the value", headers[name]}))
	}
	r.warnOfCleartext(r.BaseURL, address, used...) // a client certificate is not sent there
	if c.TLS = r.tls(); c.TLS.ClientCertPEM != "" {
		use("a client certificate", r.source(r.TLS.ClientCertPEM))
	}
	if len(used) == 0 && isFinal && !r.TLS.ClientCertPEM.isUnknown {
		r.refuseNone(schemes)
	}
	c.Credentials = cmp.Or(strings.Join(used, " and "), requests.NoCredentials)
	return c
}

// schemes returns all schemes. Each one reads its attributes into c, and describes them with use.
func (r *reader) schemes(c *requests.Config, use func(what, source string)) []scheme {
	b, o := r.BasicAuth, r.OAuth2
	ofClient := []setting{o.TokenURL, o.ClientID, o.ClientSecret, o.ClientAssertion, o.ClientAssertionFile}
	if len(o.Scopes.inBlock.Elements())+len(o.EndpointParams.inBlock.Elements()) > 0 {
		ofClient = append(ofClient, o.Scopes, o.EndpointParams)
	}
	return []scheme{
		{r.Token, []setting{r.Token}, func() {
			c.Token = r.token(r.Token)
			use("a bearer token", r.source(r.Token, part{"the value", c.Token}))
		}},
		{r.TokenFile, []setting{r.TokenFile}, func() { // the file may not exist before the first request
			c.TokenFile = r.file(r.TokenFile)
			use(fmt.Sprintf("the bearer token in the file %q", c.TokenFile), r.source(r.TokenFile))
		}},
		{b, []setting{b.Username, b.Password}, func() {
			c.BasicAuth = r.basicAuth()
			use(fmt.Sprintf("the basic_auth of user %q", c.BasicAuth.Username),
				r.source(b.Username, part{"the username", c.BasicAuth.Username}, part{"the password", c.BasicAuth.Password}))
		}},
		{o, ofClient, func() {
			c.OAuth2 = r.oauth2()
			source := r.source(o.ClientID)
			if with := c.OAuth2.Credentials; with != "" {
				source += ", obtained with " + with
			}
			use(fmt.Sprintf("a token of the oauth2 client %q", c.OAuth2.ClientID), source)
		}},
	}
}

// part is a part of a credential, such as a password.
type part struct{ name, value string }

// mayBeAddress is a part that is often an address itself, such as a scope. References of secret stores have that form, too.
func mayBeAddress(name, value string) part {
	if strings.Contains(value, "://") {
		value = ""
	}
	return part{name, value}
}

// source describes where a credential comes from, and names what of it may be no value.
func (r *reader) source(a setting, parts ...part) string {
	variable, _ := r.variable(a)
	source := " from " + cmp.Or(variable, "the provider block")
	var suspects []string
	for _, p := range parts {
		if requests.LooksUnfilled(p.value) {
			suspects = append(suspects, p.name)
		}
	}
	switch names := strings.Join(suspects, ", "); len(suspects) {
	case 0:
	case 1:
		source += fmt.Sprintf(" (%s looks like a reference that nothing has replaced)", names)
	default:
		source += fmt.Sprintf(" (%s look like references that nothing has replaced)", names)
	}
	return source
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
	r.warnOfCleartext(o.TokenURL, a.TokenURL, a.ClientID)
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
	others := append([]part{mayBeAddress("the client_id", a.ClientID)}, r.tokenParameters(a)...)
	for _, s := range chosen {
		s.read()
		name := "the " + inOAuth2(s)
		a.Credentials = name + r.source(s, append([]part{{name, a.ClientSecret}, {name, a.ClientAssertion}}, others...)...)
	}
	return a
}

// inOAuth2 is the name of a setting in the object oauth2.
func inOAuth2(of setting) string { return strings.TrimPrefix(of.self().at.String(), "oauth2.") }

// tokenParameters reads what a token request has beside the credentials of the client.
func (r *reader) tokenParameters(a *requests.OAuth2) (parts []part) {
	o := r.OAuth2
	for i, element := range o.Scopes.inBlock.Elements() {
		at := o.Scopes.element(o.Scopes.at.AtListIndex(i))
		scope := r.element(at, element)
		a.Scopes, parts = append(a.Scopes, scope), append(parts, mayBeAddress(inOAuth2(at), scope))
	}
	params := o.EndpointParams.inBlock.Elements()
	for _, name := range slices.Sorted(maps.Keys(params)) {
		at := o.EndpointParams.element(o.EndpointParams.at.AtMapKey(name))
		switch name {
		case "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope":
			r.refuse(at, "is set by the attributes of oauth2.")
		}
		a.EndpointParams[name] = r.element(at, params[name])
		parts = append(parts, mayBeAddress(inOAuth2(at), a.EndpointParams[name]))
	}
	return parts
}
