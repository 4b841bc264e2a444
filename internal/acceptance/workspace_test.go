package acceptance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
)

// patience is longer than any command of these tests takes, also on a busy machine.
const patience = 5 * time.Minute

// workspace is a root module in a temporary folder, and the CLI to run there.
type workspace struct {
	t       *testing.T
	dir     string
	sandbox *cli.Sandbox
}

// newWorkspace makes a root module with the given configuration, whose provider talks to a service at baseURL: "" leaves
// STREAM_BASE_URL unset. The test is skipped unless TF_ACC is set, and on a real deployment.
func newWorkspace(t *testing.T, baseURL, hcl string) *workspace {
	t.Helper()
	skipOnRealDeployment(t)
	w := newWorkspaceAnywhere(t, hcl)
	if baseURL != "" {
		w.setenv("STREAM_BASE_URL", baseURL)
	}
	return w
}

// newWorkspaceAnywhere is newWorkspace without an address, also for tests of a real deployment.
func newWorkspaceAnywhere(t *testing.T, hcl string) *workspace {
	t.Helper()
	program, provider := cli.ForTest(t)
	dir := t.TempDir()
	sandbox, err := cli.NewOverridingSandbox(dir, program, map[string]string{cli.Source: filepath.Dir(provider)})
	if err != nil {
		t.Fatal(err)
	}
	w := &workspace{t, dir, sandbox}
	w.writeFile("versions.tf", fmt.Sprintf("terraform {\n  required_providers {\n    stream = { source = %q }\n  }\n}\n", cli.Source))
	w.writeConfig(hcl)
	return w
}

func (w *workspace) setenv(name, value string) { w.sandbox.Env[name] = value }

// setenvs sets variables that are written as "NAME=value".
func (w *workspace) setenvs(variables ...string) {
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		w.setenv(name, value)
	}
}

// writeConfig replaces the configuration.
func (w *workspace) writeConfig(hcl string) { w.t.Helper(); w.writeFile("main.tf", hcl) }

func (w *workspace) writeFile(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workspace) readFile(name string) string {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

// atLeast skips the test on an older CLI.
func (w *workspace) atLeast(terraform, tofu string) {
	w.t.Helper()
	if !cli.AtLeast(w.t, terraform, tofu) {
		w.t.Skipf("needs Terraform %s or OpenTofu %q", terraform, tofu)
	}
}

// result is what a command printed and how it ended.
type result struct {
	stdout string
	stderr string
	code   int
}

// text is all that was printed, on one line.
func (r result) text() string { return cli.Unwrap(r.stdout + r.stderr) }

func (r result) String() string { return fmt.Sprintf("exit %d\n%s\n%s", r.code, r.stdout, r.stderr) }

// wantResult fails the test unless a command ended with this exit code and printed all of these texts.
func wantResult(t *testing.T, r result, code int, want ...string) {
	t.Helper()
	if r.code != code {
		t.Fatalf("the exit code is not %d: %v", code, r)
	}
	wantContains(t, r.text(), want...)
}

// wantContains fails the test unless a text contains all of these.
func wantContains(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in: %s", part, text)
		}
	}
}

// run runs one command, which may fail.
func (w *workspace) run(args ...string) result {
	w.t.Helper()
	return w.runInterrupted(nil, args...)
}

func (w *workspace) mustRun(args ...string) result {
	w.t.Helper()
	r := w.run(args...)
	if r.code != 0 {
		w.t.Fatalf("%s: %v", strings.Join(args, " "), r)
	}
	return r
}

func (w *workspace) apply(args ...string) result {
	w.t.Helper()
	return w.run(append([]string{"apply", "-auto-approve", "-input=false", "-no-color"}, args...)...)
}

func (w *workspace) mustApply(args ...string) result {
	w.t.Helper()
	r := w.apply(args...)
	if r.code != 0 {
		w.t.Fatalf("apply: %v", r)
	}
	return r
}

// plan runs a plan. Its exit code is 0 without changes, 1 after an error and 2 with changes.
func (w *workspace) plan(args ...string) result {
	w.t.Helper()
	return w.run(append([]string{"plan", "-input=false", "-no-color", "-detailed-exitcode"}, args...)...)
}

// wantNoChanges fails the test unless a plan finds nothing to do.
func (w *workspace) wantNoChanges() {
	w.t.Helper()
	if r := w.plan(); r.code != 0 {
		w.t.Fatalf("the plan is not empty: %v", r)
	}
}

// runInterrupted runs one command and interrupts it as by Ctrl-C when the channel is closed.
func (w *workspace) runInterrupted(when <-chan struct{}, args ...string) result {
	w.t.Helper()
	cmd := w.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		w.t.Fatalf("%s: %v", cmd, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
		if when != nil {
			w.t.Fatalf("%s ended before it was interrupted: %s%s", cmd, &stdout, &stderr)
		}
	case <-when:
		if err := cmd.Cancel(); err != nil {
			w.t.Fatalf("%s: %v", cmd, err)
		}
		err = <-ended
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("%s: %v", cmd, err)
	}
	r := result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	for _, blame := range []string{"inconsistent result", "bug in the provider", "panic:", "Provider produced", "Plugin did not respond"} {
		if strings.Contains(r.text(), blame) {
			w.t.Errorf("%s blames the provider: %v", cmd, r)
		}
	}
	return r
}

func (w *workspace) command(args ...string) *exec.Cmd {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	w.t.Cleanup(cancel)
	return w.sandbox.Command(ctx, w.dir, args...)
}
