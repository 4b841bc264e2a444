package examples

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentsShowExamples checks that every configuration in the README and in the generated pages is one
// of the tested examples.
func TestDocumentsShowExamples(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	walk(t, ".", func(path string) {
		switch filepath.Ext(path) {
		case ".tf", ".hcl":
			tested[strings.TrimSpace(read(t, path))] = true
		}
	})

	documents := []string{filepath.Join("..", "README.md")}
	walk(t, filepath.Join("..", "docs"), func(path string) { documents = append(documents, path) })
	shown := 0
	for _, document := range documents {
		for _, block := range terraformBlock.FindAllStringSubmatch(read(t, document), -1) {
			shown++
			if !tested[strings.TrimSpace(block[1])] {
				t.Errorf("%s has a configuration that is not an example:\n%s", document, block[1])
			}
		}
	}
	if shown == 0 {
		t.Error("no document has a configuration")
	}
}

var terraformBlock = regexp.MustCompile("(?s)```(?:terraform|hcl)\r?\n(.*?)```")

func walk(t *testing.T, root string, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			visit(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(content), "\r\n", "\n")
}

// TestTroubleshootingIsComplete checks that the guide has a section for each summary of a diagnostic, and no
// others. Summaries about one stream are found by their fixed words.
func TestTroubleshootingIsComplete(t *testing.T) {
	t.Parallel()
	guide := read(t, filepath.Join("..", "docs", "guides", "troubleshooting.md"))
	summaries := map[string]bool{}
	for _, pattern := range []string{"../internal/provider/*.go", "../internal/streams/*.go"} {
		files, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, found := range summary.FindAllStringSubmatch(read(t, file), -1) {
				summaries[found[1]] = true
			}
		}
	}
	for _, expected := range []string{"Bad Gateway Error", "Redirect Refused", "Invalid Provider Configuration", "Stream Is Gone"} {
		if !summaries[expected] {
			t.Errorf("the regular expression does not find the summary %q", expected)
		}
	}
	for s := range summaries {
		if !strings.Contains(guide, "### "+s+"\n") {
			t.Errorf("the guide has no section %q", s)
		}
	}
	about, _, _ := strings.Cut(guide, "\n## Looking Closer\n")
	for _, section := range section.FindAllStringSubmatch(about, -1) {
		if !summaries[section[1]] {
			t.Errorf("the guide has a section %q, which is no summary of a diagnostic", section[1])
		}
	}
}

// section matches the heading of a section about one diagnostic.
var section = regexp.MustCompile(`(?m)^### (.*)$`)

// summary matches the summaries of diagnostics, in function calls and in constants.
var summary = regexp.MustCompile(`(?:(?:Error|Warning|Diagnostic)\((?:path\.Root\("[a-z_]+"\), )?[^"\n]*|Kind = |invalidConfiguration = )"([A-Z][A-Za-z ]+)"`)

// TestLinks checks that every relative link in a document has a target. In the generated pages, links have no
// file extension, as registries require.
func TestLinks(t *testing.T) {
	t.Parallel()
	documents := map[string]string{}
	for _, name := range []string{"README.md", "CHANGELOG.md", "DESIGN.md", ".github/CONTRIBUTING.md"} {
		documents[filepath.Join("..", name)] = ""
	}
	walk(t, filepath.Join("..", "docs"), func(path string) { documents[path] = ".md" })
	for document, extension := range documents {
		for _, link := range relativeLink.FindAllStringSubmatch(read(t, document), -1) {
			target := filepath.Join(filepath.Dir(document), filepath.FromSlash(link[1])) + extension
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", document, err)
			}
		}
	}
}

var relativeLink = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
