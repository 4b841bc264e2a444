package provider

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/report"
)

var (
	_ validator.String = checkedString{}
	_ validator.Set    = checkedString{}
	_ validator.List   = checkedString{}
	_ validator.Map    = checkedMap{}
)

// checkedString validates a string, or those of a set or a list, with a function that returns what is wrong with one.
type checkedString struct {
	what  string // such as "a stream id"
	check func(string) error
}

func (v checkedString) Description(context.Context) string { return "value must be " + v.what }

func (v checkedString) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateString skips a null: of an attribute, the framework says it.
func (v checkedString) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !req.ConfigValue.IsNull() {
		resp.Diagnostics.Append(v.problems(req.Path, req.ConfigValue)...)
	}
}

func (v checkedString) ValidateSet(_ context.Context, req validator.SetRequest, resp *validator.SetResponse) {
	resp.Diagnostics.Append(v.problemsIn(req.Path, req.ConfigValue.Elements())...)
}

func (v checkedString) ValidateList(_ context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	resp.Diagnostics.Append(v.problemsIn(req.Path, req.ConfigValue.Elements())...)
}

func (v checkedString) problems(at path.Path, value attr.Value) diag.Diagnostics {
	return report.Mistakes(at, v.mistakes(at, value))
}

func (v checkedString) problemsIn(at path.Path, values []attr.Value) diag.Diagnostics {
	return report.Mistakes(at, v.mistakesIn(at, values))
}

// mistakes returns what is wrong with a string at a path. An unknown one may turn out right.
func (v checkedString) mistakes(at path.Path, value attr.Value) []report.Mistake {
	text, _ := value.(types.String) // the schemas have no other values there
	if text.IsUnknown() {
		return nil
	}
	if text.IsNull() {
		return []report.Mistake{null(at, v.what)}
	}
	given := text.ValueString()
	err := v.check(given)
	if err == nil {
		return nil
	}
	return []report.Mistake{{At: at, Value: strconv.Quote(given), Fault: report.Fault{What: v.what, Wrong: err.Error(), Mend: v.mend(given)}}}
}

// null is the mistake of a value at a path that is null.
func null(at path.Path, what string) report.Mistake {
	return report.Mistake{At: at, Value: "null", Fault: report.Fault{What: what, Wrong: "must not be null"}}
}

// mend returns what makes a text right.
func (v checkedString) mend(text string) string {
	switch {
	case v.check(strings.TrimSpace(text)) == nil:
		return report.TrimSpace
	case v.check(strings.TrimPrefix(text, "\ufeff")) == nil:
		return report.TrimMark
	}
	return ""
}

// mistakesIn returns what is wrong with the strings of a set or a list at a path.
func (v checkedString) mistakesIn(at path.Path, values []attr.Value) (all []report.Mistake) {
	for _, value := range values {
		for _, m := range v.mistakes(at, value) {
			if text, _ := value.(types.String); text.ValueString() == "" {
				m.Mend = report.Compact
			}
			all = append(all, m)
		}
	}
	return all
}

// checkedMap validates a map of sets.
type checkedMap struct{ keys, elements checkedString }

func (v checkedMap) Description(context.Context) string {
	return "each key must be " + v.keys.what + ", and each element of each value " + v.elements.what
}

func (v checkedMap) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v checkedMap) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	var all []report.Mistake
	sets := req.ConfigValue.Elements()
	for _, key := range slices.Sorted(maps.Keys(sets)) {
		at := req.Path.AtMapKey(key)
		all = append(all, v.keys.mistakes(at, types.StringValue(key))...)
		set, _ := sets[key].(types.Set) // the schemas have no other elements
		found := v.elements.mistakesIn(at, set.Elements())
		if set.IsNull() {
			found = []report.Mistake{null(at, "a set")}
		}
		for _, m := range found {
			m.Key = strconv.Quote(key)
			all = append(all, m)
		}
	}
	resp.Diagnostics.Append(report.Mistakes(req.Path, all)...)
}
