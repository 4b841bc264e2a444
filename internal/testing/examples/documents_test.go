package examples

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages returns what users read: the README, and the generated pages with the path of each below docs.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{"README.md": read(t, filepath.Join("..", "README.md"))}
	for path, text := range texts(t, filepath.Join("..", "docs"), ".md") {
		found[strings.TrimPrefix(filepath.ToSlash(path), "../docs/")] = text
	}
	if len(found) == 1 {
		t.Fatal("there are no pages")
	}
	return found
}

// texts returns the files below a folder that have one of these extensions.
func texts(t *testing.T, root string, extensions ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		for _, extension := range extensions {
			if err == nil && strings.HasSuffix(path, extension) {
				found[path] = read(t, path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestBlocksAreExamples checks that each block that can be copied is a file here, which other tests run.
func TestBlocksAreExamples(t *testing.T) {
	t.Parallel()
	files := map[string]bool{}
	for _, text := range texts(t, ".", ".tf", ".hcl", ".tfrc", ".yaml", ".yml", ".csv", ".json") {
		files[strings.TrimSpace(text)] = true
	}
	for page, text := range pages(t) {
		for _, block := range regexp.MustCompile("(?s)```(?:terraform|hcl|yaml|csv|json)\n(.*?)```").FindAllStringSubmatch(text, -1) {
			if !files[strings.TrimSpace(block[1])] {
				t.Errorf("%s has a block that is not an example:\n%s", page, block[1])
			}
		}
	}
}

// TestVersions checks that all folders have the same versions.
func TestVersions(t *testing.T) {
	t.Parallel()
	for file, text := range texts(t, ".", ".tf") {
		if filepath.Base(file) == "versions.tf" && !strings.HasPrefix(read(t, filepath.Join("provider", "provider.tf")), text) {
			t.Errorf("%s is not the block of the provider's page", file)
		}
	}
}

// TestTroubleshooting checks that the provider says what the page quotes of it: a text of another program has one of these parts.
func TestTroubleshooting(t *testing.T) {
	t.Parallel()
	said := read(t, filepath.Join("..", "internal", "testing", "texts", "testdata", "texts.txt"))
	ofOthers := []string{
		"Failed to query available", "doesn't match any", "No value for", "Ephemeral variable", "This object does not", "Saved plan is",
		"certificate signed by", "execution halted", "Invalid for_each", "Missing Configuration for",
		"Provider configuration not", "Provider instance not", "Provider produced", "terraform ", " = ",
	}
	quotes := regexp.MustCompile("`([a-zA-Z][^`=:]* [^`]*)`|\\*\\*([A-Z][^*]+?)\\.?\\*\\*")
	for _, quoted := range quotes.FindAllStringSubmatch(pages(t)["guides/troubleshooting.md"], -1) {
		text := quoted[1] + quoted[2]
		if slices.ContainsFunc(ofOthers, func(part string) bool { return strings.Contains(text, part) }) {
			continue
		}
		for part := range strings.SplitSeq(text, "[…]") {
			if part = strings.Trim(part, ". "); !strings.Contains(said, part) {
				t.Errorf("the provider does not say %q", part)
			}
		}
	}
}

// TestEnvironmentVariablesAreListed compares the table of the provider's page with the attributes below it, which come from the
// provider.
func TestEnvironmentVariablesAreListed(t *testing.T) {
	t.Parallel()
	before, schema, _ := strings.Cut(pages(t)["index.md"], "\n## Schema\n")
	_, table, _ := strings.Cut(before, "| Variable |")
	variables := func(text string) []string {
		found := regexp.MustCompile(`\b(?:STREAM|TFC)_[A-Z0-9_]+\b`).FindAllString(text, -1)
		slices.Sort(found)
		return slices.Compact(found)
	}
	if listed, used := variables(table), variables(schema); len(used) == 0 || !slices.Equal(listed, used) {
		t.Errorf("the page lists %v, and its attributes have %v", listed, used)
	}
}

// TestLinks resolves each link of the pages, and of the documents beside them. A page links only other pages, because a
// registry has nothing else. GitHub needs the ending .md. Terraform's registry removes it, as large providers expect.
// OpenTofu's site removes it only in links to the same folder: no form of the others works on all three.
func TestLinks(t *testing.T) {
	t.Parallel()
	documents := texts(t, filepath.Join("..", "docs"), ".md")
	for _, pattern := range []string{"../*.md", "../.github/*.md", "infrastructure/*.md"} {
		found, _ := filepath.Glob(pattern)
		for _, document := range found {
			documents[document] = read(t, document)
		}
	}
	for document, text := range documents {
		onPage := strings.HasPrefix(filepath.ToSlash(document), "../docs/")
		for _, found := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(text, -1) {
			link, anchor, _ := strings.Cut(found[1], "#")
			target := filepath.ToSlash(document)
			if link != "" {
				target = path.Join(path.Dir(target), link)
			}
			switch {
			case strings.Contains(link, ":") && !onPage:
				continue
			case onPage && (!strings.HasPrefix(target, "../docs/") || !strings.HasSuffix(target, ".md")):
				t.Errorf("%s: %s does not lead to another page", document, found[1])
				continue
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", document, err)
			} else if anchor != "" && !anchors(read(t, target))[anchor] {
				t.Errorf("%s: %s has no heading %s", document, target, anchor)
			}
		}
	}
}

// anchors returns the names of the headings of a page, as GitHub and the registry make them.
func anchors(page string) map[string]bool {
	names := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		names[anchor(heading[1])] = true
	}
	for _, place := range regexp.MustCompile(`<a id="([^"]+)"></a>`).FindAllStringSubmatch(page, -1) {
		names[place[1]] = true
	}
	return names
}

// anchor returns the name of a heading.
func anchor(heading string) string {
	plain := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(plain, " ", "-")
}
