// Command nothing is a provider that has the same resource as the real provider and does nothing. It
// shows what Terraform and the plugin framework cost by themselves.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	stream "github.com/stream-management/terraform-provider-stream/internal/provider"
)

func main() {
	opts := providerserver.ServeOpts{Address: stream.Address}
	if err := providerserver.Serve(context.Background(), func() provider.Provider { return nothing{} }, opts); err != nil {
		log.Fatal(err)
	}
}

type nothing struct{}

func (nothing) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "stream"
}
func (nothing) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse)          {}
func (nothing) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}
func (nothing) DataSources(context.Context) []func() datasource.DataSource                        { return nil }
func (nothing) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return processors{} }}
}

type processors struct{}

func (processors) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_processors"
}

func (processors) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"stream_id":     schema.StringAttribute{Required: true},
		"processor_ids": schema.SetAttribute{ElementType: types.StringType, Required: true},
		"id":            schema.StringAttribute{Computed: true},
	}}
}

func (processors) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	resp.State.Raw = req.Plan.Raw
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), "nothing")...)
}

func (processors) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = req.Plan.Raw
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), "nothing")...)
}

func (processors) Read(context.Context, resource.ReadRequest, *resource.ReadResponse)       {}
func (processors) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}
