// Package provider is the Terraform provider: schemas, plan and state. Package config reads the provider block, and
// package streams sends the requests.
package provider

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/stream-management/terraform-provider-stream/internal/config"
	"github.com/stream-management/terraform-provider-stream/internal/report"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Address is the provider's address in registries. .github/PUBLISHING.md says how to replace the namespace.
const Address = "registry.terraform.io/stream-management/stream"

var (
	_ provider.Provider                   = (*streamProvider)(nil)
	_ provider.ProviderWithValidateConfig = (*streamProvider)(nil)
	_ provider.ProviderWithActions        = (*streamProvider)(nil)
	_ provider.ProviderWithListResources  = (*streamProvider)(nil)
)

// DialContext makes a connection to the service, as in [http.Transport]; nil means the network.
type DialContext = func(ctx context.Context, network, address string) (net.Conn, error)

// Host is what surrounds the provider.
type Host struct {
	Dial    DialContext
	Command func() []string // the words of Terraform's command line, or none; nil: nobody knows them
}

// New returns the provider of a version. Without a host, it uses the network, and does not know Terraform's command.
func New(version string, host *Host) provider.Provider {
	return &streamProvider{version: version, host: cmp.Or(host, &Host{})}
}

type streamProvider struct {
	version string
	host    *Host
}

func (p *streamProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "stream"
	resp.Version = p.version
}

func (p *streamProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = config.Schema()
}

func (p *streamProvider) ValidateConfig(ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse) {
	resp.Diagnostics.Append(config.Validate(ctx, req.Config, os.LookupEnv)...)
}

func (p *streamProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	settings, diags := config.Read(ctx, req.Config, os.LookupEnv)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}

	var client *streams.Client // nil if a value comes from a resource; it is known before anything is sent
	switch {
	case settings.Complete:
		agent := fmt.Sprintf("terraform-provider-stream/%s (+https://%s) Terraform/%s", p.version, Address, req.TerraformVersion)
		settings.Client.UserAgent = strings.TrimSpace(agent + " " + settings.Client.UserAgent)
		settings.Client.Observe = observe
		settings.Client.DialContext = p.host.Dial
		var err error
		client, err = streams.New(settings.Client)
		if err != nil {
			resp.Diagnostics.AddError(config.Invalid, report.Sentence(err.Error())) // although every single value was accepted
			return
		}
	case settings.DetectDrift:
		resp.Diagnostics.Append(report.NotReadYet())
	}
	data := &configured{session.New(client, settings.Deployment, settings.DetectDrift), report.New(settings.Deployment), p.host.Command}
	resp.ResourceData, resp.DataSourceData, resp.ActionData, resp.ListResourceData = data, data, data, data
}

func (p *streamProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newProcessorsResource, newGroupResource}
}

func (p *streamProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{newProcessorsDataSource, newGroupDataSource}
}

func (p *streamProvider) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{newProcessorsList}
}

func (p *streamProvider) Actions(context.Context) []func() action.Action {
	return []func() action.Action{newSetProcessorsAction}
}
