package examples

import (
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

// block is a shell block of a page.
type block struct {
	begins string   // the first words, to recognize the block
	folder string   // run in a copy of this example, or of the repository for ".."; "" is the copy of the block before
	want   []string // parts of the output
	notRun string   // the reason why the block is not run
}

const runsInTest = "the service runs in the test; internal/cmd/standin has tests of the program"

// shellBlocks lists the shell blocks of every page in their order.
var shellBlocks = map[string][]block{
	"README.md": {
		{
			begins: "make install", folder: "..",
			want: []string{"Installing " + strings.ToLower(cli.Source) + " v0.1.0", "1 to add, 0 to change, 0 to destroy"},
		},
		{begins: "go run ./internal/cmd/standin", notRun: runsInTest},
	},
	"actions/set_processors.md": {
		{begins: "terraform apply", folder: "actions/stream_set_processors"},
	},
	"guides/existing-streams.md": {
		{
			begins: "terraform init\nterraform apply", folder: "existing-streams/attached",
			want: []string{"0 added, 0 changed, 0 destroyed"},
		},
		{begins: "terraform plan -out", folder: "existing-streams/create", want: []string{"3 added, 0 changed, 0 destroyed"}},
	},
	"guides/installing.md": {
		{begins: "# Run this in a clone", notRun: "TestAccPageMirror runs it"},
		{begins: "terraform providers mirror", notRun: "needs a registry that has the provider"},
		{begins: "terraform providers lock", folder: "provider", want: []string{"Obtained " + strings.ToLower(cli.Source) + " checksums"}},
		{begins: "terraform state pull", folder: "provider", notRun: "needs two versions"},
		{begins: "terraform state replace-provider", notRun: "needs two addresses"},
	},
	"guides/large-fleets.md": {
		{begins: "terraform apply -parallelism", folder: "provider", want: []string{"1 added"}},
	},
	"guides/testing-modules.md": {
		{begins: "terraform init", folder: "terraform-test", want: []string{"2 passed, 0 failed."}},
		{begins: "go run ./internal/cmd/standin", notRun: runsInTest},
		{begins: "export STREAM_BASE_URL", want: []string{"3 passed, 0 failed."}},
	},
	"guides/troubleshooting.md": {
		{begins: "TF_LOG_PROVIDER=DEBUG", folder: "provider", want: []string{"1 added", "/v2/streams/cam-1"}},
	},
	"resources/processors_group.md": {
		{begins: "# The id is a list", folder: "resources/stream_processors_group", want: []string{"Import successful!"}},
	},
	"resources/processors.md": {
		{begins: "# cam-1 is the id", folder: "resources/stream_processors", want: []string{"Import successful!"}},
	},
}

var shellBlock = regexp.MustCompile("(?ms)^ *```(?:shell|sh|bash|console)\n(.*?)^ *```")

// TestAccShellBlocks runs the shell blocks of each page in their order, as somebody does who copies them.
func TestAccShellBlocks(t *testing.T) {
	t.Parallel()
	clitest.SkipUnlessAcc(t)
	for page, text := range pages(t) {
		shown, blocks := shellBlock.FindAllStringSubmatch(text, -1), shellBlocks[page]
		if len(shown) != len(blocks) {
			t.Errorf("%s has %d shell blocks, but shellBlocks has %d", page, len(shown), len(blocks))
			continue
		}
		if len(blocks) == 0 {
			continue
		}
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			_, url := startService(t, streamstest.Options{ServeGet: true})
			var w *clitest.Workspace
			for i, b := range blocks {
				switch {
				case !strings.HasPrefix(shown[i][1], b.begins):
					t.Fatalf("block %d does not begin with %q:\n%s", i+1, b.begins, shown[i][1])
				case b.notRun != "":
					continue
				case b.folder == "..":
					w = newSourceTree(t)
				case b.folder != "":
					w = newWorkspace(t, b.folder, url)
				}
				w.Setenv("STREAM_BASE_URL=" + url)
				out, err := shell(t, w, strings.ReplaceAll(shown[i][1], "http://127.0.0.1:8420", url))
				if err != nil {
					t.Fatalf("%v\n%s\n%s", err, shown[i][1], out)
				}
				streamstest.WantText(t, cli.Unwrap(out), b.want...)
			}
		})
	}
}

// newSourceTree copies what a build needs. The home has neither plugins nor a CLI configuration, but the caches of Go are
// those of the person who runs the test.
func newSourceTree(t *testing.T) *clitest.Workspace {
	t.Helper()
	w := newWorkspace(t, "", "")
	for _, name := range []string{"Makefile", "go.mod", "go.sum", "main.go"} {
		w.Write(name, read(t, filepath.Join("..", name)))
	}
	for _, name := range []string{"examples", "internal"} {
		if err := os.CopyFS(filepath.Join(w.Dir, name), os.DirFS(filepath.Join("..", name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOFLAGS", "GOTOOLCHAIN"} {
		value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		w.Env[name] = strings.TrimSpace(string(value))
	}
	w.Setenv("HOME=" + t.TempDir())
	delete(w.Env, "TF_CLI_CONFIG_FILE")
	return w
}

// shell runs a block, except that the folders of mirrors exist only in the test, and nobody is asked to approve an apply.
func shell(t *testing.T, w *clitest.Workspace, text string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	program, err := filepath.Abs(w.Program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(bin, "terraform")); err != nil {
		t.Fatal(err)
	}
	// The test has a mirror for one platform only.
	platform := "-platform=" + runtime.GOOS + "_" + runtime.GOARCH
	text = strings.NewReplacer("/srv/terraform/providers", w.Mirror,
		"-platform=linux_amd64 -platform=darwin_arm64 -platform=windows_amd64", platform,
		"linux_amd64 darwin_arm64 windows_amd64", runtime.GOOS+"_"+runtime.GOARCH).Replace(text)
	shell := exec.CommandContext(t.Context(), "sh", "-euc", text)
	shell.Dir = w.Dir
	for name, value := range w.Env {
		if name == "PATH" {
			value = bin + string(os.PathListSeparator) + value
		}
		shell.Env = append(shell.Env, name+"="+value)
	}
	shell.Env = append(shell.Env, "TF_CLI_ARGS_apply=-auto-approve")
	out, err := shell.CombinedOutput()
	return string(out), err
}
