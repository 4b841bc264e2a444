package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// patience is how long an interrupted program may take to end by itself.
const patience = 10 * time.Second

// hosts are the registries to which Terraform and OpenTofu resolve a provider address without a host.
var hosts = []string{"registry.terraform.io", "registry.opentofu.org"}

// Sandbox is a CLI with an environment of its own.
type Sandbox struct {
	// Program is the path of the CLI.
	Program string

	// Mirror is the folder from which init installs the provider; it does not exist with dev_overrides.
	Mirror string

	// Env is the environment that the CLI gets.
	Env map[string]string
}

// NewSandbox prepares an existing folder from which the CLI with the given path installs the provider
// with the given path, one as [Build] makes it: init finds this provider and no other. The folder has to outlive the
// sandbox.
func NewSandbox(dir, program, provider string) (*Sandbox, error) {
	mirror := filepath.Join(dir, "mirror")
	if err := fillMirror(mirror, provider); err != nil {
		return nil, fmt.Errorf("making a mirror of the provider: %w", err)
	}
	return newSandbox(dir, program, fmt.Sprintf("filesystem_mirror {\n    path = %q\n  }", filepath.ToSlash(mirror)))
}

// NewOverridingSandbox prepares an existing folder for a CLI that runs providers without init, by dev_overrides. The
// folders of their programs are listed by address without a host, such as [Source]. The folder has to outlive the
// sandbox.
func NewOverridingSandbox(dir, program string, providerDirs map[string]string) (*Sandbox, error) {
	var overrides strings.Builder
	for _, source := range slices.Sorted(maps.Keys(providerDirs)) {
		for _, host := range hosts {
			fmt.Fprintf(&overrides, "    %q = %q\n", host+"/"+source, filepath.ToSlash(providerDirs[source]))
		}
	}
	return newSandbox(dir, program, "dev_overrides {\n"+overrides.String()+"  }\n  direct {}")
}

// Source is the address of the provider without a host. It repeats provider.Address, because users of this package see
// the provider only from outside.
const Source = "stream-management/stream"

func newSandbox(dir, program, installation string) (*Sandbox, error) {
	config := filepath.Join(dir, "cli.tfrc")
	if err := os.WriteFile(config, []byte("provider_installation {\n  "+installation+"\n}\n"), 0o600); err != nil {
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
	return &Sandbox{Program: program, Mirror: filepath.Join(dir, "mirror"), Env: env}, nil
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

// fillMirror puts the provider where either CLI looks for it, in lower case.
func fillMirror(mirror, program string) error {
	for _, host := range hosts {
		dir := filepath.Join(mirror, host, filepath.FromSlash(strings.ToLower(Source)), Version, runtime.GOOS+"_"+runtime.GOARCH)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := linkOrCopy(program, filepath.Join(dir, programName())); err != nil {
			return err
		}
	}
	return nil
}

// linkOrCopy makes a second name for a file, or a copy where the two are on different file systems.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o755)
}
