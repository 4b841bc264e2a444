package release

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
)

var (
	moduleUse = regexp.MustCompile(`github\.com/([\w.-]+)/terraform-provider-stream\b`)
	sourceUse = regexp.MustCompile(`\bsource\s*=\s*"([^"%]+/stream)"`)
	sourceVar = regexp.MustCompile(`(?m)^SOURCE\s*:?=\s*(\S+)$`)
)

// original is the namespace of this tree before an owner replaces it. The name is in two parts, so that the
// replacement does not change it.
const original = "stream-" + "management"

// namespaceSection is the heading in PUBLISHING.md of the section about the namespace.
const namespaceSection = "2. The namespace"

// TestNamespace compares every use of the namespace with provider.Address: in the module path, the
// configurations that users copy, and the Makefile. After the replacement, no file may contain the original
// namespace.
func TestNamespace(t *testing.T) {
	t.Parallel()
	_, source, _ := strings.Cut(provider.Address, "/")
	namespace, _, _ := strings.Cut(source, "/")

	uses := map[string]int{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			switch entry.Name() {
			case ".git", ".terraform", "bin", "dist":
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, rule := range []struct {
			use  *regexp.Regexp
			want string
		}{{moduleUse, namespace}, {sourceUse, source}, {sourceVar, source}} {
			for _, found := range rule.use.FindAllStringSubmatch(string(content), -1) {
				uses[filepath.ToSlash(path)]++
				if found[1] != rule.want {
					t.Errorf("%s: %q must have %q, as in provider.Address", path, found[0], rule.want)
				}
			}
		}
		if namespace != original && strings.Contains(string(content), original) {
			t.Errorf("%s still has the namespace %s", path, original)
		}
		if text := string(content); strings.Contains(text, "is a "+"placeholder") && strings.Contains(text, namespace) {
			t.Errorf("%s calls something a placeholder, which the replacement may make false", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"go.mod", "Makefile", "README.md", "docs/index.md", "examples/provider/provider.tf"} {
		if uses["../../"+path] == 0 {
			t.Errorf("%s does not contain the namespace", path)
		}
	}
}

// TestAccReplaceNamespace runs the commands of PUBLISHING.md that replace the namespace in a copy of this tree.
// The last of these commands runs the tests of this package, here with the acceptance tests.
func TestAccReplaceNamespace(t *testing.T) {
	t.Parallel()
	skipWithoutAcc(t)
	if strings.Split(provider.Address, "/")[1] != original {
		t.Skip("the namespace has been replaced")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the commands need a Unix shell")
	}
	dir := t.TempDir()
	copyTree(t, dir)
	mustGit(t, dir, "init", "--quiet")
	commit(t, dir)
	commands := strings.ReplaceAll(documentedCommands(t, namespaceSection), "NAMESPACE", "Acme-Corp")
	if runtime.GOOS == "darwin" {
		commands = strings.ReplaceAll(commands, "sed -i ", "sed -i '' ")
	}
	if out, err := runShell(t, dir, commands, "REHEARSAL_GORELEASER="); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if left, err := git(t.Context(), dir, "grep", "-l", original); err == nil {
		t.Errorf("the namespace %s is left in\n%s", original, left)
	}
}
