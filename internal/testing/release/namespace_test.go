package release

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
)

// original is the namespace of this tree before an owner replaces it. The name is in two parts, so that the
// replacement does not change it.
const original = "stream-" + "management"

// TestNamespace compares every use of the namespace with provider.Address: in the module path, the configurations that
// users copy, and the Makefile. After the replacement, no file may contain the original namespace.
func TestNamespace(t *testing.T) {
	t.Parallel()
	_, source, _ := strings.Cut(provider.Address, "/")
	namespace, _, _ := strings.Cut(source, "/")
	uses := map[string]int{}
	for _, path := range files(t) {
		content := clitest.ReadFile(t, filepath.Join(root, path))
		for use, want := range map[string]string{
			`github\.com/([\w.-]+)/terraform-provider-stream\b`:                 namespace,
			`\b[Ss]ource\s*=\s*"(?:registry\.terraform\.io/)?([^"%/]+/stream)"`: source,
			`(?m)^SOURCE\s*:?=\s*(\S+)$`:                                        source,
		} {
			for _, found := range regexp.MustCompile(use).FindAllStringSubmatch(content, -1) {
				uses[path]++
				if found[1] != want {
					t.Errorf("%s: %q must have %q, as in provider.Address", path, found[0], want)
				}
			}
		}
		if namespace != original && strings.Contains(content, original) {
			t.Errorf("%s still has the namespace %s", path, original)
		}
	}
	for _, path := range []string{"go.mod", "Makefile", "README.md", "docs/index.md", "examples/provider/provider.tf"} {
		if uses[path] == 0 {
			t.Errorf("%s does not contain the namespace", path)
		}
	}
}

// TestAccReplaceNamespace runs the commands of PUBLISHING.md that replace the namespace in a copy of this tree, and then
// the tests that depend on its spelling.
func TestAccReplaceNamespace(t *testing.T) {
	t.Parallel()
	if os.Getenv("TF_ACC") == "" || !strings.Contains(provider.Address, original) || runtime.GOOS == "windows" {
		t.Skip("needs TF_ACC=1, the original namespace and a Unix shell")
	}
	dir := t.TempDir()
	for _, path := range files(t) {
		clitest.WriteFile(t, filepath.Join(dir, path), clitest.ReadFile(t, filepath.Join(root, path)))
	}
	git(t, dir, "init", "--quiet")
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--message", "Test")
	publishing := clitest.ReadFile(t, filepath.Join(root, ".github", "PUBLISHING.md"))
	commands := regexp.MustCompile("(?s)## 2[^#]*```shell\n(.*?)```").FindStringSubmatch(publishing)
	if commands == nil {
		t.Fatal("PUBLISHING.md has no commands in section 2")
	}
	script := "set -eux\n" + strings.ReplaceAll(commands[1], "NAMESPACE", "Acme-Corp")
	if runtime.GOOS == "darwin" {
		script = strings.ReplaceAll(script, "sed -i ", "sed -i '' ")
	}
	script += "TF_ACC=1 go test -vet=off ./internal/testing/examples -timeout=30m -count=1 -run " +
		"'^(TestAccMakeDev|TestAccPageMirror|TestAccShellBlocks)$/^(README|guides)/^installing'\n"
	// As in a release, so that the cache of Go has what is the same in each copy.
	if out, err := shell(t, dir, []string{"TF_ACC=", "CGO_ENABLED=0", "GOFLAGS=-trimpath"}, "bash", "-c", script); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// files returns the paths of all files of this tree, with those that are not committed yet.
func files(t *testing.T) []string {
	t.Helper()
	var paths []string
	for path := range strings.SplitSeq(git(t, root, "ls-files", "--cached", "--others", "--exclude-standard"), "\n") {
		if _, err := os.Stat(filepath.Join(root, path)); err == nil { // not deleted
			paths = append(paths, path)
		}
	}
	return paths
}
