package coretest

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
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
	c.recorder = newRecorder(provider.NewServer("test", nil), version)
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
