package provider

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func tokenAttribute() schema.Attribute {
	return secretString("Bearer token, sent as `Authorization: Bearer …`. Environment: `STREAM_TOKEN`. " +
		"Set at most one of `token`, `token_file`, `basic_auth` and `oauth2`. Default: none.")
}

func tokenFileAttribute() schema.Attribute {
	return optionalString("Path of a file with a bearer token, for tokens that are replaced while Terraform runs. " +
		"Environment: `STREAM_TOKEN_FILE`. Default: none.")
}

func basicAuthAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "User for HTTP Basic authentication. Environment: `STREAM_USERNAME` and " +
			"`STREAM_PASSWORD`. Default: none.",
		Attributes: map[string]schema.Attribute{
			"username": optionalString("Name of the user. Environment: `STREAM_USERNAME`. No default."),
			"password": secretString("Password of the user. Environment: `STREAM_PASSWORD`. No default."),
		},
	}
}

func headersAttribute() schema.Attribute {
	return schema.MapAttribute{
		ElementType: types.StringType,
		Optional:    true,
		Sensitive:   true,
		MarkdownDescription: "Headers of every request to the service, such as an API key. They are not sent to a token " +
			"endpoint. Headers that the request itself needs, such as `Content-Type` and `Host`, cannot be set, and " +
			"`Authorization` cannot be set beside another scheme. Default: none.",
	}
}

func (s *settings) readHeaders(v types.Map) {
	s.unknown = s.unknown || v.IsUnknown()
	s.client.Headers = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(v.Elements())) {
		at := path.Root("headers").AtMapKey(name)
		value := s.elementText(at, v.Elements()[name])
		if err := streams.CheckHeader(name, value); err != nil {
			s.refuse(at, "%s.", err)
		} else if strings.TrimSpace(value) != value {
			s.refuse(at, "must not have surrounding white space. If it comes from a file, use trimspace().")
		} else if other, twice := s.configuredHeader(name); twice {
			s.refuse(at, "is the same header as %q.", other)
		}
		s.client.Headers[name] = value
	}
}

// configuredHeader finds the configured spelling of a header's name. Case does not matter in header names.
func (s *settings) configuredHeader(name string) (string, bool) {
	for other := range s.client.Headers {
		if strings.EqualFold(other, name) {
			return other, true
		}
	}
	return "", false
}

// way is one of several ways to authenticate.
type way struct {
	name      string
	at        path.Path
	set       bool // in the provider block
	read      func()
	variables []string
}

// readOneWay reads the one way that is in the provider block, or else the one in the environment. It reports false if
// there is none. prefix is the path of the names.
func (s *settings) readOneWay(prefix string, ways []way, mayUseEnvironment bool) bool {
	var configured, inEnvironment []way
	for _, w := range ways {
		if w.set {
			configured = append(configured, w)
		}
		w.variables = slices.DeleteFunc(w.variables, func(name string) bool { return s.getenv(name) == "" })
		if len(w.variables) > 0 && mayUseEnvironment {
			inEnvironment = append(inEnvironment, w)
		}
	}
	for i, w := range configured {
		if i > 0 {
			s.refuse(w.at, "and %s are two ways to authenticate. A request carries one.", configured[0].name)
		}
		w.read()
	}
	if len(configured) > 0 || len(inEnvironment) == 0 {
		return len(configured) > 0
	}
	first := inEnvironment[0]
	for _, w := range inEnvironment[1:] {
		s.diags.Append(twoSchemesInEnvironment(prefix+first.name, first.variables, prefix+w.name, w.variables))
	}
	first.read()
	return true
}

func (s *settings) readCredentials(m providerModel) {
	header, byHeader := s.configuredHeader("Authorization")
	ways := []way{
		{"token", path.Root("token"), !m.Token.IsNull(), func() { s.readToken(m.Token) }, []string{"STREAM_TOKEN"}},
		{"token_file", path.Root("token_file"), !m.TokenFile.IsNull(), func() { s.readTokenFile(m.TokenFile) }, []string{"STREAM_TOKEN_FILE"}},
		{"basic_auth", path.Root("basic_auth"), !m.BasicAuth.IsNull(), func() { s.readBasicAuth(m.BasicAuth) },
			[]string{"STREAM_USERNAME", "STREAM_PASSWORD"}},
		{"oauth2", path.Root("oauth2"), !m.OAuth2.IsNull(), func() { s.readOAuth2(m.OAuth2) },
			[]string{"STREAM_OAUTH2_TOKEN_URL", "STREAM_OAUTH2_CLIENT_ID", "STREAM_OAUTH2_CLIENT_SECRET",
				"STREAM_OAUTH2_CLIENT_ASSERTION", "STREAM_OAUTH2_CLIENT_ASSERTION_FILE"}},
	}
	for _, w := range ways {
		if byHeader && w.set {
			s.refuse(path.Root("headers").AtMapKey(header), "and %s are two ways to authenticate. A request carries one.", w.name)
		}
	}
	s.readOneWay("", ways, !byHeader && !m.Headers.IsUnknown()) // unknown headers may hold Authorization
}

func (s *settings) readToken(v types.String) {
	at := path.Root("token")
	s.client.Token, _ = s.text(at, v, "STREAM_TOKEN")
	s.checkCredential(at, s.client.Token, "token_file")
	if scheme, _, found := strings.Cut(s.client.Token, " "); found && strings.EqualFold(scheme, "Bearer") {
		s.refuse(at, `must not begin with "Bearer", which is sent before the token.`)
	}
}

// readTokenFile does not read the file: it may not exist before the first request.
func (s *settings) readTokenFile(v types.String) {
	s.client.TokenFile, _ = s.text(path.Root("token_file"), v, "STREAM_TOKEN_FILE")
}

// checkCredential refuses a credential that a header cannot carry. As a rule, it comes from a file.
func (s *settings) checkCredential(at path.Path, text, fileAttribute string) {
	if err := streams.CheckHeader("Authorization", text); err != nil || strings.TrimSpace(text) != text {
		advice := fmt.Sprintf(" If it comes from a file, use trimspace() or %s.", fileAttribute)
		if s.variable(at) != "" {
			advice = ""
		}
		s.refuse(at, "must not contain line breaks or surrounding white space.%s", advice)
	}
}

func (s *settings) readBasicAuth(v types.Object) {
	if s.unknown = s.unknown || v.IsUnknown(); v.IsUnknown() {
		return
	}
	at := path.Root("basic_auth")
	s.client.BasicAuth = &streams.BasicAuth{
		Username: s.requiredText(at.AtName("username"), objectAttribute[types.String](v, "username"), "STREAM_USERNAME"),
		Password: s.requiredText(at.AtName("password"), objectAttribute[types.String](v, "password"), "STREAM_PASSWORD"),
	}
	if strings.Contains(s.client.BasicAuth.Username, ":") {
		s.refuse(at.AtName("username"), "must not contain a colon, which HTTP Basic authentication cannot carry.")
	}
}

// noCredentials is what describeCredentials says of requests without any.
const noCredentials = "no credentials"

// describeCredentials says for errors what authenticates the requests, and where it comes from. A header's
// name is no secret, and its value is.
func (s *settings) describeCredentials() string {
	var sent []string
	switch c := s.client; {
	case c.OAuth2 != nil:
		sent = append(sent, fmt.Sprintf("a token of the oauth2 client %q%s", c.OAuth2.ClientID, s.origin(path.Root("oauth2").AtName("client_id"))))
	case c.BasicAuth != nil:
		sent = append(sent, fmt.Sprintf("the basic_auth of user %q%s", c.BasicAuth.Username, s.origin(path.Root("basic_auth").AtName("username"))))
	case c.TokenFile != "":
		sent = append(sent, fmt.Sprintf("the bearer token in the file %q of %s", c.TokenFile, cmp.Or(s.variable(path.Root("token_file")), "token_file")))
	case c.Token != "":
		sent = append(sent, "a bearer token"+cmp.Or(s.origin(path.Root("token")), " from the provider block"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.client.Headers)) {
		sent = append(sent, "the header "+name)
	}
	if s.client.TLS.ClientCertPEM != "" {
		sent = append(sent, "a client certificate")
	}
	if sent == nil {
		return noCredentials
	}
	return strings.Join(sent, " and ")
}

// origin says which environment variable an attribute got its value from. It is empty if the value is in
// the provider block.
func (s *settings) origin(at path.Path) string {
	if variable := s.variable(at); variable != "" {
		return " from " + variable
	}
	return ""
}
