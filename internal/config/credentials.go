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
		use("the header "+name, r.source(r.Headers, headers[name]))
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

// source describes where a credential comes from, and says if it may not be one.
func (r *reader) source(a setting, values ...string) string {
	variable, _ := r.variable(a)
	source := " from " + cmp.Or(variable, "the provider block")
	if slices.ContainsFunc(values, requests.LooksUnfilled) {
		source += " (the value looks like a reference that nothing has replaced)"
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
	for _, s := range chosen {
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
