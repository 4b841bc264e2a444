package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// patience is how long an interrupted program may take to end by itself.
const patience = 10 * time.Second

// Hosts are the registries to which Terraform and OpenTofu resolve a provider address without a host.
var Hosts = []string{"registry.terraform.io", "registry.opentofu.org"}

// Sandbox is a CLI with an environment of its own.
type Sandbox struct {
	// Program is the path of the CLI.
	Program string

	// Mirror is the folder from which init installs the providers.
	Mirror string

	// Env is the environment that the CLI gets.
	Env map[string]string
}

// Source is the address of the provider without a host. It repeats provider.Address, because users of this package see
// the provider only from outside.
const Source = "stream-management/stream"

// NewSandbox prepares an existing folder from which the CLI with the given path installs providers, and no others. Their
// programs, as [Build] makes them, are listed by address without a host. The folder has to outlive the sandbox, and has
// the file system of the programs.
func NewSandbox(dir, program string, providers map[string]string) (*Sandbox, error) {
	s := &Sandbox{Program: program, Mirror: filepath.Join(dir, "mirror"), Env: map[string]string{}}
	for source, provider := range providers {
		for _, host := range Hosts {
			folder := filepath.Join(s.Mirror, host, filepath.FromSlash(strings.ToLower(source)), Version, runtime.GOOS+"_"+runtime.GOARCH)
			if err := errors.Join(os.MkdirAll(folder, 0o755), os.Link(provider, filepath.Join(folder, programName(path.Base(source))))); err != nil {
				return nil, fmt.Errorf("making a mirror of the provider: %w", err)
			}
		}
	}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "TF") && !strings.HasPrefix(name, "STREAM_") {
			s.Env[name] = value
		}
	}
	s.Env["TF_CLI_CONFIG_FILE"] = filepath.Join(dir, "cli.tfrc")
	s.Env["CHECKPOINT_DISABLE"] = "1"
	config := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", filepath.ToSlash(s.Mirror))
	return s, os.WriteFile(s.Env["TF_CLI_CONFIG_FILE"], []byte(config), 0o600)
}

// Command returns a command of the CLI in a folder, not started yet. When ctx ends, or Cancel is called, the CLI is
// interrupted as by Ctrl-C. When ctx ends, it is also killed 10 seconds later.
func (s *Sandbox) Command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.Program, args...)
	cmd.Dir = dir
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return interruptible(cmd)
}

// Run runs the CLI in a folder; all it writes goes to out. The error is an [*exec.ExitError] if the CLI
// fails. When ctx ends, the CLI is interrupted as by Ctrl-C, and whatever of it is left 10 seconds later
// is killed; the error is then that of ctx.
func (s *Sandbox) Run(ctx context.Context, dir string, out io.Writer, args ...string) error {
	return run(ctx, s.Command(ctx, dir, args...), out)
}

// interruptible gives a program the time to end by itself: it may have files and children to remove.
func interruptible(cmd *exec.Cmd) *exec.Cmd {
	cmd.WaitDelay = patience
	ownGroup(cmd)
	return cmd
}

func run(ctx context.Context, cmd *exec.Cmd, out io.Writer) error {
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	if ctx.Err() != nil {
		killGroup(cmd)
		return ctx.Err()
	}
	return err
}
