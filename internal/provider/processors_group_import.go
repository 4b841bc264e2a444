package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// ImportState sends nothing: the read with detect_drift that follows reads each stream. The id of a group is that of its
// streams.
func (r *groupResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if !r.session.readsStreams() {
		resp.Diagnostics.Append(cannotImportGroup())
		return
	}
	ids, err := parseStreamIDs(req.ID)
	if err != nil {
		resp.Diagnostics.Append(invalidGroupImportID(err))
		return
	}
	kept := entries{}
	for _, id := range ids {
		kept[id] = claims.Entry{}
	}
	m, ok := newModel[*groupModel](ctx, &resp.State, &resp.Diagnostics)
	if !ok {
		return
	}
	m.take(kept, nil)
	m.Deployment = r.session.deploymentValue()
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(imported(ids...).save(ctx, resp.Private)...)
}

// parseStreamIDs reads stream ids: a list in JSON, or one id on each line.
func parseStreamIDs(text string) ([]string, error) {
	var ids []string
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "[") {
		if err := json.Unmarshal([]byte(text), &ids); err != nil {
			return nil, fmt.Errorf("it is no list of texts in JSON: %w", err)
		}
	} else {
		for line := range strings.Lines(text) {
			if id := strings.TrimSpace(line); id != "" {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil, errors.New("it has no stream id")
	}
	for _, id := range ids {
		if err := streams.CheckStreamID(id); err != nil {
			return nil, fmt.Errorf("%q is not a stream id: it %w", id, err)
		}
	}
	return ids, nil
}
