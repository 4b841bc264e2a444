package provider

import (
	"context"
	"net/http"
	"runtime"
	"testing"
	"weak"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestShortcuts compares the shortcuts with the framework, for random configurations and states.
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
		state := managed{value: nullResource()}
		if draw("state", false, true) == true {
			state.value = resourceValue(attributes{
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
		block := resourceValue(config)
		if p.validate(block).failed() {
			return
		}
		p.plan(state, block, proposedState(state.value, block))
		p.plan(state, nullResource(), nullResource())
	})
}

// The values of a call may be missing.
func TestShortcutsWithoutValues(t *testing.T) {
	t.Parallel()
	c := newComparingServer(t)
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

// TestShortcutCreate compares the shortcut of a create with the framework, on the same service.
func TestShortcutCreate(t *testing.T) {
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
			config := resourceValue(attributes{
				"stream_id": "cam-1", "processor_ids": []string{"p2", "p1"}, "timeouts": attributes{"create": "1m"},
			})
			create := func(shortcut bool) *tfprotov6.ApplyResourceChangeResponse {
				s := newServer("test")
				p := &process{t: t, server: s}
				p.configure(attributes{"base_url": url, "retry": attributes{"max_attempts": 1}})
				planned, _, diags := p.plan(managed{value: nullResource()}, config, config)
				if diags.failed() {
					t.Fatal(diags)
				}
				if !shortcut {
					p.server = s.frameworkServer
				}
				service.Inject(fault)
				resp, err := p.server.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
					TypeName: resourceName, PriorState: dynamicValue(nullResource()), PlannedState: dynamicValue(planned.value),
					PlannedPrivate: planned.private, PlannedIdentity: planned.identity, Config: dynamicValue(config),
				})
				p.must(err)
				return resp
			}
			comparingServer{t: t}.wantSameResponse("ApplyResourceChange", create(true), create(false), nil, nil)
			if requests := len(service.Requests()); requests != 2 {
				t.Errorf("%d requests, want one for each", requests)
			}
		})
	}
}

// TestShortcutsAreTaken removes the framework, so that a call without a shortcut panics.
func TestShortcutsAreTaken(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	config := resourceValue(attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}})
	none := managed{value: nullResource()}
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

// The framework keeps the context of each call. The values of these contexts took 100 MB for a large fleet.
func TestContextValuesAreReleased(t *testing.T) {
	t.Parallel()
	s := newServer("test")
	type key struct{}
	var carried []weak.Pointer[[1 << 10]byte]
	for name, call := range map[string]func(context.Context) error{
		"ValidateResourceConfig": func(ctx context.Context) error {
			_, err := s.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: resourceName, Config: dynamicValue(nullResource())})
			return err
		},
		"UpgradeResourceState": func(ctx context.Context) error {
			_, err := s.UpgradeResourceState(ctx, &tfprotov6.UpgradeResourceStateRequest{TypeName: resourceName, RawState: &tfprotov6.RawState{JSON: []byte(`{}`)}})
			return err
		},
		"ReadResource": func(ctx context.Context) error {
			_, err := s.ReadResource(ctx, &tfprotov6.ReadResourceRequest{TypeName: resourceName, CurrentState: dynamicValue(nullResource())})
			return err
		},
		"PlanResourceChange": func(ctx context.Context) error {
			_, err := s.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
				TypeName: resourceName, Config: dynamicValue(nullResource()), PriorState: dynamicValue(nullResource()), ProposedNewState: dynamicValue(nullResource()),
			})
			return err
		},
		"ApplyResourceChange": func(ctx context.Context) error {
			_, err := s.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
				TypeName: resourceName, PriorState: dynamicValue(nullResource()), PlannedState: dynamicValue(nullResource()),
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
