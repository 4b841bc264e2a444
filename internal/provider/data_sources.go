package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/datasource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	_ datasource.DataSourceWithConfigure = (*processorsDataSource)(nil)
	_ datasource.DataSourceWithConfigure = (*groupDataSource)(nil)
)

func newProcessorsDataSource() datasource.DataSource { return &processorsDataSource{} }

func newGroupDataSource() datasource.DataSource { return &groupDataSource{} }

// dataSource is what both data sources do. They claim no set: no resource relies on what they read.
type dataSource struct {
	session *session
}

func (d *dataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.session = providerSession(req.ProviderData)
}

// processorsDataSource is stream_processors: one stream.
type processorsDataSource struct{ dataSource }

// processorsDataModel is a stream_processors data source.
type processorsDataModel struct {
	streamModel

	LastEdited types.Int64    `tfsdk:"last_edited"`
	Deployment types.String   `tfsdk:"deployment"`
	Timeouts   timeouts.Value `tfsdk:"timeouts"`
}

func (d *processorsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_processors"
}

func (d *processorsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the processors that are attached to a stream: one `GET`. It needs `detect_drift` in the provider block.",
		Attributes: map[string]schema.Attribute{
			"stream_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: streamIDDescription,
				Validators:          streamIDRules,
			},
			"processor_ids":         readSet("Ids of the processors that are attached."),
			"id":                    readString(idDescription),
			"terminal_id":           readString(terminalIDDescription),
			"fragment_type_id":      readString(fragmentTypeIDDescription),
			"compatible_namespaces": readSet(namespacesDescription),
			"last_edited":           schema.Int64Attribute{Computed: true, MarkdownDescription: lastEditedDescription},
			"deployment":            readString(readDeploymentDescription),
			"timeouts":              readTimeouts(),
		},
	}
}

func (d *processorsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m processorsDataModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := m.StreamID.ValueString()
	found, diags := d.session.lookUp(ctx, ofResource, []string{id}, m.Timeouts.Read)
	if resp.Diagnostics.Append(diags...); diags.HasError() {
		return
	}
	m.take(found[id])
	m.LastEdited = types.Int64Value(found[id].LastEdited)
	m.Deployment = d.session.deployment.value()
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// groupDataSource is stream_processors_group: many streams.
type groupDataSource struct{ dataSource }

// groupDataModel is a stream_processors_group data source.
type groupDataModel struct {
	StreamIDs  types.Set      `tfsdk:"stream_ids"`
	Streams    types.Map      `tfsdk:"streams"`
	Deployment types.String   `tfsdk:"deployment"`
	Timeouts   timeouts.Value `tfsdk:"timeouts"`
}

func (d *groupDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_processors_group"
}

func (d *groupDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the processors that are attached to each of many streams: one `GET` for each stream. It needs " +
			"`detect_drift` in the provider block.",
		Attributes: map[string]schema.Attribute{
			"stream_ids": schema.SetAttribute{
				ElementType:         types.StringType,
				Required:            true,
				MarkdownDescription: "Ids of the streams; may be empty. The rules for the ids are those of `stream_processors`.",
				Validators:          []validator.Set{streamIDRule},
			},
			"streams": schema.MapAttribute{
				ElementType: types.SetType{ElemType: types.StringType},
				Computed:    true,
				MarkdownDescription: "The ids of the processors that are attached to each stream, by stream id, as in the resource " +
					"`stream_processors_group`.",
			},
			"deployment": readString(readDeploymentDescription),
			"timeouts":   readTimeouts(),
		},
	}
}

func (d *groupDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m groupDataModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, diags := d.session.lookUp(ctx, ofQuery, knownSet(m.StreamIDs).IDs(), m.Timeouts.Read)
	if resp.Diagnostics.Append(diags...); diags.HasError() {
		return
	}
	sets := make(map[string]attr.Value, len(found))
	for id, stream := range found {
		sets[id] = stringSet(stream.ProcessorIDs.IDs())
	}
	m.Streams = setMap(sets)
	m.Deployment = d.session.deployment.value()
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func readString(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

func readSet(description string) schema.SetAttribute {
	return schema.SetAttribute{ElementType: types.StringType, Computed: true, MarkdownDescription: description}
}

func readTimeouts() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Time limit of the read, retries included.",
		CustomType:          timeouts.Type{ObjectType: types.ObjectType{AttrTypes: map[string]attr.Type{"read": types.StringType}}},
		Attributes: map[string]schema.Attribute{
			"read": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Time limit of the read, as a duration such as `30s`. Default: `5m`.",
				Validators:          []validator.String{timeLimitRule},
			},
		},
	}
}
