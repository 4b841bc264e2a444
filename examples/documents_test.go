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

// TestTroubleshootingIsComplete checks that the guide has a section for each summary of a diagnostic.
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
	for _, expected := range []string{"Bad Gateway Error", "Invalid Provider Configuration", "Stream Is Gone"} {
		if !summaries[expected] {
			t.Errorf("the regular expression does not find the summary %q", expected)
		}
	}
	for s := range summaries {
		if !strings.Contains(guide, "### "+s+"\n") {
			t.Errorf("the guide has no section %q", s)
		}
	}
}

// summary matches the summaries of diagnostics, in function calls and in constants.
var summary = regexp.MustCompile(`(?:(?:Error|Warning|Diagnostic)\([^"\n]*|Kind = |invalidConfiguration = )"([A-Z][A-Za-z ]+)"`)

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

// TestFilesAreDecodedOnce checks that no example and no document decodes a file in for_each: Terraform would decode
// it again for each instance, which makes the time for a plan quadratic.
func TestFilesAreDecodedOnce(t *testing.T) {
	t.Parallel()
	texts := []string{filepath.Join("..", "README.md")}
	for _, root := range []string{".", filepath.Join("..", "docs"), filepath.Join("..", "templates")} {
		walk(t, root, func(path string) {
			switch filepath.Ext(path) {
			case ".tf", ".hcl", ".md", ".tmpl":
				texts = append(texts, path)
			}
		})
	}
	decoded := 0
	for _, path := range texts {
		text := read(t, path)
		decoded += strings.Count(text, "decode(file")
		for _, found := range decodedInForEach.FindAllString(text, -1) {
			t.Errorf("%s decodes for each instance: %s", path, found)
		}
	}
	if decoded == 0 {
		t.Error("no example decodes a file")
	}
	for _, slow := range []string{
		`for_each = yamldecode(file("a"))`, "for_each  =  toset(csvdecode(file(\"a\"))[*].id)", "for_each = { for id, c in var.files : id => csvdecode(c) }", "for_each = {\n for c in jsondecode(file(\"a\")) : c.id => c\n}",
	} {
		if !decodedInForEach.MatchString(slow) {
			t.Errorf("the test does not find %s", slow)
		}
	}
}

// decodedInForEach matches a for_each up to the next argument or block that calls a function such as yamldecode.
var decodedInForEach = regexp.MustCompile(`for_each\s*=(?:[^=]|=>)*?\b[a-z0-9]+decode\(`)
