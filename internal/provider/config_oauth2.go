package provider

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func oauth2Attribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "OAuth2 client credentials grant. One token is requested when it is first needed, shared by " +
			"all operations, and renewed when it expires or is refused. The client authenticates with one of `client_secret`, " +
			"`client_assertion` and `client_assertion_file`. Environment: the variables `STREAM_OAUTH2_…` of the attributes. " +
			"Default: none.",
		Attributes: map[string]schema.Attribute{
			"token_url":     optionalString("Address of the token endpoint. Environment: `STREAM_OAUTH2_TOKEN_URL`. No default."),
			"client_id":     optionalString("Id of the client. Environment: `STREAM_OAUTH2_CLIENT_ID`. No default."),
			"client_secret": secretString("Secret of the client. Environment: `STREAM_OAUTH2_CLIENT_SECRET`. No default."),
			"client_assertion": secretString("Assertion that authenticates the client instead of a secret (RFC 7523), such as a token of the " +
				"CI system. Environment: `STREAM_OAUTH2_CLIENT_ASSERTION`. No default."),
			"client_assertion_file": optionalString("Path of a file with the assertion, for assertions that are replaced while Terraform runs. " +
				"Environment: `STREAM_OAUTH2_CLIENT_ASSERTION_FILE`. No default."),
			"scopes": schema.ListAttribute{
				ElementType:         types.StringType,
				Optional:            true,
				MarkdownDescription: "Scopes to request. Default: none.",
			},
			"endpoint_params": schema.MapAttribute{
				ElementType:         types.StringType,
				Optional:            true,
				Sensitive:           true,
				MarkdownDescription: "Additional parameters of the token request, such as `audience`. Default: none.",
			},
		},
	}
}

func (s *settings) readOAuth2(v types.Object) {
	if s.unknown = s.unknown || v.IsUnknown(); v.IsUnknown() {
		return
	}
	at := path.Root("oauth2")
	a := &streams.OAuth2{
		TokenURL:       s.requiredText(at.AtName("token_url"), objectAttribute[types.String](v, "token_url"), "STREAM_OAUTH2_TOKEN_URL"),
		ClientID:       s.requiredText(at.AtName("client_id"), objectAttribute[types.String](v, "client_id"), "STREAM_OAUTH2_CLIENT_ID"),
		EndpointParams: map[string]string{},
	}
	if a.TokenURL != "" {
		s.checkAddress(at.AtName("token_url"), a.TokenURL, streams.ParseTokenURL)
	}
	s.readClientAuthentication(at, v, a)
	scopes := objectAttribute[types.List](v, "scopes")
	for i, scope := range scopes.Elements() {
		a.Scopes = append(a.Scopes, s.elementText(at.AtName("scopes").AtListIndex(i), scope))
	}
	params := objectAttribute[types.Map](v, "endpoint_params")
	for _, name := range slices.Sorted(maps.Keys(params.Elements())) {
		at := at.AtName("endpoint_params").AtMapKey(name)
		switch name {
		case "client_id", "client_secret", "client_assertion", "scope":
			s.refuse(at, "has an attribute of its own in oauth2.")
		case "client_assertion_type":
			s.refuse(at, "is set by the provider together with client_assertion.")
		}
		a.EndpointParams[name] = s.elementText(at, params.Elements()[name])
	}
	s.unknown = s.unknown || scopes.IsUnknown() || params.IsUnknown()
	s.client.OAuth2 = a
}

// readClientAuthentication reads the one way in which the client authenticates.
func (s *settings) readClientAuthentication(oauth2 path.Path, v types.Object, a *streams.OAuth2) {
	var ways []way
	for _, w := range []struct {
		name, variable string
		to             *string
	}{
		{"client_secret", "STREAM_OAUTH2_CLIENT_SECRET", &a.ClientSecret},
		{"client_assertion", "STREAM_OAUTH2_CLIENT_ASSERTION", &a.ClientAssertion},
		{"client_assertion_file", "STREAM_OAUTH2_CLIENT_ASSERTION_FILE", &a.ClientAssertionFile},
	} {
		at, value := oauth2.AtName(w.name), objectAttribute[types.String](v, w.name)
		read := func() { *w.to, _ = s.text(at, value, w.variable) }
		ways = append(ways, way{w.name, at, !value.IsNull(), read, []string{w.variable}})
	}
	if !s.readOneWay("oauth2.", ways, true) {
		s.refuse(oauth2.AtName("client_secret"), "is missing. Set it in the provider block, or set the environment variable "+
			"STREAM_OAUTH2_CLIENT_SECRET. Instead of a secret, you can set client_assertion or client_assertion_file.")
	}
	s.checkCredential(oauth2.AtName("client_assertion"), a.ClientAssertion, "client_assertion_file")
}
