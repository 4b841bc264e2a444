package provider

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// noCredentials describes requests without any.
const noCredentials = "no credentials"

const surroundingSpace = "must not begin or end with white space, such as the line break of a file. In Terraform, trimspace() removes it."

// readHeaders returns the names of the headers by their canonical form: case does not matter.
func (o object) readHeaders() map[string]string {
	o.client.Headers = map[string]string{}
	names := map[string]string{}
	headers := attribute[types.Map](o, "headers").Elements()
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		at, canonical := o.at("headers").AtMapKey(name), http.CanonicalHeaderKey(name)
		value := o.element(at, headers[name])
		err := streams.CheckHeader(name, value)
		switch {
		case strings.TrimSpace(value) != value:
			o.refuse(at, surroundingSpace)
		case err != nil:
			o.refuse(at, "%s.", err)
		case names[canonical] != "":
			o.refuse(at, "is the same header as %q.", names[canonical])
		}
		o.client.Headers[name], names[canonical] = value, name
	}
	return names
}

// way is one of several ways to authenticate.
type way struct {
	at    path.Path
	value attr.Value // in the provider block; nil in an object that is null
	read  func()
}

func (o object) way(name string, read func()) way { return way{o.at(name), o.values[name], read} }

// readConfigured reads the way that is in the provider block. It reports false if there is none.
func (s *settings) readConfigured(ways []way) bool {
	var found []way
	for _, w := range ways {
		if w.value == nil || w.value.IsNull() {
			continue
		}
		if found = append(found, w); len(found) > 1 {
			s.refuse(w.at, "and %s are two ways to authenticate. A request carries one.", found[0].at)
		}
		if !w.value.IsUnknown() {
			w.read()
		}
	}
	return len(found) > 0
}

// readEnvironment reads the way that is in the environment. It reports false if there is none.
func (s *settings) readEnvironment(ways []way) bool {
	var found []way
	var texts []string
	for _, w := range ways {
		if variables := s.setVariables(w.at); len(variables) > 0 {
			found = append(found, w)
			texts = append(texts, fmt.Sprintf("%s (%s)", w.at, strings.Join(variables, ", ")))
		}
	}
	if len(found) > 1 {
		s.diags.Append(severalSchemesInEnvironment(texts))
	}
	if len(found) > 0 {
		found[0].read()
	}
	return len(found) > 0
}

// setVariables returns the environment variables of an attribute, and of those in it, that are set.
func (s *settings) setVariables(at path.Path) []string {
	var set []string
	for name, variable := range environmentVariables {
		if strings.HasPrefix(name+".", at.String()+".") && s.getenv(variable) != "" {
			set = append(set, variable)
		}
	}
	slices.Sort(set)
	return set
}

func (o object) readCredentials() {
	ways := []way{
		o.way("token", o.readToken),
		o.way("token_file", o.readTokenFile),
		o.way("basic_auth", o.readBasicAuth),
		o.way("oauth2", o.readOAuth2),
	}
	names, headers := o.readHeaders(), attribute[types.Map](o, "headers")
	if name, ok := names["Authorization"]; ok {
		ways = append(ways, way{o.at("headers").AtMapKey(name), headers.Elements()[name], func() {}})
	}
	if !o.readConfigured(ways) && !headers.IsUnknown() { // unknown headers may hold Authorization
		o.readEnvironment(ways)
	}
	for _, name := range slices.Sorted(maps.Keys(o.client.Headers)) {
		o.credentials = append(o.credentials, "the header "+name)
	}
}

// credential notes for errors what authenticates the requests, and where the value of an attribute of it came from.
func (o object) credential(name, format string, args ...any) {
	source := cmp.Or(o.variables[o.at(name).String()], "the provider block")
	o.credentials = append(o.credentials, fmt.Sprintf(format, args...)+" from "+source)
}

func (o object) readToken() {
	o.client.Token = o.text("token")
	o.checkToken(o.at("token"), o.client.Token)
	o.credential("token", "a bearer token")
}

// readTokenFile does not read the file: it may not exist before the first request.
func (o object) readTokenFile() {
	o.client.TokenFile = o.text("token_file")
	o.credential("token_file", "the bearer token in the file %q", o.client.TokenFile)
}

// checkToken refuses a token that cannot be sent. Many come from a file.
func (s *settings) checkToken(at path.Path, token string) {
	if strings.TrimSpace(token) != token {
		s.refuse(at, surroundingSpace)
	} else if err := streams.CheckToken(token); err != nil {
		s.refuse(at, "cannot be sent: %s.", err)
	}
}

func (o object) readBasicAuth() {
	basic := o.nested("basic_auth")
	username := basic.requiredText("username")
	if strings.Contains(username, ":") {
		o.refuse(basic.at("username"), "must not contain a colon, which HTTP Basic authentication cannot carry.")
	}
	o.client.BasicAuth = &streams.BasicAuth{Username: username, Password: basic.requiredText("password")}
	basic.credential("username", "the basic_auth of user %q", username)
}

func (o object) readOAuth2() {
	oauth2 := o.nested("oauth2")
	a := &streams.OAuth2{
		TokenURL:       oauth2.requiredText("token_url"),
		ClientID:       oauth2.requiredText("client_id"),
		EndpointParams: map[string]string{},
	}
	o.client.OAuth2 = a
	oauth2.credential("client_id", "a token of the oauth2 client %q", a.ClientID)
	o.checkAddress(oauth2.at("token_url"), a.TokenURL, streams.ParseTokenURL)

	ways := []way{
		oauth2.way("client_secret", func() { a.ClientSecret = oauth2.text("client_secret") }),
		oauth2.way("client_assertion", func() { a.ClientAssertion = oauth2.text("client_assertion") }),
		oauth2.way("client_assertion_file", func() { a.ClientAssertionFile = oauth2.text("client_assertion_file") }),
	}
	if !o.readConfigured(ways) && !o.readEnvironment(ways) {
		o.refuse(oauth2.at("client_secret"), "is missing. Set it in the provider block, or set the environment variable "+
			"STREAM_OAUTH2_CLIENT_SECRET. Instead of a secret, you can set client_assertion or client_assertion_file.")
	}
	o.checkToken(oauth2.at("client_assertion"), a.ClientAssertion)

	for i, scope := range attribute[types.List](oauth2, "scopes").Elements() {
		a.Scopes = append(a.Scopes, o.element(oauth2.at("scopes").AtListIndex(i), scope))
	}
	params := attribute[types.Map](oauth2, "endpoint_params").Elements()
	for _, name := range slices.Sorted(maps.Keys(params)) {
		at := oauth2.at("endpoint_params").AtMapKey(name)
		switch name {
		case "client_id", "client_secret", "client_assertion", "scope":
			o.refuse(at, "has an attribute of its own in oauth2.")
		case "client_assertion_type":
			o.refuse(at, "is set by the provider together with client_assertion.")
		}
		a.EndpointParams[name] = o.element(at, params[name])
	}
}
