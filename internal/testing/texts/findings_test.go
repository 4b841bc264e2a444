package texts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/report"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// plans are what a plan, an import or a read says beside findings about streams.
func plans() []failure {
	unknown := coretest.Attributes{"token": tftypes.UnknownValue}
	withUnknown := func(does operation) operation {
		return func(w *world) coretest.Diagnostics {
			w.configure(unknown)
			return does(w)
		}
	}
	planning := func(before, after func() tftypes.Value, changed coretest.Attributes) operation {
		return func(w *world) coretest.Diagnostics {
			state := coretest.Managed{Value: null(after())}
			if before != nil {
				state = w.existing(before())
			}
			w.configure(changed)
			config := after()
			_, _, diags := w.process().Plan(state, config)
			return diags
		}
	}
	one := func(others coretest.Attributes) func() tftypes.Value {
		return func() tftypes.Value { return single("cam-01", others, "p1") }
	}
	nothing := func() tftypes.Value { return null(single("cam-01", nil)) }
	elsewhere := coretest.Attributes{"base_url": "https://eu.streams.example.com"}
	imported := func(w *world) coretest.Diagnostics {
		_, diags := w.process().ImportState(coretest.SingleName, "cam-01")
		return diags
	}
	return []failure{
		{title: "plan: on_create without detect_drift", does: planning(nil, one(coretest.Attributes{"on_create": "refuse"}), nil)},
		{title: "plan: another deployment", does: planning(one(nil), func() tftypes.Value { return single("cam-01", nil, "p2") }, elsewhere)},
		{title: "plan: a destroy at another deployment", does: planning(one(nil), nothing, elsewhere)},
		{title: "plan: the set of an import in ignore_changes", does: func(w *world) coretest.Diagnostics {
			p := w.process()
			state, _ := p.ImportState(coretest.SingleName, "cam-01")
			state, _ = p.Read(state)
			kept := coretest.AttributesOf(single("cam-01", nil, "p1"))
			kept["processor_ids"] = coretest.AttributesOf(state.Value)["processor_ids"]
			_, _, diags := p.Plan(state, tftypes.NewValue(state.Value.Type(), kept))
			return diags
		}},
		{title: "plan: a stream that the refresh did not find", does: func(w *world) coretest.Diagnostics {
			state := w.existing(single("cam-01", nil, "p1"))
			w.configure(coretest.Attributes{"detect_drift": true})
			state, _ = w.process().Read(state)
			says(404, "There is no such stream.")(w)
			p := w.process()
			gone, diags := p.Read(state)
			_, _, planned := p.Plan(gone, single("cam-01", nil, "p1"))
			return append(diags, planned...)
		}},
		{title: "apply: a token that is not known", does: withUnknown(invoke)},
		{title: "apply: another terminal", does: func(w *world) coretest.Diagnostics {
			state := w.existing(single("cam-01", nil, "p1"))
			set(map[string]any{"terminal_id": "terminal-2"})(w)
			_, diags := w.apply(state, single("cam-01", nil, "p2"))
			return diags
		}},
		{title: "import: without detect_drift", does: imported},
		{title: "import group: without detect_drift", does: func(w *world) coretest.Diagnostics {
			_, diags := w.process().ImportState(coretest.GroupName, `["cam-01"]`)
			return diags
		}},
		{title: "import group: not a list", does: func(w *world) coretest.Diagnostics {
			w.configure(coretest.Attributes{"detect_drift": true})
			_, diags := w.process().ImportState(coretest.GroupName, `["cam-01",`)
			return diags
		}},
		{title: "data source: without detect_drift", does: func(w *world) coretest.Diagnostics {
			_, diags := w.process().ReadData(coretest.SingleName, coretest.Attributes{"stream_id": "cam-01"})
			return diags
		}},
		{title: "query: without detect_drift", does: func(w *world) (diags coretest.Diagnostics) {
			for result := range w.process().List(coretest.Attributes{"stream_ids": []string{"cam-01"}}, false, 100) {
				diags = append(diags, result.Diagnostics...)
			}
			return diags
		}},
		{title: "a request that Go's library refuses", does: func(*world) coretest.Diagnostics {
			refused := fmt.Errorf("%w: net/http: invalid header field value for \"X-Trace\"", transport.ErrNotSent)
			e := &streams.Error{Kind: streams.KindConnection, Result: requests.Result{
				Method: http.MethodPatch, URL: baseURL + "/v2/streams/cam-01", Reason: refused.Error(), Err: refused,
			}}
			f := session.Finding{Stream: "cam-01", Err: e, Facts: new(claims.Facts)}
			c := session.Change{Want: session.Sets{"cam-01": new(streams.ProcessorSet)}}
			return ofFramework(report.New("").Apply(context.Background(), report.OneStream, c, session.After{Findings: []session.Finding{f}}))
		}},
		{title: "a panic", does: func(*world) coretest.Diagnostics {
			return ofFramework(diag.Diagnostics{report.Bug(context.Background(), session.Recovered("secret"))})
		}},
	}
}

// The warnings and refusals about streams. Each has a name here.
var (
	warnings = [claims.WarningCount]string{
		claims.ResendingUnknown: "an unknown outcome", claims.StreamChangesHands: "a stream changes hands",
		claims.StreamIsDuplicated: "two resources have a stream", claims.MayBeEmpty: "a replacement to a late id",
		claims.WillBeDetached: "processors of others", claims.MayBeDetached: "processors that cannot be read",
		claims.CreateWillFail: "a missing stream",
		claims.ImportIsLeft:   "an import that may be of another stream",
		claims.LeavesGroup:    "streams leave a group", claims.MayLeaveGroup: "streams may leave a group",
		claims.DetachedForAMoment: "a gap",
		claims.WereDetached:       "a replaced object has detached",
		claims.StayAttached:       "an old object keeps", claims.StayAttachedBesideFailure: "a leave beside a failure",
		claims.NotFoundOnDestroy: "a destroy of a missing stream", claims.Gone: "a stream is gone",
		claims.NotListed: "a missing stream in a query",
	}
	refusals = map[claims.Refusal]string{
		claims.ConflictingSets: "two sets", claims.StreamIsKept: "a stream that another resource keeps",
		claims.DetachesOthers: "processors of others",
		claims.Blocked:        "beside a failure",
		claims.ImportDiffers:  "an import of another stream",
	}
)

// findings are the warnings and refusals as package report words them, each about one stream, and about three streams of a group.
func findings() (all []failure) {
	for warning := claims.Warning(1); warning < claims.WarningCount; warning++ {
		all = append(all, failure{title: "warning: " + warnings[warning], does: about(session.Finding{Warning: warning})})
	}
	for _, refusal := range slices.Sorted(maps.Keys(refusals)) {
		all = append(all, failure{title: "refusal: " + refusals[refusal],
			does: about(session.Finding{Decision: claims.Decision{Refusal: refusal}})})
	}
	return all
}

func about(f session.Finding) operation {
	set := streams.NewProcessorSet("p7")
	notFound := func(id string) error {
		return &streams.Error{Kind: streams.KindNotFound, Result: requests.Result{
			Method: http.MethodPatch, URL: baseURL + "/v2/streams/" + id, Status: http.StatusNotFound, Message: "There is no such stream.",
			Form: masking.FormDocumented, Attempts: 1,
		}}
	}
	return func(*world) (diags coretest.Diagnostics) {
		for i, of := range []report.Subject{report.OneStream, report.SeveralStreams} {
			c, after := session.Change{Kind: session.Edit, Group: of == report.SeveralStreams, Want: session.Sets{}}, session.After{}
			n := 1 + 2*i
			if f.Warning == claims.MayLeaveGroup { // which is one about all streams
				n = 1
			}
			for _, id := range cameras(n) {
				f := f
				if f.Of = 40; of == report.OneStream {
					f.Configured = "cam-41"
				}
				f.Stream, f.Shown, f.Facts, f.Decision.Other = id, set.String(), new(claims.Facts), set
				if slices.Contains([]claims.Warning{claims.NotFoundOnDestroy, claims.Gone, claims.NotListed}, f.Warning) {
					f.Err = notFound(id)
				}
				c.Want[id], after.Findings = &set, append(after.Findings, f)
			}
			r := report.New("")
			var shown diag.Diagnostics
			if f.Warning != 0 || f.Decision.Refusal == claims.Blocked {
				shown = r.Apply(context.Background(), of, c, after)
			} else {
				shown = r.Plan(of, c, session.Planned{Findings: after.Findings, Read: n})
			}
			diags = append(diags, ofFramework(shown)...)
		}
		return diags
	}
}

// ofFramework converts diagnostics. Their paths have only names and keys.
func ofFramework(diags diag.Diagnostics) (all coretest.Diagnostics) {
	for _, d := range diags {
		converted := &tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverity(d.Severity()), Summary: d.Summary(), Detail: d.Detail()}
		if d, ok := d.(diag.DiagnosticWithPath); ok {
			converted.Attribute = tftypes.NewAttributePath().WithAttributeName(d.Path().String())
		}
		all = append(all, converted)
	}
	return all
}

// moves are moved blocks that move nothing.
func moves() []failure {
	moving := func(from, provider string, state map[string]any) operation {
		return func(w *world) coretest.Diagnostics {
			raw, err := json.Marshal(state)
			if err != nil {
				w.Fatal(err)
			}
			resp, err := w.process().Server.MoveResourceState(context.Background(), &tfprotov6.MoveResourceStateRequest{
				SourceProviderAddress: provider, SourceTypeName: from, TargetTypeName: coretest.SingleName, SourceState: &tfprotov6.RawState{JSON: raw},
			})
			if err != nil {
				w.Fatal(err)
			}
			return resp.Diagnostics
		}
	}
	return []failure{
		{title: "move: a group", does: moving(coretest.GroupName, "registry.terraform.io/stream-management/stream", map[string]any{})},
		{title: "move: terraform_data", does: moving("terraform_data", "terraform.io/builtin/terraform", map[string]any{})},
		{title: "move: another PATCH", does: moving("restful_operation", "registry.terraform.io/magodo/restful", map[string]any{
			"method": "PUT", "path": "/v2/streams/cam-01", "body": map[string]any{"processor_ids": []string{"p1"}},
		})},
		{title: "move: the state of another provider", does: moving(coretest.SingleName, "registry.terraform.io/acme/stream",
			map[string]any{"id": "cam-01"})},
	}
}
