package examples

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// block is a shell block of a page, in the order of the page.
type block struct {
	begins string   // the first words, to recognize the block
	folder string   // run in a copy of this example, which is new if the folder differs from that of the last block
	setup  []string // commands before the block
	fails  bool
	want   []string // parts of the output

	notRun string // the reason why the block is not run
}

// shellBlocks lists every shell block of every page.
var shellBlocks = map[string][]block{
	"actions/set_processors": {
		{begins: "terraform apply -invoke", folder: "actions/stream_set_processors"},
	},
	"guides/authentication": {
		{begins: "export HTTPS_PROXY", folder: "provider"},
	},
	"guides/existing-streams": {
		{begins: "terraform plan -out", folder: "existing-streams/create", want: []string{"3 added, 0 changed, 0 destroyed"}},
	},
	"guides/installing": {
		{begins: "terraform providers mirror", notRun: "needs a registry that has the provider"},
		{begins: "terraform providers lock", folder: "provider", want: []string{"checksums for darwin_arm64", "checksums for linux_amd64"}},
	},
	"guides/large-fleets": {
		{begins: "terraform apply -parallelism", folder: "provider", want: []string{"1 added"}},
		{begins: "terraform plan -refresh=false", folder: "provider", want: []string{"No changes."}},
	},
	"guides/pipelines": {
		{begins: "terraform plan -out", folder: "provider", want: []string{"1 added, 0 changed, 0 destroyed"}},
	},
	"guides/recipes": {
		{begins: "terraform apply -invoke", folder: "recipes/maintenance", setup: []string{"terraform apply"}},
	},
	"guides/several-teams": {
		{begins: "terraform init", folder: "several-teams", want: []string{"2 passed, 0 failed."}},
	},
	"guides/testing-modules": {
		{begins: "terraform init", folder: "terraform-test", want: []string{"2 passed, 0 failed."}},
		{begins: standIn},
		{begins: "export STREAM_BASE_URL", folder: "terraform-test", want: []string{"4 passed, 0 failed."}},
		{begins: standIn},
		{
			begins: "export STREAM_BASE_URL", folder: "provider",
			want: []string{`Processors Will Be Detached: stream "cam-1"`, `["face-blur"]`, "1 added"},
		},
		{begins: "curl", folder: "provider", want: []string{"No changes.", "0 to add, 1 to change, 0 to destroy."}},
		{
			begins: "sed", folder: "provider", setup: []string{"terraform apply"}, fails: true,
			want: []string{"The service said: processor_ids has unknown processors", "The stream was not changed."},
		},
	},
	"guides/troubleshooting": {
		{begins: "TF_LOG_PROVIDER=DEBUG", folder: "provider", want: []string{"1 added"}},
	},
	"guides/upgrading": {
		{begins: "terraform init -upgrade", folder: "provider", setup: []string{"terraform apply"}, want: []string{"No changes."}},
	},
	"resources/processors": {
		{begins: "# cam-1 is the id", folder: "resources/stream_processors", want: []string{"Import successful!"}},
	},
}

// standIn begins a block that runs the stand-in service. Later blocks of the page use it.
const standIn = "go run ./internal/cmd/standin"

var shellBlock = regexp.MustCompile("(?ms)^ *```(?:shell|sh|bash|console)\r?\n(.*?)^ *```")

// TestShellBlocksAreListed checks that shellBlocks has every shell block, in the order of the page.
func TestShellBlocksAreListed(t *testing.T) {
	t.Parallel()
	docs := filepath.Join("..", "docs")
	found := map[string]bool{}
	walk(t, docs, func(path string) {
		name, _ := filepath.Rel(docs, strings.TrimSuffix(path, ".md"))
		page := filepath.ToSlash(name)
		shown := shellBlock.FindAllStringSubmatch(read(t, path), -1)
		if len(shown) == 0 {
			return
		}
		found[page] = true
		if len(shown) != len(shellBlocks[page]) {
			t.Errorf("%s has %d shell blocks, but shellBlocks has %d", page, len(shown), len(shellBlocks[page]))
			return
		}
		for i, b := range shellBlocks[page] {
			if !strings.HasPrefix(shown[i][1], b.begins) {
				t.Errorf("%s: block %d does not begin with %q:\n%s", page, i+1, b.begins, shown[i][1])
			}
		}
	})
	for page := range shellBlocks {
		if !found[page] {
			t.Errorf("%s has no shell block any more", page)
		}
	}
}

// TestAccShellBlocks runs the shell blocks of each page in their order.
func TestAccShellBlocks(t *testing.T) {
	t.Parallel()
	for page, blocks := range shellBlocks {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			service, sandbox := startService(t)
			service.Configure(func(o *streamstest.Options) { o.ServeGet = true })
			shown := shellBlock.FindAllStringSubmatch(read(t, filepath.Join("..", "docs", filepath.FromSlash(page)+".md")), -1)
			if len(shown) != len(blocks) {
				t.Fatalf("the page has %d shell blocks, but shellBlocks has %d", len(shown), len(blocks))
			}
			folder, dir := "", ""
			for i, b := range blocks {
				switch {
				case b.notRun != "":
					continue
				case b.begins == standIn:
					sandbox.Env["STREAM_BASE_URL"] = startStandIn(t, "..", shown[i][1]).baseURL
					continue
				case b.folder != folder:
					folder, dir = b.folder, initialized(t, sandbox, b.folder, "")
				}
				for _, command := range b.setup {
					runShell(t, sandbox, dir, command, false)
				}
				out := runShell(t, sandbox, dir, shown[i][1], b.fails)
				wantText(t, cli.Unwrap(out), b.want...)
			}
		})
	}
}

// runShell runs a block as somebody would who copies it, except that addresses and folders exist only in the test, and
// nobody is asked to approve an apply.
func runShell(t *testing.T, sandbox *cli.Sandbox, dir, text string, fails bool) string {
	t.Helper()
	bin := t.TempDir()
	program, err := filepath.Abs(sandbox.Program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(bin, "terraform")); err != nil {
		t.Fatal(err)
	}
	const mirror = "/srv/terraform/providers"
	if strings.Contains(text, mirror) {
		text = strings.ReplaceAll(text, mirror, mirrorForPlatforms(t, sandbox, "linux_amd64", "darwin_arm64"))
	}
	text = strings.ReplaceAll(text, "http://127.0.0.1:…", sandbox.Env["STREAM_BASE_URL"])

	shell := exec.CommandContext(t.Context(), "sh", "-euc", text)
	shell.Dir = dir
	for name, value := range sandbox.Env {
		if name == "PATH" {
			value = bin + string(os.PathListSeparator) + value
		}
		shell.Env = append(shell.Env, name+"="+value)
	}
	shell.Env = append(shell.Env, "TF_INPUT=0", "TF_CLI_ARGS_apply=-auto-approve", "TF_CLI_ARGS=-no-color")
	out, err := shell.CombinedOutput()
	if (err != nil) != fails {
		t.Fatalf("error %v\n%s\n%s", err, text, out)
	}
	return string(out)
}

// mirrorForPlatforms returns a mirror that has the provider for these platforms. The programs are those of this
// platform: the CLI only computes their checksums.
func mirrorForPlatforms(t *testing.T, sandbox *cli.Sandbox, platforms ...string) string {
	t.Helper()
	mirror := t.TempDir()
	versions, err := filepath.Glob(filepath.Join(sandbox.Mirror, "*", filepath.FromSlash(cli.Source), cli.Version, "*"))
	if err != nil || len(versions) == 0 {
		t.Fatalf("no provider in %s: %v", sandbox.Mirror, err)
	}
	for _, dir := range versions {
		version, err := filepath.Rel(sandbox.Mirror, filepath.Dir(dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, platform := range platforms {
			if err := os.CopyFS(filepath.Join(mirror, version, platform), os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return mirror
}

// standInService is a stand-in service in a process of its own.
type standInService struct {
	baseURL string
	banner  string        // printed before the first request
	lines   <-chan string // the requests
}

// startStandIn runs the stand-in service of a source tree with the arguments of a block until the test ends. It does not
// use go run, which would leave the service behind when it is killed.
func startStandIn(t *testing.T, tree, text string) *standInService {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "standin")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./internal/cmd/standin")
	build.Dir = tree
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	args := strings.Fields(strings.TrimPrefix(strings.TrimSpace(text), standIn))
	ctx, cancel := context.WithCancel(context.Background())
	process := exec.CommandContext(ctx, binary, args...)
	stdout, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = process.Wait() // killed
	})
	lines := make(chan string, 1000) // more requests than a test makes: the service must not wait for a reader
	service := &standInService{lines: lines}
	for out := bufio.NewScanner(stdout); out.Scan(); {
		service.banner += out.Text() + "\n"
		if _, address, ok := strings.Cut(out.Text(), "export STREAM_BASE_URL="); ok {
			service.baseURL = address
		}
		if out.Text() == "Requests:" {
			go func() {
				defer close(lines)
				for out.Scan() {
					lines <- out.Text()
				}
			}()
			return service
		}
	}
	t.Fatalf("%s: ended without listening:\n%s", text, service.banner)
	return nil
}
