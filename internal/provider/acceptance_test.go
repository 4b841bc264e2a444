package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	version "github.com/hashicorp/go-version"
	tfjson "github.com/hashicorp/terraform-json"
)

// cli is the CLI under test: its path and its version.
var cli = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("TF_ACC_TERRAFORM_PATH"); path != "" {
		return path, nil
	}
	if path, err := exec.LookPath("terraform"); err == nil {
		return path, nil
	}
	return exec.LookPath("tofu")
})

// provider is the provider built once for all tests of this process.
var builtProvider = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "provider")
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(context.Background(), "go", "build", "-o", dir, "../..")
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("building the provider: %w\n%s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	if _, err := staging(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if path, err := cli(); err == nil {
		// For terraform-plugin-testing, which else takes the next Terraform that it finds.
		os.Setenv("TF_ACC_TERRAFORM_PATH", path)
		if isTofu(path) {
			os.Setenv("TF_ACC_PROVIDER_HOST", "registry.opentofu.org")
			os.Setenv("TF_ACC_PROVIDER_NAMESPACE", "hashicorp")
		}
	}
	code := m.Run()
	if os.Getenv("TF_ACC") != "" {
		if dir, err := builtProvider(); err == nil {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// workspace is a root module in a temporary folder.
type workspace struct {
	t   *testing.T
	dir string
	env []string
	cli string

	hear func(text string) // gets what a command prints, as it comes; nil: nobody listens
}

// newWorkspace makes a root module with the given configuration whose provider talks to a service at
// baseURL ("" leaves STREAM_BASE_URL unset). It skips the test unless TF_ACC is set.
func newWorkspace(t *testing.T, baseURL, hcl string) *workspace {
	t.Helper()
	onStandIn(t)
	w := openWorkspace(t, hcl)
	if baseURL != "" {
		w.setenv("STREAM_BASE_URL", baseURL)
	}
	return w
}

// openWorkspace is newWorkspace without an address, and on staging as well.
func openWorkspace(t *testing.T, hcl string) *workspace {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		t.Skip("acceptance tests need TF_ACC=1")
	}
	path, err := cli()
	if err != nil {
		t.Fatal(err)
	}
	bin, err := builtProvider()
	if err != nil {
		t.Fatal(err)
	}
	w := &workspace{t: t, dir: t.TempDir(), cli: path}
	w.file("cli.tfrc", fmt.Sprintf(`provider_installation {
  dev_overrides {
    %q = %q
    %q = %q
  }
  direct {}
}
`, Address, bin, strings.Replace(Address, "terraform.io", "opentofu.org", 1), bin))
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "STREAM_") && !strings.HasPrefix(entry, "TF_") {
			w.env = append(w.env, entry)
		}
	}
	w.setenv("TF_CLI_CONFIG_FILE", filepath.Join(w.dir, "cli.tfrc"))
	w.setenv("CHECKPOINT_DISABLE", "1")
	w.file("versions.tf", `terraform {
  required_providers {
    stream = {
      source = "stream-management/stream"
    }
  }
}
`)
	w.write(hcl)
	return w
}

func (w *workspace) setenv(name, value string) { w.env = append(w.env, name+"="+value) }

// write replaces the configuration.
func (w *workspace) write(hcl string) { w.t.Helper(); w.file("main.tf", hcl) }

func (w *workspace) file(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// atLeast skips the test on a CLI that is older. OpenTofu has versions of its own; "" skips it.
func (w *workspace) atLeast(terraform, tofu string) {
	w.t.Helper()
	var v struct {
		Version string `json:"terraform_version"`
	}
	if err := json.Unmarshal([]byte(w.run("version", "-json").stdout), &v); err != nil {
		w.t.Fatal(err)
	}
	need := terraform
	if isTofu(w.cli) {
		need = tofu
	}
	if need == "" || version.Must(version.NewVersion(v.Version)).LessThan(version.Must(version.NewVersion(need))) {
		w.t.Skipf("needs Terraform %s or OpenTofu %q; this is %s %s", terraform, tofu, filepath.Base(w.cli), v.Version)
	}
}

func isTofu(path string) bool { return strings.Contains(filepath.Base(path), "tofu") }

// result is what a command printed and how it ended.
type result struct {
	stdout string
	stderr string
	code   int
}

// text is all that was printed, unwrapped: Terraform breaks lines where the terminal ends.
func (r result) text() string {
	out := strings.NewReplacer("│", "", "╷", "", "╵", "").Replace(r.stdout + r.stderr)
	return strings.Join(strings.Fields(out), " ")
}

func (r result) String() string { return fmt.Sprintf("exit %d\n%s\n%s", r.code, r.stdout, r.stderr) }

// run runs one command to its end, whatever that is.
func (w *workspace) run(args ...string) result {
	w.t.Helper()
	r, _ := w.interrupted(nil, args...)
	return r
}

// interrupted runs one command and interrupts it when there is something on the channel. It returns
// how long the command took to end after that, too.
func (w *workspace) interrupted(when <-chan struct{}, args ...string) (result, time.Duration) {
	w.t.Helper()
	cmd := w.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&stdout, listener(w.hear)), &stderr
	if err := cmd.Start(); err != nil {
		w.t.Fatalf("%s: %v", cmd, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	var since time.Time
	select {
	case err = <-ended:
	case <-when:
		since = time.Now()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			w.t.Fatalf("%s: %v", cmd, err)
		}
		err = <-ended
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("%s: %v", cmd, err)
	}
	r := result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	if since.IsZero() && when != nil {
		w.t.Fatalf("%s ended before it was interrupted: %v", cmd, r)
	}
	for _, blame := range []string{"inconsistent result", "bug in the provider", "panic:", "Provider produced", "Plugin did not respond"} {
		if strings.Contains(r.text(), blame) {
			w.t.Errorf("%s blames the provider: %v", cmd, r)
		}
	}
	return r, time.Since(since)
}

// listener is a writer that passes texts on.
type listener func(text string)

func (l listener) Write(text []byte) (int, error) {
	if l != nil {
		l(string(text))
	}
	return len(text), nil
}

func (w *workspace) command(args ...string) *exec.Cmd {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Minute)
	w.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, w.cli, args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	return cmd
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

func (w *workspace) plan(args ...string) result {
	w.t.Helper()
	return w.run(append([]string{"plan", "-input=false", "-no-color", "-detailed-exitcode"}, args...)...)
}

// wantNoChanges fails the test unless a plan finds nothing to do.
func (w *workspace) wantNoChanges() {
	w.t.Helper()
	if r := w.plan(); r.code != 0 {
		w.t.Fatalf("plan is not empty: %v", r)
	}
}

// changes plans and returns the planned changes by address, no-ops left out.
func (w *workspace) changes(args ...string) map[string]*tfjson.Change {
	w.t.Helper()
	if r := w.plan(append([]string{"-out=tfplan"}, args...)...); r.code == 1 {
		w.t.Fatalf("plan: %v", r)
	}
	var plan tfjson.Plan
	if err := json.Unmarshal([]byte(w.run("show", "-json", "tfplan").stdout), &plan); err != nil {
		w.t.Fatal(err)
	}
	changes := map[string]*tfjson.Change{}
	for _, c := range plan.ResourceChanges {
		if !c.Change.Actions.NoOp() {
			changes[c.Address] = c.Change
		}
	}
	return changes
}

// wantPlanned fails the test unless a plan changes exactly these resources, by address. "update
// last_edited" is an update after which last_edited alone is not known yet. The plan is in tfplan.
func (w *workspace) wantPlanned(want map[string]string) {
	w.t.Helper()
	got := map[string]string{}
	for address, change := range w.changes() {
		got[address] = planned(change)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Fatalf("planned changes (-want +got):\n%s", diff)
	}
}

func planned(change *tfjson.Change) string {
	var words []string
	unknown, _ := change.AfterUnknown.(map[string]any)
	for name, is := range unknown {
		if strings.Contains(fmt.Sprint(is), "true") { // all of it, or an element
			words = append(words, name)
		}
	}
	slices.Sort(words)
	action := "replace"
	if !change.Actions.Replace() {
		action = string(change.Actions[0])
	}
	return strings.Join(append([]string{action}, words...), " ")
}

// complaint is an error or a warning as a CLI gives it to programs.
type complaint struct {
	Severity string
	Summary  string
	Detail   string
	Address  string
	Snippet  struct {
		Context string // the block
		Code    string // the line of the attribute, or the block's first
	}
}

// complaints runs a command and returns what it complains about.
func (w *workspace) complaints(command string, args ...string) (result, []complaint) {
	w.t.Helper()
	r := w.run(append([]string{command, "-json"}, args...)...)
	var complaints []complaint
	for stdout := json.NewDecoder(strings.NewReader(r.stdout)); stdout.More(); {
		var message struct {
			Diagnostic  *complaint  // apply and plan: many messages, some are a diagnostic
			Diagnostics []complaint // validate: a single one
		}
		if err := stdout.Decode(&message); err != nil {
			w.t.Fatalf("%s printed what is not JSON: %v\n%v", command, err, r)
		}
		if message.Diagnostic != nil {
			complaints = append(complaints, *message.Diagnostic)
		}
		complaints = append(complaints, message.Diagnostics...)
	}
	return r, slices.DeleteFunc(complaints, func(p complaint) bool {
		return p.Summary == "Provider development overrides are in effect"
	})
}

// wantIn fails the test unless a text holds all of these.
func wantIn(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("missing: %s\nin: %s", w, text)
		}
	}
}

// resources returns what the state holds, by address.
func (w *workspace) resources() map[string]*tfjson.StateResource {
	w.t.Helper()
	resources := map[string]*tfjson.StateResource{}
	if _, err := os.Stat(filepath.Join(w.dir, "terraform.tfstate")); errors.Is(err, os.ErrNotExist) {
		return resources
	}
	var state tfjson.State
	if err := json.Unmarshal([]byte(w.run("show", "-json").stdout), &state); err != nil {
		w.t.Fatal(err)
	}
	if state.Values == nil {
		return resources
	}
	for _, r := range state.Values.RootModule.Resources {
		resources[r.Address] = r
	}
	return resources
}
