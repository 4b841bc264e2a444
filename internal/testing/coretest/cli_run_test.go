package coretest

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/server"
	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// realCore is a real CLI with a folder, a service, and a recorder in front of the provider. The CLI attaches to the recorder,
// which is in the process of the test: a process of the provider for each walk would take most of the time.
type realCore struct {
	t        *testing.T
	sandbox  *cli.Sandbox
	dir      string
	services []*streamstest.Service // of the deployments
	urls     []string
	recorder *recorder
}

func startRealCore(t *testing.T, program string, version cliVersion, drift bool) *realCore {
	t.Helper()
	sandbox, err := cli.NewSandbox(t.TempDir(), program, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &realCore{t: t, sandbox: sandbox, dir: t.TempDir()}
	for range 2 {
		service, url := streamstest.Start(t, streamstest.Options{ServeGet: drift})
		c.services, c.urls = append(c.services, service), append(c.urls, url)
	}
	c.services, c.urls = append(c.services, c.services[0]), append(c.urls, c.urls[0])
	c.recorder = newRecorder(server.New("test", nil), version)
	sandbox.Env["TF_REATTACH_PROVIDERS"] = serveForCLI(t, c.recorder)
	return c
}

// serveForCLI serves until the test ends, and returns how a CLI attaches.
func serveForCLI(t *testing.T, server tfprotov6.ProviderServer) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	config, closed := make(chan *plugin.ReattachConfig), make(chan struct{})
	go func() {
		err := tf6server.Serve(provider.Address, func() tfprotov6.ProviderServer { return server },
			tf6server.WithDebug(ctx, config, closed), tf6server.WithGoPluginLogger(hclog.NewNullLogger()))
		if err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-closed
	})
	got := <-config
	attach := map[string]any{}
	for _, host := range cli.Hosts {
		attach[host+"/"+cli.Source] = map[string]any{
			"Protocol": got.Protocol, "ProtocolVersion": got.ProtocolVersion, "Pid": got.Pid, "Test": got.Test,
			"Addr": map[string]any{"Network": got.Addr.Network(), "String": got.Addr.String()},
		}
	}
	return asJSON(attach)
}

// adopt runs `terraform import`.
func (c *realCore) adopt(configuration string, run historyRun) {
	c.t.Helper()
	clitest.WriteFile(c.t, filepath.Join(c.dir, "main.tf"), configuration)
	for _, addr := range run.adopted {
		if out, ok := c.command("import", addressOf(addr), run.importID(addr, run.config)); !ok {
			c.t.Fatalf("import %s: %s", addr, out)
		}
	}
}

// run runs `terraform apply`, and returns the calls, the output, and whether there was no error.
func (c *realCore) run(configuration string, run historyRun, meanwhile func()) (calls []call, out string, ok bool) {
	c.t.Helper()
	clitest.WriteFile(c.t, filepath.Join(c.dir, "main.tf"), configuration)
	for _, addr := range run.tainted {
		if out, ok := c.command("taint", addressOf(addr)); !ok {
			c.t.Fatalf("taint %s: %s", addr, out)
		}
	}
	c.recorder.newRun(meanwhile)
	out, ok = c.command(run.arguments()...)
	if ok {
		c.recorder.applying() // an apply without changes makes no calls
	}
	return c.recorder.calls, out, ok
}

func (c *realCore) command(args ...string) (string, bool) {
	var out bytes.Buffer
	err := c.sandbox.Run(context.Background(), c.dir, &out, slices.Insert(args, 1, "-no-color", "-lock=false")...)
	return out.String(), err == nil
}

// versionOf returns what differs in the version of the CLI.
func versionOf(t *testing.T) cliVersion {
	t.Helper()
	return cliVersion{
		destroysUnrefreshed: clitest.AtLeast(t, "1.9.0", "") && !clitest.AtLeast(t, "1.12.0", ""),
		identities:          clitest.AtLeast(t, "1.12.0", ""),
		actions:             clitest.AtLeast(t, "1.14.0", ""),
		actionsInNodes:      clitest.AtLeast(t, "1.16.0", ""),
		removes:             clitest.AtLeast(t, "1.7.0", "1.10.0"),
		readsForgotten:      !clitest.AtLeast(t, "1.9.0", ""),
	}
}

// call is a call of core to the provider, in a form to compare and print. What is null or empty is left out.
type call struct {
	Name     string         `json:"call"`
	Walk     int            `json:"walk"` // 1: the plan; 2: the apply
	Request  map[string]any `json:"request"`
	Response map[string]any `json:"response,omitempty"`
}

func (c call) String() string { return asJSON(c) }

func (v cliVersion) newCall(name string, walk int, req any) call {
	typeName := ""
	if field := reflect.ValueOf(req).Elem().FieldByName("TypeName"); field.IsValid() {
		typeName = field.String()
	}
	return call{Name: name, Walk: walk, Request: v.plain(typeName, req)}
}

// ended is a call with its response.
func (v cliVersion) ended(c call, resp any) call {
	typeName, _ := c.Request["TypeName"].(string)
	c.Response = v.plain(typeName, resp)
	return c
}

// fullServer has the methods of the provider's server that a wrapper must not hide.
type fullServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ActionServer
}

// recorder is a server in front of the provider that records the calls of a CLI. As in life, there is a new process of the
// provider for each walk: the call of ConfigureProvider begins one.
type recorder struct {
	fullServer // serves what needs no process: schemas, and the calls that validate, upgrade states and plan actions
	start      func() tfprotov6.ProviderServer
	version    cliVersion

	inTurn   sync.Mutex // one call at a time, so that their order is defined
	process  fullServer // the current one
	walk     int
	calls    []call
	applying func() // called when the apply begins
}

func newRecorder(start func() tfprotov6.ProviderServer, version cliVersion) *recorder {
	server := start().(fullServer)
	return &recorder{fullServer: server, process: server, start: start, version: version, applying: func() {}}
}

// newRun makes the next walk the first one.
func (r *recorder) newRun(applying func()) {
	r.inTurn.Lock()
	defer r.inTurn.Unlock()
	r.walk, r.calls, r.applying = 0, nil, sync.OnceFunc(applying)
}

func (r *recorder) ConfigureProvider(
	ctx context.Context, req *tfprotov6.ConfigureProviderRequest,
) (*tfprotov6.ConfigureProviderResponse, error) {
	r.inTurn.Lock()
	defer r.inTurn.Unlock()
	r.process = r.start().(fullServer)
	if r.walk++; r.walk == 2 {
		r.applying()
	}
	return r.process.ConfigureProvider(ctx, req)
}

// record makes a call in its turn.
func record[Req, Resp any](
	ctx context.Context, r *recorder, name string, req Req, method func(fullServer, context.Context, Req) (Resp, error),
) (Resp, error) {
	r.inTurn.Lock()
	defer r.inTurn.Unlock()
	c := r.version.newCall(name, r.walk, req)
	resp, err := method(r.process, ctx, req)
	if err == nil {
		c = r.version.ended(c, resp)
	}
	r.calls = append(r.calls, c)
	return resp, err
}

func (r *recorder) ImportResourceState(
	ctx context.Context, req *tfprotov6.ImportResourceStateRequest,
) (*tfprotov6.ImportResourceStateResponse, error) {
	return record(ctx, r, "ImportResourceState", req, fullServer.ImportResourceState)
}

func (r *recorder) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return record(ctx, r, "ReadResource", req, fullServer.ReadResource)
}

func (r *recorder) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	return record(ctx, r, "PlanResourceChange", req, fullServer.PlanResourceChange)
}

func (r *recorder) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return record(ctx, r, "ApplyResourceChange", req, fullServer.ApplyResourceChange)
}

// InvokeAction collects the events, so that the call ends with the last one.
func (r *recorder) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	var events []tfprotov6.InvokeActionEvent
	invoke := func(s fullServer, ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.CompletedInvokeActionEventType, error) {
		stream, err := s.InvokeAction(ctx, req)
		if err != nil {
			return nil, err
		}
		events = slices.Collect(stream.Events)
		completed, _ := events[len(events)-1].Type.(tfprotov6.CompletedInvokeActionEventType)
		return &completed, nil
	}
	_, err := record(ctx, r, "InvokeAction", req, invoke)
	return &tfprotov6.InvokeActionServerStream{Events: slices.Values(events)}, err
}

// plain makes the fields of a request or response comparable and printable. Of diagnostics, the details depend on the address
// of the service. What the model does not send is left out: capabilities, and the metadata of the provider.
func (v cliVersion) plain(typeName string, message any) map[string]any {
	plain, fields := map[string]any{}, reflect.ValueOf(message).Elem()
	for i := range fields.NumField() {
		name, field := fields.Type().Field(i).Name, fields.Field(i)
		switch value := field.Interface().(type) {
		case *tfprotov6.DynamicValue:
			if v := decode(typeName, value); v != nil && name != "ProviderMeta" {
				plain[name] = v
			}
		case *tfprotov6.ResourceIdentityData:
			if !v.identities { // as with an older CLI, which drops those of the responses
				field.SetZero()
			} else if value != nil {
				plain[name] = fmt.Sprintf("%x", value.IdentityData.MsgPack)
			}
		case []byte:
			if len(value) > 0 {
				plain[name] = Marks(value)
			}
		case []*tftypes.AttributePath:
			if len(value) > 0 {
				plain[name] = fmt.Sprint(value)
			}
		case []*tfprotov6.Diagnostic:
			var texts []string
			for _, d := range value {
				texts = append(texts, fmt.Sprintf("%s: %s %v", d.Severity, d.Summary, d.Attribute))
			}
			if texts != nil {
				plain[name] = texts
			}
		case []*tfprotov6.ImportedResource:
			for _, imported := range value {
				plain[name] = v.plain(typeName, imported)
			}
		case *tfprotov6.Deferred:
			if value != nil {
				plain[name] = value.Reason.String()
			}
		case string:
			plain[name] = value
		}
	}
	return plain
}

func decode(typeName string, v *tfprotov6.DynamicValue) any {
	typ := schemas().ActionSchemas[ActionName].Schema.ValueType()
	if s, ok := schemas().ResourceSchemas[typeName]; ok {
		typ = s.ValueType()
	}
	if v == nil {
		return nil
	}
	decoded, err := v.Unmarshal(typ)
	if err != nil {
		return err.Error()
	}
	return FromTerraform(decoded)
}
