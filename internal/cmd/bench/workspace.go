//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/cmd/bench/observe"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// operation is one command of the CLI.
type operation struct {
	name    string
	command []string
	writes  bool // changes each stream
	one     bool // changes one stream
}

var (
	create = operation{name: "create", command: []string{"apply", "-auto-approve"}, writes: true}
	noop   = operation{name: "plan, no change", command: []string{"plan", "-detailed-exitcode"}} // fails if there is a change
	one    = operation{name: "one change", command: []string{"apply", "-auto-approve"}, one: true}
	update = operation{name: "update", command: []string{"apply", "-auto-approve"}, writes: true}
)

// processorSets are the two sets between which updates alternate: three ids of 36 characters each.
var processorSets = []string{
	`["6f1c0f8e-0001-4c5e-9a51-2f4b8a3d7e10","6f1c0f8e-0002-4c5e-9a51-2f4b8a3d7e10","6f1c0f8e-0003-4c5e-9a51-2f4b8a3d7e10"]`,
	`["6f1c0f8e-0001-4c5e-9a51-2f4b8a3d7e10","6f1c0f8e-0002-4c5e-9a51-2f4b8a3d7e10","6f1c0f8e-0004-4c5e-9a51-2f4b8a3d7e10"]`,
}

// measurement is what one command took.
type measurement struct {
	wall      time.Duration
	cpu       time.Duration // of the CLI and all processes that it started
	provider  observe.Usage
	stateSize int // in bytes
}

// workspace is a contender with a folder, a service and a state of its own.
type workspace struct {
	contender
	streams int
	dir     string
	sandbox *cli.Sandbox
	service *streamstest.Service
	state   *stateServer
	set     int    // index in processorSets of what the streams have
	first   int    // the same for the first stream
	close   func() // stops the servers
}

// newWorkspace writes the contender's configuration for a number of streams and runs init.
func (l *lab) newWorkspace(ctx context.Context, c contender, streams int, latency time.Duration) (*workspace, error) {
	dir, err := os.MkdirTemp(l.dir, "workspace-")
	if err != nil {
		return nil, err
	}
	w := &workspace{contender: c, streams: streams, dir: dir, state: &stateServer{}}
	w.service = streamstest.New(streamstest.Options{Latency: latency})
	for i := range streams {
		w.service.Seed(streamstest.Stream{ID: "stream-" + strconv.Itoa(i)})
	}
	service, state := httptest.NewServer(w.service), httptest.NewServer(w.state)
	w.close = func() {
		service.Close()
		state.Close()
	}

	w.sandbox = &cli.Sandbox{Program: l.sandbox.Program, Env: maps.Clone(l.sandbox.Env)}
	w.sandbox.Env["STREAM_BASE_URL"] = service.URL
	w.sandbox.Env["TF_HTTP_ADDRESS"] = state.URL
	w.sandbox.Env["TF_VAR_streams"] = strconv.Itoa(streams)
	w.sandbox.Env[observe.ProgramVariable] = c.provider
	w.sandbox.Env[observe.UsageVariable] = w.path("usage")
	if err := os.WriteFile(w.path("main.tf"), []byte(c.configuration()), 0o600); err != nil {
		return nil, err
	}
	if c.part != "" {
		if err := errors.Join(os.Mkdir(w.path("part"), 0o700), os.WriteFile(w.path("part/main.tf"), []byte(c.part), 0o600)); err != nil {
			return nil, err
		}
	}
	return w, w.runCLI(ctx, "init")
}

func (w *workspace) path(name string) string { return filepath.Join(w.dir, name) }

// runCLI returns an error with the CLI's output if the command fails.
func (w *workspace) runCLI(ctx context.Context, args ...string) error {
	var out bytes.Buffer
	if err := w.sandbox.Run(ctx, w.dir, &out, args...); err != nil {
		if ctx.Err() != nil {
			return err // interrupted; the output does not matter
		}
		return fmt.Errorf("%s: %s: %w\n%s", w.name, strings.Join(args, " "), err, out.Bytes())
	}
	return nil
}

// measure runs one operation. It returns an error unless the service received exactly the requests that
// the operation has to send.
func (w *workspace) measure(ctx context.Context, o operation) (measurement, error) {
	first := w.first
	switch o.name {
	case create.name:
		if err := w.forgetState(); err != nil {
			return measurement{}, err
		}
		w.set, w.first = 0, 0
	case update.name:
		w.set = 1 - w.set
		w.first = w.set
	case one.name:
		w.first = 1 - w.first
	}
	w.sandbox.Env["TF_VAR_first_processor_ids"] = processorSets[w.first]
	w.sandbox.Env["TF_VAR_processor_ids"] = processorSets[w.set]
	w.service.ForgetRequests()
	args := append(slices.Clip(o.command), "-input=false", "-parallelism="+strconv.Itoa(w.parallelism))

	cpu, start := childrenCPU(), time.Now()
	if err := w.runCLI(ctx, args...); err != nil {
		return measurement{}, err
	}
	m := measurement{wall: time.Since(start), cpu: childrenCPU() - cpu}

	want := 0
	switch {
	case w.sends && o.name == update.name && first == w.first:
		want = w.streams - 1 // the first stream has this set already
	case w.sends && o.writes:
		want = w.streams
	case w.sends && o.one:
		want = 1
	}
	if got := len(w.service.Requests()); got != want {
		return m, fmt.Errorf("%s: %s sent %d requests, want %d", w.name, o.name, got, want)
	}
	var err error
	if w.provider != "" {
		if m.provider, err = observe.Collect(w.path("usage")); err != nil {
			return m, err
		}
	}
	m.stateSize, err = w.stateSize()
	return m, err
}

// childrenCPU is the CPU time of all processes that this process has waited for, and of their children.
func childrenCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		panic(err) // the arguments are constant
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func (w *workspace) forgetState() error {
	w.state.store(nil)
	err := os.Remove(w.path("terraform.tfstate"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (w *workspace) stateSize() (int, error) {
	if !w.localState {
		return len(w.state.stored()), nil
	}
	info, err := os.Stat(w.path("terraform.tfstate"))
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}
