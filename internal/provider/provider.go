// Package provider is the Terraform provider: schemas, configuration, plan and state. What goes over
// the wire is the business of package streams.
package provider

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Address is where registries list this provider. Its namespace is a placeholder until it is published.
const Address = "registry.terraform.io/stream-management/stream"

var (
	_ provider.Provider                   = (*streamProvider)(nil)
	_ provider.ProviderWithValidateConfig = (*streamProvider)(nil)
	_ provider.ProviderWithActions        = (*streamProvider)(nil)
)

type streamProvider struct {
	version string
	session *session // nil until it is configured
}

// session is what Configure gives to resources and actions: one provider configuration in one run.
type session struct {
	client      *streams.Client // nil while the configuration is not known
	ownership   *ownership
	detectDrift bool
}

// configured reports whether there is a service to talk to.
func (s *session) configured() bool { return s != nil && s.client != nil }

// reads reports whether streams are read.
func (s *session) reads() bool { return s.configured() && s.detectDrift }

func (p *streamProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "stream"
	resp.Version = p.version
}

func (p *streamProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages which processors are attached to the streams of a stream management service.",
		Attributes: map[string]schema.Attribute{
			"base_url": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Address of the service, such as `https://streams.example.com`. A trailing `/` or " +
					"`/v2` makes no difference; a path prefix is kept. Environment: `STREAM_BASE_URL`. No default: one of the " +
					"two is required.",
			},
			"token": schema.StringAttribute{
				Optional:  true,
				Sensitive: true,
				MarkdownDescription: "Bearer token, sent as `Authorization: Bearer …`. Environment: `STREAM_TOKEN`. " +
					"At most one of `token`, `basic_auth` and `oauth2`. Default: none.",
			},
			"basic_auth": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "User for HTTP Basic authentication. Environment: `STREAM_USERNAME` and " +
					"`STREAM_PASSWORD`. Default: none.",
				Attributes: map[string]schema.Attribute{
					"username": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: "Name of the user. Environment: `STREAM_USERNAME`. No default.",
					},
					"password": schema.StringAttribute{
						Optional:            true,
						Sensitive:           true,
						MarkdownDescription: "Password of the user. Environment: `STREAM_PASSWORD`. No default.",
					},
				},
			},
			"oauth2": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "OAuth2 client credentials grant. One token is fetched when it is first needed, shared by " +
					"all operations and renewed when it expires or is refused. Environment: `STREAM_OAUTH2_TOKEN_URL`, " +
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
						MarkdownDescription: "Scopes to ask for. Default: none.",
					},
					"endpoint_params": schema.MapAttribute{
						ElementType:         types.StringType,
						Optional:            true,
						MarkdownDescription: "Further parameters of the token request, such as `audience`. Default: none.",
					},
				},
			},
			"headers": schema.MapAttribute{
				ElementType: types.StringType,
				Optional:    true,
				Sensitive:   true,
				MarkdownDescription: "Headers of every request to the service, such as an API key. Not sent to a token endpoint. " +
					"What belongs to the request itself, such as `Content-Type` and `Host`, cannot be set, and `Authorization` not " +
					"beside another scheme. Default: none.",
			},
			"tls": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "How the service's certificate is verified, and the client's own. Each part works alone. " +
					"Default: the system's authorities and no client certificate.",
				Attributes: map[string]schema.Attribute{
					"ca_cert_pem": schema.StringAttribute{
						Optional: true,
						MarkdownDescription: "Certificates of the authorities to trust, in PEM, in place of the system's. " +
							"Default: the system's.",
					},
					"client_cert_pem": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: "Client certificate (chain) in PEM. Needs `client_key_pem`. Default: none.",
					},
					"client_key_pem": schema.StringAttribute{
						Optional:            true,
						Sensitive:           true,
						MarkdownDescription: "Private key of the client certificate in PEM. Needs `client_cert_pem`. Default: none.",
					},
					"server_name": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: "Name to expect in the service's certificate. Default: the host of `base_url`.",
					},
					"insecure_skip_verify": schema.BoolAttribute{
						Optional: true,
						MarkdownDescription: "Accept any certificate. Whoever sits in between can then read and change " +
							"everything. Default: `false`.",
					},
				},
			},
			"request_timeout": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Time limit of one attempt, from the connection to the end of the answer, as a duration " +
					"such as `10s` or `1m30s`. The resource's `timeouts` limit all attempts together. Default: `30s`.",
			},
			"retry": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "How often and how patiently a request is tried. Failed connections and the statuses 408, " +
					"429, 500, 502, 503 and 504 are tried again; a `Retry-After` of the service is honoured. Default: 5 " +
					"attempts, with waits from `500ms` to `30s`.",
				Attributes: map[string]schema.Attribute{
					"max_attempts": schema.Int64Attribute{
						Optional:            true,
						MarkdownDescription: "Number of attempts, the first included; `1` means no retry. Default: `5`.",
					},
					"min_backoff": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: "Shortest wait before another attempt, as a duration. Default: `500ms`.",
					},
					"max_backoff": schema.StringAttribute{
						Optional: true,
						MarkdownDescription: "Longest wait before another attempt, as a duration; only `Retry-After` may exceed it. " +
							"Default: `30s`.",
					},
				},
			},
			"requests_per_second": schema.Float64Attribute{
				Optional: true,
				MarkdownDescription: "Limit of requests per second, retries and token requests included; fractions are fine. " +
					"Default: no limit.",
			},
			"detect_drift": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Read streams with `GET /v2/streams/{id}` in refresh, in import and before a create is " +
					"planned. **The service's interface document does not specify this route**: turn it on only for a deployment " +
					"that has it. Environment: `STREAM_DETECT_DRIFT`. Default: `false`.",
			},
		},
	}
}

// ValidateConfig refuses early what Configure would refuse, but for a missing base_url: `terraform
// validate` runs where the environment is not set up.
func (p *streamProvider) ValidateConfig(ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse) {
	var model providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	s := readSettings(model, os.Getenv)
	resp.Diagnostics.Append(s.diags.Errors()...)
	if s.diags.HasError() && s.noBaseURL {
		resp.Diagnostics.Append(missingBaseURL)
	}
}

func (p *streamProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var model providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	s := readSettings(model, os.Getenv)
	resp.Diagnostics.Append(s.diags...)
	if s.noBaseURL {
		resp.Diagnostics.Append(missingBaseURL)
	}
	if resp.Diagnostics.HasError() {
		return
	}

	configured := &session{ownership: newOwnership(), detectDrift: s.detectDrift}
	p.session = configured
	resp.ResourceData = configured
	resp.ActionData = configured
	if s.unknown {
		return // another resource's output: it will be known before anything is sent
	}
	s.client.UserAgent = userAgent(p.version, req.TerraformVersion)
	s.client.Observe = observe
	client, err := streams.New(s.client)
	if err != nil {
		resp.Diagnostics.AddError(invalidConfiguration, sentence(err.Error()))
		return
	}
	configured.client = client
}

func (p *streamProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newProcessorsResource}
}

func (p *streamProvider) DataSources(context.Context) []func() datasource.DataSource {
	return nil // the service has no read that is specified
}

func (p *streamProvider) Actions(context.Context) []func() action.Action {
	return []func() action.Action{newSetProcessorsAction}
}

func userAgent(version, terraformVersion string) string {
	agent := fmt.Sprintf("terraform-provider-stream/%s (+https://%s) Terraform/%s", version, Address, terraformVersion)
	return strings.TrimSpace(agent + " " + os.Getenv("TF_APPEND_USER_AGENT"))
}
