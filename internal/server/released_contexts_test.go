package server

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
)

// A finished call keeps its context in the framework's server. If that is mended, releasedContext can go.
func TestContextsAreReleased(t *testing.T) {
	t.Parallel()
	framework := providerserver.NewProtocol6(provider.New("test", nil))()
	if kept := contextsKept(t, framework); kept == 0 {
		t.Error("the framework releases contexts: releasedContext is no longer needed")
	}
	if kept := contextsKept(t, releasingServer{framework.(fullServer)}); kept > 0 {
		t.Errorf("the contexts of %d finished calls are still in memory", kept)
	}
}

// contextsKept counts the calls whose contexts are in memory after the call.
func contextsKept(t *testing.T, s tfprotov6.ProviderServer) (kept int) {
	t.Helper()
	const name = coretest.SingleName
	typ := coretest.SchemasOf(s).ResourceSchemas[name].ValueType()
	null := coretest.DynamicValue(tftypes.NewValue(typ, nil))
	state := coretest.DynamicValue(coretest.ToTerraform(typ, coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{}}))
	finished := []contextValue{
		finish(t, s.ValidateResourceConfig, &tfprotov6.ValidateResourceConfigRequest{TypeName: name, Config: null}),
		finish(t, s.UpgradeResourceState, &tfprotov6.UpgradeResourceStateRequest{
			TypeName: name, RawState: &tfprotov6.RawState{JSON: []byte(`{}`)},
		}),
		finish(t, s.ReadResource, &tfprotov6.ReadResourceRequest{TypeName: name, CurrentState: null}),
		finish(t, s.PlanResourceChange, &tfprotov6.PlanResourceChangeRequest{
			TypeName: name, Config: null, PriorState: null, ProposedNewState: null,
		}),
		finish(t, s.ApplyResourceChange, &tfprotov6.ApplyResourceChangeRequest{TypeName: name, PriorState: state, PlannedState: null}),
	}
	runtime.GC()
	for _, value := range finished {
		if value.Value() != nil {
			kept++
		}
	}
	runtime.KeepAlive(s)
	return kept
}

type contextValue = weak.Pointer[[1 << 10]byte]

// finish makes a call, and returns a value of its context.
func finish[Req, Resp any](t *testing.T, call func(context.Context, Req) (Resp, error), req Req) contextValue {
	t.Helper()
	type key struct{}
	value := new([1 << 10]byte)
	if _, err := call(context.WithValue(t.Context(), key{}, value), req); err != nil {
		t.Error(err)
	}
	return weak.Make(value)
}

// TestReleasedContext shows that a call has the whole context of its caller, until the call ends.
func TestReleasedContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "value"), time.Hour)
	defer cancel()
	released, err := call(ctx, "request", func(c context.Context, req string) (context.Context, error) {
		got, _ := c.Deadline()
		want, _ := ctx.Deadline()
		if req != "request" || !got.Equal(want) || c.Value(key{}) != "value" || c.Err() != nil {
			t.Errorf("request %q, deadline %v, value %v, error %v", req, got, c.Value(key{}), c.Err())
		}
		derived, end := context.WithTimeout(c, 30*time.Second)
		defer end()
		cancel()
		<-derived.Done()
		return c, c.Err()
	})
	_, limited := released.Deadline()
	if !errors.Is(err, context.Canceled) || limited || released.Value(key{}) != nil || released.Err() != nil {
		t.Errorf("during the call: %v; afterwards: %v, value %v, error %v", err, limited, released.Value(key{}), released.Err())
	}
}
