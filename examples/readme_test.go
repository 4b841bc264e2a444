package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
)

// readmeCommands lists what a reader of the README runs: the shell blocks by their first words, and the make targets of
// its table. The others say why the test does not run them.
var readmeCommands = map[string]string{
	"terraform init\n":         "",
	"go run":                   "",
	"make install":             "",
	"terraform providers lock": "not run: needs a registry that has the provider",
	"make demo":                "",
	"make test":                "not run: it runs this test",
}

// TestReadmeCommands checks that readmeCommands is complete.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	readme := read(t, filepath.Join("..", "README.md"))
	var commands []string
	for _, shown := range shellBlock.FindAllStringSubmatch(readme, -1) {
		commands = append(commands, shown[1])
	}
	for _, target := range makeTarget.FindAllStringSubmatch(readme, -1) {
		commands = append(commands, target[1])
	}
	seen := map[string]bool{}
	for _, command := range commands {
		known := false
		for begins := range readmeCommands {
			if strings.HasPrefix(command, begins) {
				known, seen[begins] = true, true
			}
		}
		if !known {
			t.Errorf("readmeCommands does not have %q", command)
		}
	}
	for begins := range readmeCommands {
		if !seen[begins] {
			t.Errorf("the README does not have %q any more", begins)
		}
	}
}

var makeTarget = regexp.MustCompile("`(make [a-z-]+)`")

// TestAccReadme follows the README in a fresh clone with an empty home.
func TestAccReadme(t *testing.T) {
	t.Parallel()
	program, _ := cli.ForTest(t)
	reader := newReader(t, program)

	out := reader.run("make demo", reader.clone)
	wantText(t, out, "The service received no request.", "The service received:", "PATCH /v2/streams/gate",
		"has unknown processors", "STREAM_DETECT_DRIFT=true", "Error: Conflicting Processor Sets", "Destroy complete!", "The demo succeeded.")

	// "It prints an export STREAM_BASE_URL=… line and the streams that it holds."
	service := reader.startStandIn()
	wantText(t, service.banner, "  cam-1\n", "  cam-2\n", "  cam-3\n")
	wantText(t, reader.run("go run ./internal/cmd/standin -help", reader.clone), "-latency", "-token", "-known", "-stream")

	// The second terminal: the block changes its folder to examples/provider.
	install := strings.Replace(reader.block("make install"), "http://127.0.0.1:…", service.baseURL, 1)
	wantText(t, reader.run(install, reader.clone), "Apply complete! Resources: 1 added")
	installed, _ := filepath.Glob(filepath.Join(reader.home, ".terraform.d", "plugins", "*", filepath.FromSlash(cli.Source), "*", runtime.GOOS+"_"+runtime.GOARCH, "*"))
	if len(installed) != 2 {
		t.Errorf("installed: %q, want the provider for both registries", installed)
	}

	// "Each request appears in the first terminal."
	const request = `PATCH /v2/streams/cam-1 {"processor_ids":["object-detection","people-counter"]} → 200`
	if line := strings.TrimSpace(<-service.lines); line != request {
		t.Errorf("the first terminal has %q, want %q", line, request)
	}

	// The configuration at the top, in a repository of the reader's own.
	dir := t.TempDir()
	configuration := terraformBlock.FindStringSubmatch(read(t, filepath.Join(reader.clone, "README.md")))[1]
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	out = reader.run("export STREAM_BASE_URL="+service.baseURL+"\n"+reader.block("terraform init\n"), dir)
	wantText(t, out, "Installing stream-management/stream v0.1.0", "Apply complete! Resources: 1 added")
	if line := strings.TrimSpace(<-service.lines); line != request {
		t.Errorf("the first terminal has %q, want %q", line, request)
	}
}

// reader is somebody who follows the README.
type reader struct {
	t           *testing.T
	clone, home string
	env         []string
	command     string // terraform or tofu
}

// newReader clones the last commit. Go's caches and its download of modules are those of the person who runs the test:
// with empty ones, the test would compile for minutes.
func newReader(t *testing.T, program string) *reader {
	t.Helper()
	r := &reader{t: t, clone: filepath.Join(t.TempDir(), "clone"), home: t.TempDir(), command: "terraform"}
	if _, err := os.Stat(filepath.Join("..", ".git")); err != nil {
		t.Skip("not a git repository")
	}
	clone := exec.CommandContext(t.Context(), "git", "clone", "--quiet", "--no-hardlinks", "..", r.clone)
	if out, err := clone.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if cli.IsTofu(program) {
		r.command = "tofu"
	}
	bin := t.TempDir()
	program, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(bin, r.command)); err != nil {
		t.Fatal(err)
	}
	for name, value := range newSandbox(t).Env {
		switch name {
		case "HOME", "TF_CLI_CONFIG_FILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME":
			continue
		case "PATH":
			value = bin + string(os.PathListSeparator) + value
		}
		r.env = append(r.env, name+"="+value)
	}
	r.env = append(r.env, "HOME="+r.home)
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOFLAGS", "GOTOOLCHAIN"} {
		value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		r.env = append(r.env, name+"="+strings.TrimSpace(string(value)))
	}
	return r
}

// block returns the shell block of the README that begins with these words.
func (r *reader) block(begins string) string {
	r.t.Helper()
	for _, shown := range shellBlock.FindAllStringSubmatch(read(r.t, filepath.Join(r.clone, "README.md")), -1) {
		if strings.HasPrefix(shown[1], begins) {
			return shown[1]
		}
	}
	r.t.Fatalf("the README has no block that begins with %q", begins)
	return ""
}

// run runs a block in a folder, and replies yes to each question.
func (r *reader) run(block, dir string) string {
	r.t.Helper()
	block = regexp.MustCompile(`(?m)^terraform `).ReplaceAllString(block, r.command+" ")
	shell := exec.CommandContext(r.t.Context(), "sh", "-euc", block)
	shell.Dir, shell.Env = dir, r.env
	shell.Stdin = strings.NewReader("yes\n")
	out, err := shell.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%v\n%s\n%s", err, block, out)
	}
	return escapes.ReplaceAllString(string(out), "")
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// startStandIn runs the command of the README for the first terminal.
func (r *reader) startStandIn() *standInService {
	r.t.Helper()
	return startStandIn(r.t, r.clone, r.block("go run"))
}
