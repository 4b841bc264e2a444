package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/report"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

var _ list.ListResourceWithConfigure = (*processorsList)(nil)

func newProcessorsList() list.ListResource { return &processorsList{} }

// processorsList lists streams by their ids, because the interface specifies no list.
type processorsList struct{ processorsResource }

func (l *processorsList) ListResourceConfigSchema(
	_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists streams and their processors by id: one `GET` for each stream. It needs `detect_drift` in the " +
			"provider block.",
		Attributes: map[string]schema.Attribute{
			"stream_ids": schema.ListAttribute{
				ElementType: types.StringType,
				Required:    true,
				MarkdownDescription: "Ids of the streams. A duplicate id counts once. The rules for the ids are those of the resource " +
					"`stream_processors`.",
				Validators: []validator.List{streamIDRule},
			},
		},
	}
}

// List reads each stream once, up to the limit. Terraform reads no results after an error, so diagnostics come last.
func (l *processorsList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	ids, diags := l.streamIDs(ctx, req.Config)
	if diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	if req.Limit > 0 {
		ids = ids[:min(int(req.Limit), len(ids))]
	}
	stream.Results = func(push func(list.ListResult) bool) {
		ctx, cancel := context.WithTimeout(ctx, defaultGroupTimeout)
		defer cancel()
		var missed []session.Finding
		for _, read := range l.session.ReadEach(ctx, ids) {
			found := session.Finding{Stream: read.Stream, Err: read.Err}
			switch {
			case session.IsNotFound(read.Err):
				found.Warning = claims.NotListed
			case read.Err == nil && !push(l.result(ctx, req, read.Got)):
				return
			case read.Err == nil:
				continue
			}
			missed = append(missed, found)
		}
		if diags := l.report.Reads(report.SeveralStreams, len(ids), missed, report.Query); len(diags) > 0 {
			push(list.ListResult{Diagnostics: diags})
		}
	}
}

// streamIDs returns the ids of a query, each once. Terraform validates them only while values may be unknown.
func (l *processorsList) streamIDs(ctx context.Context, config tfsdk.Config) (ids []string, diags diag.Diagnostics) {
	var given types.List
	at := path.Root("stream_ids")
	diags.Append(config.GetAttribute(ctx, at, &given)...)
	if given.IsNull() {
		diags.Append(report.MissingValue(at, "the list"))
	}
	diags.Append(report.CannotRead(l.session.ReadRefusal(), report.Query)...)
	diags.Append(streamIDRule.problemsIn(at, given.Elements())...)
	seen := map[string]bool{}
	for _, value := range given.Elements() {
		id, _ := value.(types.String) // the schema has no other elements
		if text := id.ValueString(); !seen[text] {
			ids, seen[text] = append(ids, text), true
		}
	}
	return ids, diags
}

func (l *processorsList) result(ctx context.Context, req list.ListRequest, got *streams.Stream) list.ListResult {
	result := req.NewListResult(ctx)
	result.DisplayName = fmt.Sprintf("%s (processors: %d)", got.ID, got.ProcessorIDs.Len())
	result.Diagnostics.Append(result.Identity.SetAttribute(ctx, path.Root("stream_id"), got.ID)...)
	if !req.IncludeResource {
		return result
	}
	m := newModel[*processorsModel](ctx, (*tfsdk.State)(result.Resource))
	m.StreamID = types.StringValue(got.ID)
	m.record(nil, map[string]*streams.Stream{got.ID: got})
	m.Deployment = l.deployment()
	result.Diagnostics.Append(result.Resource.Set(ctx, m)...)
	return result
}
