package release

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
)

var (
	moduleUse = regexp.MustCompile(`github\.com/([\w.-]+)/terraform-provider-stream\b`)
	sourceUse = regexp.MustCompile(`\bsource\s*=\s*"([^"%]+/stream)"`)
	sourceVar = regexp.MustCompile(`(?m)^SOURCE\s*:?=\s*(\S+)$`)
)

// TestNamespace compares every use of the namespace with provider.Address: in the module path, the
// configurations that users copy, and the Makefile. After the placeholder has been replaced, no file may
// contain it.
func TestNamespace(t *testing.T) {
	t.Parallel()
	_, source, _ := strings.Cut(provider.Address, "/")
	namespace, _, _ := strings.Cut(source, "/")
	const placeholder = "stream-" + "management" // in two parts, so that a replacement does not change it

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
		if namespace != placeholder && strings.Contains(string(content), placeholder) {
			t.Errorf("%s still has the placeholder %s", path, placeholder)
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
