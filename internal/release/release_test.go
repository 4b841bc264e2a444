// Package release has tests of what a release needs: its files, its source, and the states of older versions.
package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// root is the folder of the module.
var root = filepath.Join("..", "..")

func TestMain(m *testing.M) { os.Exit(clitest.RunTests(m)) }

// newWorkspace makes a root module with a configuration that uses the provider, and starts a service with the streams
// cam-1 to cam-11.
func newWorkspace(t *testing.T) (*clitest.Workspace, *streamstest.Service) {
	t.Helper()
	w := clitest.New(t)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1", "cam-2", "cam-3", "cam-4", "cam-5",
		"cam-6", "cam-7", "cam-8", "cam-9", "cam-10", "cam-11")...)
	w.Setenv("STREAM_BASE_URL=" + url)
	w.Write("source.tf", clitest.RequireProvider)
	return w, service
}

// shell runs a command in a folder and returns all that it writes.
func shell(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// git runs git in a folder, as somebody who needs no configuration.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	config := []string{"-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"}
	out, err := shell(t, dir, nil, "git", append(config, args...)...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}
