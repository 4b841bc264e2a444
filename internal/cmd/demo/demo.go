package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

//go:embed main.tf
var configuration string

// demo runs the steps with a CLI in a folder.
type demo struct {
	sandbox       *cli.Sandbox
	service       *streamstest.Service
	dir           string
	configuration string
}

func (d *demo) run(ctx context.Context) error {
	fmt.Print(styled(bold, "\n━━━ The configuration, main.tf"), "\n\n", d.configuration)
	if err := d.writeLockFile(ctx); err != nil {
		return err
	}
	for i, s := range steps {
		fmt.Print(styled(bold, fmt.Sprintf("\n━━━ %d of %d: %s", i+1, len(steps), s.title)), "\n\n")
		if err := d.step(ctx, s); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, s.title, err)
		}
		fmt.Println(styled(green, "✓ "+s.shows))
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
	if s.others.ID != "" {
		d.service.Seed(s.others)
	}
	d.service.ForgetRequests()
	for i, args := range s.commands {
		if err := d.command(ctx, s.env, args, s.fails && i == len(s.commands)-1); err != nil {
			return err
		}
	}
	if s.undo {
		d.configuration = before
	}
	return d.checkRequests(s.requests)
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
	fmt.Println(styled(bold, "$ "+typed))
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

// checkRequests prints the requests that the service has received in this step, and returns an error unless they are the
// expected ones, in any order.
func (d *demo) checkRequests(want []string) error {
	var got []string
	for _, r := range d.service.Requests() {
		got = append(got, r.String())
	}
	if got == nil {
		fmt.Println("The service received no request.")
	} else {
		fmt.Print("The service received:\n  ", strings.Join(got, "\n  "), "\n")
	}
	if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		return fmt.Errorf("the service received other requests than expected:\n  %s", strings.Join(want, "\n  "))
	}
	return nil
}

// terminal reports whether the output goes to a terminal and may have colors.
var terminal = func() bool {
	info, err := os.Stdout.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == ""
}()

// Codes of the terminal.
const (
	bold  = "1"
	green = "32"
)

func styled(code, text string) string {
	if !terminal {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
