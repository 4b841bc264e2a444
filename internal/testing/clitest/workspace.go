package clitest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// patience is longer than any command of a test takes, also on a busy machine.
const patience = 5 * time.Minute

// RequireProvider is the terraform block of a root module that uses the provider.
const RequireProvider = "terraform {\n  required_providers {\n    stream = { source = \"" + cli.Source + "\" }\n  }\n}\n"

// Workspace is a root module in a temporary folder, and the CLI to run there. No command waits for an input.
type Workspace struct {
	*cli.Sandbox

	// Dir is the folder of the root module.
	Dir string

	t *testing.T
}

// New makes an empty root module whose CLI installs the provider with init, also under other addresses without a host. It
// skips the test unless TF_ACC is set.
func New(t *testing.T, otherSources ...string) *Workspace {
	t.Helper()
	program, provider := Programs(t)
	providers := map[string]string{cli.Source: provider}
	for _, source := range otherSources {
		providers[source] = provider
	}
	sandbox, err := cli.NewSandbox(t.TempDir(), program, providers)
	if err != nil {
		t.Fatal(err)
	}
	w := &Workspace{sandbox, t.TempDir(), t}
	w.Setenv("TF_INPUT=0", "TF_CLI_ARGS=-no-color")
	w.Setenv("TF_DISABLE_PLUGIN_TLS=1") // keys for each process of the provider take two fifths of the CPU time of a plan
	return w
}

// Copy makes a workspace with the same files, CLI and variables for a test, such as a subtest.
func (w *Workspace) Copy(t *testing.T) *Workspace {
	t.Helper()
	sandbox := *w.Sandbox
	sandbox.Env = maps.Clone(w.Env)
	other := &Workspace{&sandbox, t.TempDir(), t}
	if err := os.CopyFS(other.Dir, os.DirFS(w.Dir)); err != nil {
		t.Fatal(err)
	}
	return other
}

// Setenv sets variables that are written as "NAME=value".
func (w *Workspace) Setenv(variables ...string) {
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		w.Env[name] = value
	}
}

// Path returns the path of a file of the workspace.
func (w *Workspace) Path(name string) string { return filepath.Join(w.Dir, filepath.FromSlash(name)) }

// Write replaces a file, or makes it.
func (w *Workspace) Write(name, content string) {
	w.t.Helper()
	WriteFile(w.t, w.Path(name), content)
}

// WriteFile writes a file of a test that may be run, and makes its folder.
func WriteFile(t testing.TB, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o700)); err != nil {
		t.Fatal(err)
	}
}

// Configure replaces main.tf.
func (w *Workspace) Configure(hcl string) { w.t.Helper(); w.Write("main.tf", hcl) }

// Read returns the content of a file.
func (w *Workspace) Read(name string) string {
	w.t.Helper()
	return ReadFile(w.t, w.Path(name))
}

// ReadFile reads a file of a test.
func ReadFile(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Edit replaces the first occurrence of a text in a file.
func (w *Workspace) Edit(name, from, to string) {
	w.t.Helper()
	content := w.Read(name)
	if !strings.Contains(content, from) {
		w.t.Fatalf("%s has no %q", name, from)
	}
	w.Write(name, strings.Replace(content, from, to, 1))
}

// Run runs a command, which may fail.
func (w *Workspace) Run(args ...string) Result {
	w.t.Helper()
	r := Result{t: w.t, command: strings.Join(args, " ")}
	cmd := w.Command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		w.t.Fatalf("%s: %v", r.command, err)
	}
	r.Stdout, r.Stderr, r.Code = stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	for _, blame := range []string{"inconsistent result", "bug in the provider", "panic:", "Provider produced", "Plugin did not respond"} {
		if strings.Contains(r.Text(), blame) {
			w.t.Errorf("the provider is blamed: %v", r)
		}
	}
	return r
}

// MustRun runs a command, which must succeed.
func (w *Workspace) MustRun(args ...string) Result {
	w.t.Helper()
	return w.Run(args...).Want(0)
}

// Apply plans and applies, or applies a saved plan. It may fail.
func (w *Workspace) Apply(args ...string) Result {
	w.t.Helper()
	return w.Run(append([]string{"apply", "-auto-approve"}, args...)...)
}

// MustApply is Apply, which must succeed.
func (w *Workspace) MustApply(args ...string) Result {
	w.t.Helper()
	return w.Apply(args...).Want(0)
}

// Plan runs a plan. Its exit code is 0 without changes, 1 after an error and 2 with changes.
func (w *Workspace) Plan(args ...string) Result {
	w.t.Helper()
	return w.Run(append([]string{"plan", "-detailed-exitcode"}, args...)...)
}

// Command returns a command of the CLI, not started yet.
func (w *Workspace) Command(args ...string) *exec.Cmd {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	w.t.Cleanup(cancel)
	return w.Sandbox.Command(ctx, w.Dir, args...)
}

// Result is what a command printed, and how it ended.
type Result struct {
	Stdout, Stderr string
	Code           int

	t       *testing.T
	command string
}

// Text is all that was printed, on one line.
func (r Result) Text() string { return cli.Unwrap(r.Stdout + r.Stderr) }

func (r Result) String() string {
	return fmt.Sprintf("%s: exit code %d\n%s\n%s", r.command, r.Code, r.Stdout, r.Stderr)
}

// Want fails the test unless the command ended with this exit code and printed all of these texts.
func (r Result) Want(code int, texts ...string) Result {
	r.t.Helper()
	if r.Code != code {
		r.t.Fatalf("the exit code is not %d: %v", code, r)
	}
	streamstest.WantText(r.t, r.Text(), texts...)
	return r
}
