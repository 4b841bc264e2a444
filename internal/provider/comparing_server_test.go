package provider

import (
	"context"
	"reflect"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// comparingServer also calls the framework where the server takes a shortcut, and fails the test if the two responses
// differ. All protocol tests run on it.
type comparingServer struct {
	*server
	t failer
}

func newComparingServer(t failer) comparingServer { return comparingServer{newServer("test"), t} }

func (c comparingServer) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	got, err := c.server.ValidateResourceConfig(ctx, req)
	want, wantErr := c.frameworkServer.ValidateResourceConfig(ctx, req)
	c.wantSameResponse("ValidateResourceConfig", got, want, err, wantErr)
	return got, err
}

func (c comparingServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	got, err := c.server.ReadResource(ctx, req)
	if c.unread(req) == nil {
		return got, err // from the framework
	}
	want, wantErr := c.frameworkServer.ReadResource(ctx, req)
	c.wantSameResponse("ReadResource", got, want, err, wantErr)
	return got, err
}

// PlanResourceChange calls the framework only where the server takes a shortcut. The framework's plan of a destroy may
// differ the second time, if another resource of the stream is planned in between.
func (c comparingServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	shortcut := c.planned(req) != nil
	got, err := c.server.PlanResourceChange(ctx, req)
	if !shortcut {
		return got, err
	}
	want, wantErr := c.frameworkServer.PlanResourceChange(ctx, req)
	c.wantSameResponse("PlanResourceChange", got, want, err, wantErr)
	return got, err
}

// wantSameResponse compares the decoded values of two responses, because the encoding of a value is not unique.
func (c comparingServer) wantSameResponse(call string, got, want any, err, wantErr error) {
	c.t.Helper()
	if err != nil || wantErr != nil {
		c.t.Fatalf("%s failed: %v; the framework: %v", call, err, wantErr)
	}
	if reflect.DeepEqual(got, want) {
		return // the usual case, and much faster
	}
	decoded := cmp.Options{
		cmp.Transformer("resource", func(v *tfprotov6.DynamicValue) any { return fromTerraform(decodeResource(c.t, v)) }),
		cmp.Transformer("identity", func(d *tfprotov6.ResourceIdentityData) any { return decodeIdentity(c.t, d) }),
		cmpopts.SortSlices(func(a, b *tfprotov6.Diagnostic) bool { return a.Detail < b.Detail }),
		cmp.Transformer("bytes", func(b []byte) string { return string(b) }),
		cmp.Transformer("path", (*tftypes.AttributePath).String),
	}
	if diff := cmp.Diff(want, got, decoded); diff != "" {
		c.t.Fatalf("the shortcut of %s differs from the framework (-framework +shortcut):\n%s", call, diff)
	}
}
