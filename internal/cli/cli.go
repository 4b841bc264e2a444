// Package cli runs a real Terraform or OpenTofu CLI on a provider built from this tree, from init on.
// The CLI knows nothing of the person who runs it, neither configuration nor plugins nor variables, and
// downloads nothing.
package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
)

// Version is what init finds the provider as. It has to satisfy the constraints in examples/.
const Version = "0.1.0"

// patience is how long an interrupted CLI may take to end by itself.
const patience = 10 * time.Second

// ErrNone is the error of [Find] where no CLI is installed.
var ErrNone = errors.New("neither terraform nor tofu is on PATH")

// Find returns the path of the CLI to use: the one that TF_ACC_TERRAFORM_PATH names, else terraform,
// else tofu on PATH. The error is [ErrNone], or says why the named one cannot be run.
func Find() (string, error) {
	if named := os.Getenv("TF_ACC_TERRAFORM_PATH"); named != "" {
		return exec.LookPath(named)
	}
	for _, name := range []string{"terraform", "tofu"} {
		if found, err := exec.LookPath(name); err == nil {
			return filepath.Abs(found)
		}
	}
	return "", ErrNone
}

// Build builds the provider of this tree into an existing folder and returns the path of the program.
func Build(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, programName())
	build := exec.CommandContext(ctx, "go", "build", "-ldflags", "-X main.version="+Version+"-dev", "-o", program,
		"github.com/stream-management/terraform-provider-stream")
	var out bytes.Buffer
	if err := run(ctx, build, &out); err != nil {
		return "", fmt.Errorf("building the provider: %w\n%s", err, out.Bytes())
	}
	return program, nil
}

// Sandbox is a CLI that can install one provider, and nothing else.
type Sandbox struct {
	// Program is the path of the CLI.
	Program string

	// Env is the environment that the CLI gets.
	Env map[string]string
}

// NewSandbox prepares an existing folder from which the CLI with the given path installs the provider
// with the given path, one as [Build] makes it. The folder has to outlive the sandbox.
func NewSandbox(dir, program, provider string) (*Sandbox, error) {
	mirror := filepath.Join(dir, "mirror")
	if err := fillMirror(mirror, provider); err != nil {
		return nil, fmt.Errorf("making a mirror of the provider: %w", err)
	}
	config := filepath.Join(dir, "cli.tfrc")
	installation := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", filepath.ToSlash(mirror))
	if err := os.WriteFile(config, []byte(installation), 0o600); err != nil {
		return nil, err
	}
	env := map[string]string{}
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); !strings.HasPrefix(name, "TF_") && !strings.HasPrefix(name, "STREAM_") {
			env[name] = value
		}
	}
	env["TF_CLI_CONFIG_FILE"] = config
	env["CHECKPOINT_DISABLE"] = "1"
	return &Sandbox{Program: program, Env: env}, nil
}

// Run runs the CLI in a folder; all it writes goes to out. The error is an [*exec.ExitError] if the CLI
// fails. When ctx ends, the CLI is interrupted as by Ctrl-C, and whatever of it is left 10 seconds later
// is killed; the error is then that of ctx.
func (s *Sandbox) Run(ctx context.Context, dir string, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, s.Program, args...)
	cmd.Dir = dir
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return run(ctx, cmd, out)
}

// run gives a program the time to end by itself when ctx ends: it may have files and children to remove.
func run(ctx context.Context, cmd *exec.Cmd, out io.Writer) error {
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = patience
	ownGroup(cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		killGroup(cmd)
		return ctx.Err()
	}
	return err
}

// fillMirror puts the provider where either CLI looks: each has a default host of its own.
func fillMirror(mirror, program string) error {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	_, source, _ := strings.Cut(provider.Address, "/")
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		dir := filepath.Join(mirror, host, filepath.FromSlash(source), Version, runtime.GOOS+"_"+runtime.GOARCH)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, programName()), content, 0o755); err != nil {
			return err
		}
	}
	return nil
}

func programName() string {
	name := "terraform-provider-stream_v" + Version
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}
