package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/report"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

var (
	_ datasource.DataSourceWithConfigure = (*processorsDataSource)(nil)
	_ datasource.DataSourceWithConfigure = (*groupDataSource)(nil)
)

func newProcessorsDataSource() datasource.DataSource { return &processorsDataSource{} }

func newGroupDataSource() datasource.DataSource { return &groupDataSource{} }

// dataSource is what both data sources do. They claim no set: no resource relies on what they read.
type dataSource struct{ *configured }

func (d *dataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.configured = configuredBy(req.ProviderData)
}

// read returns nil if it fails, or waits for the provider's configuration in a plan whose client allows that.
func (d *dataSource) read(
	ctx context.Context, of report.Subject, ids []string, limits types.Object, req datasource.ReadRequest, resp *datasource.ReadResponse,
) map[string]*streams.Stream {
	refusal := d.session.ReadRefusal()
	if refusal == session.NotConfigured && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &datasource.Deferred{Reason: datasource.DeferredReasonProviderConfigUnknown}
		return nil
	}
	resp.Diagnostics.Append(report.CannotRead(refusal, report.DataSource)...)
	if resp.Diagnostics.HasError() {
		return nil
	}
	ctx, cancel := withTimeLimit(ctx, of, limits, timeouts.Value.Read)
	defer cancel()
	var failed []session.Finding
	found := map[string]*streams.Stream{}
	for _, read := range d.session.ReadEach(ctx, ids) {
		if found[read.Stream] = read.Got; read.Err != nil {
			failed = append(failed, session.Finding{Stream: read.Stream, Err: read.Err}) // also of a stream that does not exist
		}
	}
	if len(failed) > 0 {
		resp.Diagnostics.Append(d.report.Reads(of, len(ids), failed, report.DataSource)...)
		return nil
	}
	return found
}

type processorsDataSource struct{ dataSource }

type processorsDataModel struct {
	streamModel

	LastEdited types.Int64  `tfsdk:"last_edited"`
	Deployment types.String `tfsdk:"deployment"`
	Timeouts   types.Object `tfsdk:"timeouts"`
}

func (d *processorsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_processors"
}

func (d *processorsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the processors that are attached to a stream: one `GET`. It needs `detect_drift` in the provider block.",
		Attributes: map[string]schema.Attribute{
			"stream_id":             streamIDAttribute,
			"processor_ids":         computedSet("Ids of the processors that are attached."),
			"id":                    computedString(idDescription),
			"terminal_id":           computedString(terminalIDDescription),
			"fragment_type_id":      computedString(fragmentTypeIDDescription),
			"compatible_namespaces": computedSet(namespacesDescription),
			"last_edited":           schema.Int64Attribute{Computed: true, MarkdownDescription: lastEditedDescription},
			"deployment":            computedString(readDeploymentDescription),
			"timeouts":              timeoutsAttribute(defaultTimeout, map[string]string{"read": "the read"}),
		},
	}
}

func (d *processorsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m processorsDataModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	id := m.StreamID.ValueString()
	found := d.read(ctx, report.OneStream, []string{id}, m.Timeouts, req, resp)
	if found == nil {
		return
	}
	m.record(found[id])
	m.LastEdited = types.Int64Value(found[id].LastEdited)
	m.Deployment = d.deployment()
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

type groupDataSource struct{ dataSource }

type groupDataModel struct {
	StreamIDs  types.Set    `tfsdk:"stream_ids"`
	Streams    types.Map    `tfsdk:"streams"`
	Deployment types.String `tfsdk:"deployment"`
	Timeouts   types.Object `tfsdk:"timeouts"`
}

func (d *groupDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_processors_group"
}

func (d *groupDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the processors that are attached to streams: one `GET` for each. It needs `detect_drift` in the " +
			"provider block.",
		Attributes: map[string]schema.Attribute{
			"stream_ids": schema.SetAttribute{
				CustomType:          stringSetType,
				Required:            true,
				MarkdownDescription: "Ids of the streams; may be empty. The rules for the ids are those of `stream_processors`.",
				Validators:          []validator.Set{streamIDRule},
			},
			"streams": schema.MapAttribute{
				ElementType:         stringSetType,
				Computed:            true,
				MarkdownDescription: "The ids of the processors that are attached to each stream, by stream id.",
			},
			"deployment": computedString(readDeploymentDescription),
			"timeouts":   timeoutsAttribute(defaultGroupTimeout, map[string]string{"read": "the read"}),
		},
	}
}

func (d *groupDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m groupDataModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	found := d.read(ctx, report.SeveralStreams, knownSet(m.StreamIDs).IDs(), m.Timeouts, req, resp)
	if found == nil {
		return
	}
	sets := make(map[string]attr.Value, len(found))
	for id, stream := range found {
		sets[id] = stringSet(stream.ProcessorIDs.IDs())
	}
	m.Streams = types.MapValueMust(stringSetType, sets)
	m.Deployment = d.deployment()
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}
