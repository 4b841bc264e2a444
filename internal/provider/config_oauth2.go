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
			"all operations, and renewed when it expires or is refused. Environment: `STREAM_OAUTH2_TOKEN_URL`, " +
			"`STREAM_OAUTH2_CLIENT_ID` and `STREAM_OAUTH2_CLIENT_SECRET`. Default: none.",
		Attributes: map[string]schema.Attribute{
			"token_url": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Address of the token endpoint. Environment: `STREAM_OAUTH2_TOKEN_URL`. No default.",
			},
			"client_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Id of the client. Environment: `STREAM_OAUTH2_CLIENT_ID`. No default.",
			},
			"client_secret": schema.StringAttribute{
				Optional:            true,
				Sensitive:           true,
				MarkdownDescription: "Secret of the client. Environment: `STREAM_OAUTH2_CLIENT_SECRET`. No default.",
			},
			"scopes": schema.ListAttribute{
				ElementType:         types.StringType,
				Optional:            true,
				MarkdownDescription: "Scopes to request. Default: none.",
			},
			"endpoint_params": schema.MapAttribute{
				ElementType:         types.StringType,
				Optional:            true,
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
		ClientSecret:   s.requiredText(at.AtName("client_secret"), objectAttribute[types.String](v, "client_secret"), "STREAM_OAUTH2_CLIENT_SECRET"),
		EndpointParams: map[string]string{},
	}
	if a.TokenURL != "" {
		s.checkAddress(at.AtName("token_url"), a.TokenURL, streams.ParseTokenURL)
	}
	scopes := objectAttribute[types.List](v, "scopes")
	for i, scope := range scopes.Elements() {
		a.Scopes = append(a.Scopes, s.elementText(at.AtName("scopes").AtListIndex(i), scope))
	}
	params := objectAttribute[types.Map](v, "endpoint_params")
	for _, name := range slices.Sorted(maps.Keys(params.Elements())) {
		at := at.AtName("endpoint_params").AtMapKey(name)
		if name == "client_id" || name == "client_secret" || name == "scope" {
			s.refuse(at, "has an attribute of its own in oauth2.")
		}
		a.EndpointParams[name] = s.elementText(at, params.Elements()[name])
	}
	s.unknown = s.unknown || scopes.IsUnknown() || params.IsUnknown()
	s.client.OAuth2 = a
}
