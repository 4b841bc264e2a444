package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/session"
)

// privateState is the part of the framework's private state that is used here. The framework's own type is internal.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// The keys of private states.
const (
	marksKey      = "marks"
	marksOfAllKey = "all"
)

// readMarks reads a private state. What is not readable counts as not there.
func readMarks(ctx context.Context, private privateState) (m session.Marks) {
	of, _ := private.GetKey(ctx, marksKey)
	_ = json.Unmarshal(of, &m.Streams)
	all, _ := private.GetKey(ctx, marksOfAllKey)
	_ = json.Unmarshal(all, &m.All)
	return m
}

// saveMarks replaces a private state. Marks that say nothing remove their key.
func saveMarks(ctx context.Context, m session.Marks, private privateState) (diags diag.Diagnostics) {
	var of, all []byte
	if len(m.Streams) > 0 {
		of, _ = json.Marshal(m.Streams) // texts and booleans always encode
	}
	if m.All != (session.MarkOfAll{}) {
		all, _ = json.Marshal(m.All)
	}
	diags.Append(private.SetKey(ctx, marksKey, of)...)
	diags.Append(private.SetKey(ctx, marksOfAllKey, all)...)
	return diags
}
