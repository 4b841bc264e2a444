// Package release has tests of what a release needs: its files, its source, and the states of older versions.
package release

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// root is the folder of the module.
var root = filepath.Join("..", "..", "..")

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

// shell runs a command in a folder and returns all that it writes. gpg makes its folder wherever it runs, so it gets
// one of the test.
func shell(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GNUPGHOME="+t.TempDir()), env...)
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

// TestAccMirror copies the archive that goreleaser has built for this platform into a filesystem mirror, as the guide on
// installing says, and installs it. "make snapshot" names the folder with the archives in RELEASE_DIST.
func TestAccMirror(t *testing.T) {
	t.Parallel()
	dist := os.Getenv("RELEASE_DIST")
	if dist == "" {
		t.Skip("make snapshot runs this test")
	}
	platform := runtime.GOOS + "_" + runtime.GOARCH
	archives, err := filepath.Glob(filepath.Join(root, dist, "terraform-provider-stream_*_"+platform+".zip"))
	if err != nil || len(archives) != 1 {
		t.Fatalf("%s has the archives %v, want one for this platform: %v", dist, archives, err)
	}
	w, service := newWorkspace(t)
	if err := os.RemoveAll(w.Mirror); err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(archives[0])
	for _, host := range cli.Hosts {
		clitest.WriteFile(t, filepath.Join(w.Mirror, host, strings.ToLower(cli.Source), name), clitest.ReadFile(t, archives[0]))
	}
	version := strings.TrimSuffix(strings.TrimPrefix(name, "terraform-provider-stream_"), "_"+platform+".zip")
	w.Edit("source.tf", cli.Source+`"`, fmt.Sprintf("%s\", version = %q", cli.Source, version))
	w.Configure("resource \"stream_processors\" \"camera\" {\n  stream_id     = \"cam-1\"\n  processor_ids = [\"a\"]\n}\n")
	w.MustRun("init")
	w.MustApply()
	requests := service.Requests()
	if len(requests) != 1 || !strings.HasPrefix(requests[0].Header.Get("User-Agent"), "terraform-provider-stream/"+version) {
		t.Errorf("the service received %v, want one update from version %s", requests, version)
	}
}

// TestAccNotices checks that the notices of a release have a section with a licence for Go and for each module in the
// program.
func TestAccNotices(t *testing.T) {
	t.Parallel()
	_, program := clitest.Programs(t)
	info, err := buildinfo.ReadFile(program)
	if err != nil || len(info.Deps) == 0 {
		t.Fatalf("the program has %d modules: %v", len(info.Deps), err)
	}
	notices, err := shell(t, root, []string{"GOFLAGS=-mod=readonly", "GOPROXY=off"}, "go", "run", "./internal/cmd/notices")
	if err != nil {
		t.Fatalf("%v\n%s", err, notices)
	}
	want := []string{info.GoVersion}
	for _, module := range info.Deps {
		want = append(want, module.Path+" "+module.Version)
	}
	line := strings.Repeat("=", 80) + "\n"
	for _, module := range want {
		_, section, _ := strings.Cut(notices, line+module+"\n")
		text, _, _ := strings.Cut(section, line)
		if !regexp.MustCompile(`(?i)copyright|licen[sc]e`).MatchString(text) {
			t.Errorf("the notices lack %s", module)
		}
	}
}
