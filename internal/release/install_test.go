package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestAccMirror installs from a filesystem mirror, twice with the same lock file.
func TestAccMirror(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, installFrom(newMirror(t, releaseOf(t, "0.1.0"))), source)
	w.mustRun("init")
	lock := read(t, w.path(".terraform.lock.hcl"))
	w.mustRun("apply", "-auto-approve")
	w.wantVersion("0.1.0")

	if err := os.RemoveAll(w.path(".terraform")); err != nil { // so that init installs again, as on another machine
		t.Fatal(err)
	}
	w.mustRun("init", "-lockfile=readonly")
	w.mustRun("apply", "-auto-approve")
	if requests := w.service.Requests(); len(requests) != 0 {
		t.Errorf("the second apply sent %v", requests)
	}
	if diff := cmp.Diff(string(lock), string(read(t, w.path(".terraform.lock.hcl")))); diff != "" {
		t.Errorf("the lock file has changed:\n%s", diff)
	}
}

// TestAccMirrorWithAnotherArchive checks that the CLI refuses another archive of the version that the lock
// file has.
func TestAccMirrorWithAnotherArchive(t *testing.T) {
	t.Parallel()
	r := releaseOf(t, "0.1.0")
	dir := newMirror(t, r)
	w := newWorkspace(t, installFrom(dir), source)
	w.mustRun("init")
	for _, host := range hosts {
		archive := filepath.Join(mirrorFolder(dir, host), filepath.Base(r.Zip(Host())))
		copyArchive(t, archive, archive, func(name string) string { return name + "x" })
	}
	if err := os.RemoveAll(w.path(".terraform")); err != nil {
		t.Fatal(err)
	}
	if out, err := w.run("init"); err == nil || !strings.Contains(out, "checksum") {
		t.Errorf("init ended with %v and printed\n%s", err, out)
	}
}

// TestAccUpgrade upgrades to a newer version. The upgrade changes neither the state nor a stream.
func TestAccUpgrade(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, installFrom(newMirror(t, releaseOf(t, "0.1.0"), releaseOf(t, "0.1.1"))), source)
	write(t, w.path("pin.tf"), []byte("terraform {\n  required_providers {\n    stream = {\n"+
		"      source  = \""+source+"\"\n      version = \"0.1.0\"\n    }\n  }\n}\n"))
	if err := os.Remove(w.path("source.tf")); err != nil {
		t.Fatal(err)
	}
	w.mustRun("init")
	w.mustRun("apply", "-auto-approve")
	w.wantVersion("0.1.0")
	before := w.resources()

	write(t, w.path("pin.tf"), bytes.ReplaceAll(read(t, w.path("pin.tf")), []byte(`"0.1.0"`), []byte(`"~> 0.1"`)))
	w.mustRun("init", "-upgrade")
	w.mustRun("plan", "-detailed-exitcode")
	w.mustRun("apply", "-auto-approve")
	if requests := w.service.Requests(); len(requests) != 0 {
		t.Errorf("the upgrade sent %v", requests)
	}
	if diff := cmp.Diff(before, w.resources()); diff != "" {
		t.Errorf("the upgrade changed the state:\n%s", diff)
	}
	w.mustRun("apply", "-auto-approve", "-var=processors=[\"c\"]")
	w.wantVersion("0.1.1")
}

// TestAccMakeInstall runs "make install", then init with a CLI that has no configuration.
func TestAccMakeInstall(t *testing.T) {
	t.Parallel()
	skipWithoutAcc(t)
	if runtime.GOOS == "windows" {
		t.Skip("on Windows, the CLI's plugin folder is a different one")
	}
	w := newWorkspace(t, "", source)
	home := t.TempDir()
	goEnv := exec.CommandContext(t.Context(), "go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPATH")
	out, err := goEnv.Output()
	if err != nil {
		t.Fatal(err)
	}
	var env map[string]string
	if err := json.Unmarshal(out, &env); err != nil {
		t.Fatal(err)
	}
	install := exec.CommandContext(t.Context(), "make", "-C", root, "install",
		"VERSION=0.1.0-3-gabcdef0", "PROVIDER="+filepath.Join(t.TempDir(), "provider"))
	install.Env = append(os.Environ(), "HOME="+home)
	for name, value := range env { // by default, the folders depend on HOME
		install.Env = append(install.Env, name+"="+value)
	}
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("make install: %v\n%s", err, out)
	}
	w.sandbox.Env["HOME"] = home
	delete(w.sandbox.Env, "TF_CLI_CONFIG_FILE")
	w.mustRun("init")
	w.mustRun("apply", "-auto-approve")
	w.wantVersion("0.1.0-3-gabcdef0")
}

// hosts are the default hosts of Terraform and OpenTofu.
var hosts = []string{"registry.terraform.io", "registry.opentofu.org"}

// source is the address of the provider without the host.
var _, source, _ = strings.Cut(provider.Address, "/")

// newMirror returns a filesystem mirror with the archives of these releases.
func newMirror(t *testing.T, releases ...*Release) string {
	t.Helper()
	dir := t.TempDir()
	for _, host := range hosts {
		folder := mirrorFolder(dir, host)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, r := range releases {
			write(t, filepath.Join(folder, filepath.Base(r.Zip(Host()))), read(t, r.Zip(Host())))
		}
	}
	return dir
}

// mirrorFolder returns the folder of the provider in a filesystem mirror. A CLI looks for lower-case names.
func mirrorFolder(dir, host string) string {
	return filepath.Join(dir, host, filepath.FromSlash(strings.ToLower(source)))
}

// installFrom returns the block of the CLI configuration that installs from a filesystem mirror.
func installFrom(dir string) string {
	return fmt.Sprintf("filesystem_mirror {\n    path = %q\n  }", filepath.ToSlash(dir))
}

// workspace is a configuration, a CLI that installs providers from one place only, and a service.
type workspace struct {
	t       *testing.T
	dir     string
	sandbox *cli.Sandbox
	service *streamstest.Service
}

// newWorkspace returns a workspace whose provider has the given source and installation method.
func newWorkspace(t *testing.T, installation, source string) *workspace {
	t.Helper()
	skipWithoutAcc(t)
	program, err := cli.Find()
	if err != nil {
		t.Fatal(err)
	}
	service := streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "cam-1"}, streamstest.Stream{ID: "cam-2"}, streamstest.Stream{ID: "cam-3"})
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	w := &workspace{t: t, dir: t.TempDir(), sandbox: &cli.Sandbox{Program: program, Env: map[string]string{}}, service: service}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		switch prefix, _, _ := strings.Cut(name, "_"); prefix {
		case "TF", "STREAM", "XDG":
		default:
			w.sandbox.Env[name] = value
		}
	}
	w.sandbox.Env["HOME"] = t.TempDir()
	w.sandbox.Env["CHECKPOINT_DISABLE"] = "1"
	w.sandbox.Env["STREAM_BASE_URL"] = server.URL
	w.sandbox.Env["TF_CLI_CONFIG_FILE"] = w.path("cli.tfrc")
	write(t, w.path("cli.tfrc"), []byte("provider_installation {\n  "+installation+"\n}\n"))
	write(t, w.path("source.tf"), fmt.Appendf(nil, "terraform {\n  required_providers {\n    stream = { source = %q }\n  }\n}\n", source))
	write(t, w.path("main.tf"), []byte(`variable "processors" {
  type    = set(string)
  default = ["a", "b"]
}

resource "stream_processors" "camera" {
  stream_id     = "cam-1"
  processor_ids = var.processors
}
`))
	return w
}

func (w *workspace) path(name string) string { return filepath.Join(w.dir, name) }

// run runs the CLI and returns its output on one line.
func (w *workspace) run(args ...string) (string, error) {
	w.t.Helper()
	var out bytes.Buffer
	err := w.sandbox.Run(w.t.Context(), w.dir, &out, append(args, "-no-color", "-input=false")...)
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		w.t.Fatal(err)
	}
	text := strings.NewReplacer("│", "", "╷", "", "╵", "").Replace(out.String())
	return strings.Join(strings.Fields(text), " "), err
}

func (w *workspace) mustRun(args ...string) {
	w.t.Helper()
	if out, err := w.run(args...); err != nil {
		w.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// wantVersion fails the test unless the service has received exactly one update since the last call, from
// this version of the provider.
func (w *workspace) wantVersion(version string) {
	w.t.Helper()
	requests := w.service.Requests()
	w.service.ForgetRequests()
	if len(requests) != 1 || requests[0].Method != "PATCH" {
		w.t.Fatalf("the service received %v, want one update", requests)
	}
	product, _, _ := strings.Cut(requests[0].Header.Get("User-Agent"), " ")
	if product != "terraform-provider-stream/"+version {
		w.t.Errorf("the update came from %s, want version %s", product, version)
	}
}

// resources returns the resources in the state.
func (w *workspace) resources() any {
	w.t.Helper()
	var state struct {
		Resources any `json:"resources"`
	}
	if err := json.Unmarshal(read(w.t, w.path("terraform.tfstate")), &state); err != nil {
		w.t.Fatal(err)
	}
	return state.Resources
}
