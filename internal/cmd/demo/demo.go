package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

//go:embed main.tf
var configuration string

const planFile = "next.tfplan"

// demo runs the steps with a CLI in a folder, and a service at an address.
type demo struct {
	sandbox *cli.Sandbox
	service *streamstest.Service
	address string
	dir     string

	configuration string
	attached      map[string]string // the expected processors of each stream
}

func (d *demo) run(ctx context.Context) error {
	for _, id := range []string{"gate", "loading", "parking"} {
		d.service.Seed(streamstest.Stream{ID: id})
	}
	d.configuration = strings.Replace(configuration, "https://streams.example.com", d.address, 1)
	headline("The configuration, main.tf")
	fmt.Print(d.configuration)
	if err := d.writeLockFile(ctx); err != nil {
		return err
	}
	for i, s := range steps {
		headline(fmt.Sprintf("%d of %d: %s", i+1, len(steps), s.title))
		if err := d.step(ctx, s); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, s.title, err)
		}
		fmt.Println(green("✓ " + s.shows))
	}
	return nil
}

// writeLockFile records the checksum of the provider, so that init does not warn about the lock file.
func (d *demo) writeLockFile(ctx context.Context) error {
	if err := d.writeConfiguration(); err != nil {
		return err
	}
	var out bytes.Buffer
	err := d.sandbox.Run(ctx, d.dir, &out, "providers", "lock", "-no-color",
		"-fs-mirror="+d.sandbox.Mirror, "-platform="+runtime.GOOS+"_"+runtime.GOARCH)
	if err != nil {
		return fmt.Errorf("providers lock: %w\n%s", err, out.String())
	}
	return nil
}

func (d *demo) writeConfiguration() error {
	return os.WriteFile(filepath.Join(d.dir, "main.tf"), []byte(d.configuration), 0o600)
}

func (d *demo) step(ctx context.Context, s step) error {
	if s.note != "" {
		fmt.Printf("%s\n\n", s.note)
	}
	before := d.configuration
	d.edit(s.from, s.to)
	if err := d.writeConfiguration(); err != nil {
		return err
	}
	for id, processors := range s.others {
		d.service.Seed(streamstest.Stream{ID: id, ProcessorIDs: strings.Fields(processors)})
	}
	d.service.ForgetRequests()
	for i, args := range s.commands {
		if err := d.command(ctx, s.env, args, s.fails && i == len(s.commands)-1); err != nil {
			return err
		}
	}
	requests := d.requests()
	if slices.Contains(s.commands[0], "-out="+planFile) {
		planned, err := d.planned(ctx)
		if err != nil {
			return err
		}
		if err := wantSame("planned changes", planned, s.planned); err != nil {
			return err
		}
	}
	if err := wantSame("requests", requests, s.requests); err != nil {
		return err
	}
	if s.undo {
		d.configuration = before
	}
	if s.attached != nil {
		d.attached = s.attached
	}
	return d.checkStreams()
}

// edit changes the configuration and prints the change.
func (d *demo) edit(from, to string) {
	switch {
	case from != "":
		fmt.Printf("main.tf\n- %s\n+ %s\n\n", strings.TrimSpace(from), strings.TrimSpace(to))
		d.configuration = strings.Replace(d.configuration, from, to, 1)
	case to != "":
		fmt.Printf("main.tf\n+ %s\n\n", strings.ReplaceAll(strings.TrimSpace(to), "\n", "\n+ "))
		d.configuration += to
	}
}

// command prints a command of the CLI like in a terminal, and runs it. If fails is set, the command must end with the
// exit status of an error.
func (d *demo) command(ctx context.Context, env string, args []string, fails bool) error {
	name := strings.TrimSuffix(filepath.Base(d.sandbox.Program), ".exe")
	typed := strings.TrimSpace(env + " " + name + " " + strings.Join(args, " "))
	fmt.Println(bold("$ " + typed))
	if !terminal {
		args = slices.Insert(slices.Clone(args), 1, "-no-color")
	}
	sandbox := *d.sandbox
	if variable, value, ok := strings.Cut(env, "="); ok {
		sandbox.Env = maps.Clone(sandbox.Env)
		sandbox.Env[variable] = value
	}
	err := sandbox.Run(ctx, d.dir, os.Stdout, args...)
	if exit := (*exec.ExitError)(nil); fails && errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	} else if fails && err == nil {
		err = errors.New("succeeded, want an error")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", typed, err)
	}
	fmt.Println()
	return nil
}

// requests prints and returns the requests that the service has received in this step.
func (d *demo) requests() []string {
	var received []string
	for _, r := range d.service.Requests() {
		received = append(received, r.String())
	}
	if received == nil {
		fmt.Println("The service received no request.")
		return nil
	}
	fmt.Println("The service received:")
	for _, r := range received {
		fmt.Println(wrapRequest(r))
	}
	return received
}

// planned returns the changes in the plan file, such as "update gate".
func (d *demo) planned(ctx context.Context) ([]string, error) {
	var out bytes.Buffer
	if err := d.sandbox.Run(ctx, d.dir, &out, "show", "-json", planFile); err != nil {
		return nil, fmt.Errorf("show: %w\n%s", err, out.String())
	}
	var plan struct {
		Changes []struct {
			Index  any `json:"index"`
			Change struct {
				Actions []string `json:"actions"`
			} `json:"change"`
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal(out.Bytes(), &plan); err != nil {
		return nil, fmt.Errorf("show: %w", err)
	}
	var changes []string
	for _, c := range plan.Changes {
		if actions := strings.Join(c.Change.Actions, " "); actions != "no-op" {
			changes = append(changes, fmt.Sprintf("%s %v", actions, c.Index))
		}
	}
	return changes, nil
}

// checkStreams compares the processors of the streams at the service with the expected ones.
func (d *demo) checkStreams() error {
	for id, want := range d.attached {
		stream, ok := d.service.Stream(id)
		if !ok {
			return fmt.Errorf("the stream %s does not exist", id)
		}
		if err := wantSame("processors of "+id, stream.ProcessorIDs, strings.Fields(want)); err != nil {
			return err
		}
	}
	return nil
}

// wantSame returns an error unless both lists have the same elements, in any order.
func wantSame(what string, got, want []string) error {
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if slices.Equal(got, want) {
		return nil
	}
	return fmt.Errorf("%s\n  got  %q\n  want %q", what, got, want)
}
