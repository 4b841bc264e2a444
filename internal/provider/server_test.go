package provider

import (
	"context"
	"net/http"
	"reflect"
	"runtime"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// comparing is a server that asks the framework too, wherever there is a shortcut, and fails the test if
// that would have answered otherwise. All protocol tests run on it.
type comparing struct {
	*server
	t rapid.TB
}

func newComparing(t rapid.TB) comparing { return comparing{newServer("test"), t} }

func (c comparing) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	got, err := c.server.ValidateResourceConfig(ctx, req)
	want, wantErr := c.frameworkServer.ValidateResourceConfig(ctx, req)
	c.same("ValidateResourceConfig", got, want, err, wantErr)
	return got, err
}

func (c comparing) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	got, err := c.server.ReadResource(ctx, req)
	if c.unread(req) == nil {
		return got, err // that is the framework's
	}
	want, wantErr := c.frameworkServer.ReadResource(ctx, req)
	c.same("ReadResource", got, want, err, wantErr)
	return got, err
}

// PlanResourceChange asks twice only where that is the same as once: to plan one destroy twice is not, if
// another resource of the stream is planned in between.
func (c comparing) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	shortcut := c.planned(req) != nil
	got, err := c.server.PlanResourceChange(ctx, req)
	if !shortcut {
		return got, err
	}
	want, wantErr := c.frameworkServer.PlanResourceChange(ctx, req)
	c.same("PlanResourceChange", got, want, err, wantErr)
	return got, err
}

// same compares two answers by what they mean: the encoding of a value is not unique.
func (c comparing) same(call string, got, want any, err, wantErr error) {
	c.t.Helper()
	if err != nil || wantErr != nil {
		c.t.Fatalf("%s failed: %v; the framework: %v", call, err, wantErr)
	}
	if reflect.DeepEqual(got, want) {
		return // most often, and much sooner
	}
	meaning := cmp.Options{
		cmp.Transformer("object", func(v *tfprotov6.DynamicValue) any {
			if v == nil {
				return nil
			}
			decoded, err := v.Unmarshal(resourceSchema().ValueType())
			if err != nil {
				c.t.Fatal(err)
			}
			return plain(decoded)
		}),
		cmp.Transformer("identity", func(d *tfprotov6.ResourceIdentityData) any { return identityIn(c.t, d) }),
		cmpopts.SortSlices(func(a, b *tfprotov6.Diagnostic) bool { return a.Detail < b.Detail }),
		cmp.Transformer("bytes", func(b []byte) string { return string(b) }),
		cmp.Transformer("path", (*tftypes.AttributePath).String),
	}
	if diff := cmp.Diff(want, got, meaning); diff != "" {
		c.t.Fatalf("%s answers otherwise than the framework (-framework +shortcut):\n%s", call, diff)
	}
}

// TestShortcuts compares answers for whatever a configuration and a state may hold.
func TestShortcuts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := startProvider(t, attributes{"base_url": "http://127.0.0.1:1"})
		unknown := tftypes.UnknownValue
		draw := func(name string, values ...any) any { return rapid.SampledFrom(values).Draw(t, name) }
		set := func(name string) any {
			return draw(name, nil, unknown, []string{}, []string{"p1"}, []string{"p2", "p1"}, []string{"p1", " "},
				[]any{"p1", nil}, []any{"p1", unknown})
		}
		config := attributes{
			"stream_id":     draw("stream_id", nil, unknown, "cam-1", "cam-2", "..", ""),
			"processor_ids": set("processor_ids"),
			"on_destroy":    draw("on_destroy", nil, unknown, onDestroyDetach, onDestroyKeep, "empty"),
			"triggers":      draw("triggers", nil, unknown, map[string]string{}, map[string]string{"a": "1"}),
			"timeouts":      draw("timeouts", nil, unknown, attributes{}, attributes{"read": "1m"}, attributes{"create": "soon"}),
		}
		if name := draw("computed", "", "", "id", "terminal_id", "fragment_type_id", "compatible_namespaces", "last_edited"); name != "" {
			config[name.(string)] = unknown
		}
		state := managed{value: nothing()}
		if draw("state", false, true) == true {
			state.value = value(resourceSchema().ValueType(), attributes{
				"stream_id":             "cam-1",
				"processor_ids":         draw("its processor_ids", nil, []string{}, []string{"p1"}),
				"on_destroy":            draw("its on_destroy", onDestroyDetach, onDestroyKeep),
				"triggers":              draw("its triggers", nil, map[string]string{"a": "1"}),
				"timeouts":              draw("its timeouts", nil, attributes{"read": "1m"}),
				"id":                    "cam-1",
				"terminal_id":           draw("its terminal_id", nil, "t1"),
				"fragment_type_id":      draw("its fragment_type_id", nil, "f1"),
				"compatible_namespaces": draw("its compatible_namespaces", nil, []string{}, []string{"n1"}),
				"last_edited":           draw("its last_edited", nil, 1758372824000),
			})
			var diags diagnostics
			if state, diags = p.read(state); diags.failed() {
				t.Fatal(diags)
			}
		}
		wanted := value(resourceSchema().ValueType(), config)
		if p.validate(wanted).failed() {
			return
		}
		p.plan(state, wanted, proposed(state.value, wanted))
		p.plan(state, nothing(), nothing())
	})
}

// A call may lack its values.
func TestShortcutsWithoutValues(t *testing.T) {
	t.Parallel()
	c := newComparing(t)
	if _, err := c.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{TypeName: resourceName}); err != nil {
		t.Error(err)
	}
	if _, err := c.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: resourceName}); err != nil {
		t.Error(err)
	}
	if _, err := c.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{TypeName: resourceName}); err != nil {
		t.Error(err)
	}
}

// TestCreates compares the creates of the two, each on the same service.
func TestCreates(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]streamstest.Fault{
		"success":   {},
		"refused":   {Status: http.StatusForbidden},
		"not found": {Status: http.StatusNotFound},
		"cut off":   {Truncate: true},
		"another":   {Edit: func(s *streamstest.Stream) { s.ID = "cam-2" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{KeepLastEdited: true}, streamstest.Streams("cam-1")...)
			config := value(resourceSchema().ValueType(), attributes{
				"stream_id": "cam-1", "processor_ids": []string{"p2", "p1"}, "timeouts": attributes{"create": "1m"},
			})
			create := func(shortcut bool) *tfprotov6.ApplyResourceChangeResponse {
				s := newServer("test")
				p := &process{t: t, server: s}
				p.configure(attributes{"base_url": url, "retry": attributes{"max_attempts": 1}})
				planned, _, diags := p.plan(managed{value: nothing()}, config, config)
				if diags.failed() {
					t.Fatal(diags)
				}
				if !shortcut {
					p.server = s.frameworkServer
				}
				service.Inject(fault)
				resp, err := p.server.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
					TypeName: resourceName, PriorState: dynamic(nothing()), PlannedState: dynamic(planned.value),
					PlannedPrivate: planned.private, PlannedIdentity: planned.identity, Config: dynamic(config),
				})
				p.must(err)
				return resp
			}
			comparing{t: t}.same("ApplyResourceChange", create(true), create(false), nil, nil)
			if sent := len(service.Requests()); sent != 2 {
				t.Errorf("%d requests, want one for each", sent)
			}
		})
	}
}

// TestShortcutsAreTaken has no framework to fall back on.
func TestShortcutsAreTaken(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	config := value(resourceSchema().ValueType(), attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}})
	none := managed{value: nothing()}
	s := newServer("test")
	p := &process{t: t, server: s}
	p.configure(attributes{"base_url": url})
	s.frameworkServer = nil
	p.validate(config)
	planned, _, _ := p.plan(none, config, config)
	state, diags := p.apply(none.value, planned, config)
	if diags.failed() {
		t.Fatal(diags)
	}
	p.read(state)
	p.plan(state, config, state.value)
}

// The framework keeps the context of each call: with what that carries, a large fleet took 100 MB.
func TestCallsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	s := newServer("test")
	type key struct{}
	var carried []weak.Pointer[[1 << 10]byte]
	for name, call := range map[string]func(context.Context) error{
		"ValidateResourceConfig": func(ctx context.Context) error {
			_, err := s.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: resourceName, Config: dynamic(nothing())})
			return err
		},
		"UpgradeResourceState": func(ctx context.Context) error {
			_, err := s.UpgradeResourceState(ctx, &tfprotov6.UpgradeResourceStateRequest{TypeName: resourceName, RawState: &tfprotov6.RawState{JSON: []byte(`{}`)}})
			return err
		},
		"ReadResource": func(ctx context.Context) error {
			_, err := s.ReadResource(ctx, &tfprotov6.ReadResourceRequest{TypeName: resourceName, CurrentState: dynamic(nothing())})
			return err
		},
		"PlanResourceChange": func(ctx context.Context) error {
			_, err := s.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
				TypeName: resourceName, Config: dynamic(nothing()), PriorState: dynamic(nothing()), ProposedNewState: dynamic(nothing()),
			})
			return err
		},
		"ApplyResourceChange": func(ctx context.Context) error {
			_, err := s.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
				TypeName: resourceName, PriorState: dynamic(nothing()), PlannedState: dynamic(nothing()),
			})
			return err
		},
	} {
		value := new([1 << 10]byte)
		if err := call(context.WithValue(t.Context(), key{}, value)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		carried = append(carried, weak.Make(value))
	}
	runtime.GC()
	for _, value := range carried {
		if value.Value() != nil {
			t.Error("the context of a call is still there")
		}
	}
	runtime.KeepAlive(s)
}
