// Package release has tests of what a release needs: its files, its source, and the states of older versions.
package release

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// root is the folder of the module.
var root = filepath.Join("..", "..")

func TestMain(m *testing.M) { os.Exit(cli.RunTests(m)) }

// workspace is a folder with a configuration, a CLI, and a service with the streams cam-1 to cam-11.
type workspace struct {
	dir     string
	sandbox *cli.Sandbox
	service *streamstest.Service
}

func newWorkspace(t *testing.T) *workspace {
	t.Helper()
	program, provider := cli.ForTest(t)
	sandbox, err := cli.NewSandbox(t.TempDir(), program, provider)
	if err != nil {
		t.Fatal(err)
	}
	service, url := streamstest.Start(t, streamstest.Options{},
		streamstest.Streams("cam-1", "cam-2", "cam-3", "cam-4", "cam-5", "cam-6", "cam-7", "cam-8", "cam-9", "cam-10", "cam-11")...)
	sandbox.Env["STREAM_BASE_URL"] = url
	w := &workspace{dir: t.TempDir(), sandbox: sandbox, service: service}
	write(t, w.path("source.tf"), "terraform {\n  required_providers {\n    stream = { source = \""+cli.Source+"\" }\n  }\n}\n")
	return w
}

func (w *workspace) path(name string) string { return filepath.Join(w.dir, name) }

// run runs the CLI and returns its output on one line.
func (w *workspace) run(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := w.sandbox.Run(t.Context(), w.dir, &out, append(args, "-no-color", "-input=false")...); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	return cli.Unwrap(out.String())
}

// shell runs a command in a folder and returns all that it writes.
func shell(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// git runs git in a folder, as somebody who needs no configuration.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := shell(t.Context(), dir, nil, "git", append([]string{
		"-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false",
	}, args...)...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
