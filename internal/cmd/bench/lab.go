//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Names of the contenders.
const (
	stream  = "this provider"
	nothing = "a provider that does nothing"
	data    = "`terraform_data`"
	curl    = "`terraform_data` + curl"
	shimmed = "this provider, with a shim that measures it"
)

// contender is one way to have the sets of many streams in a configuration.
type contender struct {
	name     string
	resource string
	shimmed  bool // measured for the provider's own time; the rest is not its own
}

const resource = `
resource "stream_processors" "this" {
  count         = var.streams
  stream_id     = "stream-${count.index}"
  processor_ids = var.processor_ids
}
`

var contenders = []contender{
	{name: stream, resource: resource},
	{name: shimmed, resource: resource, shimmed: true},
	{name: nothing, resource: resource},
	{name: data, resource: `
resource "terraform_data" "this" {
  count = var.streams
  input = { stream_id = "stream-${count.index}", processor_ids = var.processor_ids }
}
`},
	{name: curl, resource: `
resource "terraform_data" "this" {
  count            = var.streams
  triggers_replace = var.processor_ids
  provisioner "local-exec" {
    command = "curl --silent --show-error --fail -X PATCH -H 'Content-Type: application/json' -d '${jsonencode({ processor_ids = var.processor_ids })}' $STREAM_BASE_URL/v2/streams/stream-${count.index}"
  }
}
`},
}

const head = `
terraform {
  required_providers {
    stream = { source = "stream-management/stream" }
  }
}
variable "streams" { type = number }
variable "processor_ids" { type = set(string) }
`

// lab is a folder with a CLI and the providers.
type lab struct {
	ctx       context.Context
	dir       string
	providers map[string]string       // their programs
	sandboxes map[string]*cli.Sandbox // that install them
}

func newLab(ctx context.Context) (*lab, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{ctx: ctx, dir: dir, providers: map[string]string{}, sandboxes: map[string]*cli.Sandbox{}}
	program, err := cli.Find()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for name, source := range map[string]string{stream: ".", nothing: "./internal/cmd/bench/nothing"} {
		l.providers[name] = filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", l.providers[name], source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", build, err, out)
		}
	}
	for name, provider := range map[string]string{
		stream: l.providers[stream], nothing: l.providers[nothing], shimmed: self,
	} {
		home := filepath.Join(dir, "sandbox", name)
		if err := os.MkdirAll(home, 0o755); err != nil {
			return nil, err
		}
		if l.sandboxes[name], err = cli.NewSandbox(home, program, provider); err != nil {
			return nil, err
		}
	}
	l.sandboxes[data], l.sandboxes[curl] = l.sandboxes[stream], l.sandboxes[stream]
	return l, nil
}

// version is the CLI's first line about itself.
func (l *lab) version() string {
	var out strings.Builder
	if err := l.sandboxes[stream].Run(l.ctx, l.dir, &out, "version"); err != nil {
		return err.Error()
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	return line
}

// handshake is the time from the start of a provider to its first line, which tells the CLI where to
// connect.
func (l *lab) handshake(program string) (time.Duration, error) {
	cmd := exec.CommandContext(l.ctx, program)
	cmd.Env = append(os.Environ(), "PLUGIN_PROTOCOL_VERSIONS=6",
		"TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	taken := time.Since(start)
	return taken, errors.Join(err, cmd.Process.Kill(), ignore(cmd.Wait()))
}

func ignore(error) error { return nil }

// operations are what a fleet goes through. Each is one command, with the sets that it asks for.
var operations = []struct {
	name    string
	command []string
	ids     string
}{
	{"validate", []string{"validate"}, ""},
	{"create", []string{"apply", "-auto-approve", "-input=false"}, before},
	{"plan, no change", []string{"plan", "-input=false"}, before},
	{"update", []string{"apply", "-auto-approve", "-input=false"}, after},
}

// Three ids of 36 characters each, before and after.
const (
	before = `["6f1c0f8e-0001-4c5e-9a51-2f4b8a3d7e10","6f1c0f8e-0002-4c5e-9a51-2f4b8a3d7e10","6f1c0f8e-0003-4c5e-9a51-2f4b8a3d7e10"]`
	after  = `["6f1c0f8e-0001-4c5e-9a51-2f4b8a3d7e10","6f1c0f8e-0002-4c5e-9a51-2f4b8a3d7e10","6f1c0f8e-0004-4c5e-9a51-2f4b8a3d7e10"]`
)

// sample is what one command took.
type sample struct {
	streams     int
	wall        time.Duration
	processor   time.Duration // of the CLI and all that it started
	provider    time.Duration // of the provider alone, if a shim measured it
	memory      int64         // peak of the largest process, in bytes
	requests    int
	connections int
	state       int64 // size of the state file in bytes
}

// run takes a contender through all operations, with a service and a folder of its own.
func (l *lab) run(c contender, s setting) (map[string]sample, error) {
	service := streamstest.New(streamstest.Options{Latency: s.latency})
	for i := range s.streams {
		service.Seed(streamstest.Stream{ID: "stream-" + strconv.Itoa(i)})
	}
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(service)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()

	dir, err := os.MkdirTemp(l.dir, "run-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(head+c.resource), 0o600); err != nil {
		return nil, err
	}
	usage := filepath.Join(dir, "usage")
	cmd := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(l.ctx, l.sandboxes[c.name].Program, args...)
		cmd.Dir = dir
		for name, value := range l.sandboxes[c.name].Env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		cmd.Env = append(cmd.Env, "STREAM_BASE_URL="+server.URL, programVariable+"="+l.providers[stream], usageVariable+"="+usage)
		return cmd
	}
	if out, err := cmd("init").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("init: %w\n%s", err, out)
	}

	samples := map[string]sample{}
	for _, operation := range operations {
		service.ForgetRequests()
		connections.Store(0)
		args := operation.command
		if operation.ids != "" {
			args = append(slices.Clip(args), "-parallelism="+strconv.Itoa(s.parallelism),
				"-var=streams="+strconv.Itoa(s.streams), "-var=processor_ids="+operation.ids)
		}
		cmd := cmd(args...)
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
		taken := sample{
			streams:     s.streams,
			wall:        time.Since(start),
			processor:   cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
			memory:      peak(cmd.ProcessState),
			requests:    len(service.Requests()),
			connections: int(connections.Load()),
		}
		if info, err := os.Stat(filepath.Join(dir, "terraform.tfstate")); err == nil {
			taken.state = info.Size()
		}
		if taken.provider, err = readUsage(usage); err != nil {
			return nil, err
		}
		samples[operation.name] = taken
	}
	return samples, nil
}

// peak is the most memory that a process or one of its children had, in bytes.
func peak(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss * 1024
}
