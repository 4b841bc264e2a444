package provider

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
)

// A finished call keeps its context in the framework's server. If that is mended, released_contexts.go can go.
func TestContextsAreReleased(t *testing.T) {
	t.Parallel()
	framework := providerserver.NewProtocol6(&streamProvider{})()
	if kept := contextsKept(t, framework); kept == 0 {
		t.Error("the framework releases contexts: released_contexts.go is no longer needed")
	}
	if kept := contextsKept(t, releasingServer{framework.(fullServer)}); kept > 0 {
		t.Errorf("the contexts of %d finished calls are still in memory", kept)
	}
}

// contextsKept counts the calls whose contexts are in memory after the call.
func contextsKept(t *testing.T, s tfprotov6.ProviderServer) (kept int) {
	t.Helper()
	state := resourceValue(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{}})
	type key struct{}
	var carried []weak.Pointer[[1 << 10]byte]
	for name, call := range map[string]func(context.Context) error{
		"ValidateResourceConfig": func(ctx context.Context) error {
			_, err := s.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: coretest.SingleName, Config: coretest.DynamicValue(nullResource())})
			return err
		},
		"UpgradeResourceState": func(ctx context.Context) error {
			_, err := s.UpgradeResourceState(ctx, &tfprotov6.UpgradeResourceStateRequest{TypeName: coretest.SingleName, RawState: &tfprotov6.RawState{JSON: []byte(`{}`)}})
			return err
		},
		"ReadResource": func(ctx context.Context) error {
			_, err := s.ReadResource(ctx, &tfprotov6.ReadResourceRequest{TypeName: coretest.SingleName, CurrentState: coretest.DynamicValue(nullResource())})
			return err
		},
		"PlanResourceChange": func(ctx context.Context) error {
			_, err := s.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
				TypeName: coretest.SingleName, Config: coretest.DynamicValue(nullResource()), PriorState: coretest.DynamicValue(nullResource()), ProposedNewState: coretest.DynamicValue(nullResource()),
			})
			return err
		},
		"ApplyResourceChange": func(ctx context.Context) error {
			_, err := s.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
				TypeName: coretest.SingleName, PriorState: coretest.DynamicValue(state), PlannedState: coretest.DynamicValue(nullResource()),
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
			kept++
		}
	}
	runtime.KeepAlive(s)
	return kept
}

// TestReleasedContext shows that a call has the whole context of its caller, until the call ends.
func TestReleasedContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "value"), time.Hour)
	defer cancel()
	released, err := releaseContext(ctx, "request", func(c context.Context, req string) (context.Context, error) {
		got, _ := c.Deadline()
		want, _ := ctx.Deadline()
		if req != "request" || !got.Equal(want) || c.Value(key{}) != "value" || c.Err() != nil {
			t.Errorf("request %q, deadline %v, value %v, error %v", req, got, c.Value(key{}), c.Err())
		}
		derived, end := context.WithCancel(c)
		defer end()
		cancel()
		<-derived.Done()
		return c, c.Err()
	})
	if _, limited := released.Deadline(); !errors.Is(err, context.Canceled) || limited || released.Value(key{}) != nil || released.Err() != nil {
		t.Errorf("during the call: %v; afterwards: %v, value %v, error %v", err, limited, released.Value(key{}), released.Err())
	}
}
