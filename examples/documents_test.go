package examples

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentsShowExamples checks that every configuration, pipeline and list in the README and in the generated pages
// is the file of a tested example.
func TestDocumentsShowExamples(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	walk(t, ".", func(path string) {
		switch filepath.Ext(path) {
		case ".tf", ".hcl", ".tfrc", ".yaml", ".yml", ".csv":
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

var terraformBlock = regexp.MustCompile("(?s)```(?:terraform|hcl|yaml|csv)\r?\n(.*?)```")

// TestEveryExampleIsRun checks that each configuration is validated by TestAccExamples, or says which test runs it, or why
// none does.
func TestEveryExampleIsRun(t *testing.T) {
	t.Parallel()
	validated := terraformFolders(t)
	walk(t, ".", func(path string) {
		path = filepath.ToSlash(path)
		switch filepath.Ext(path) {
		case ".tf":
			if validated[filepath.Dir(path)] != nil {
				return
			}
		case ".hcl", ".tfrc", ".yml":
		default:
			return
		}
		if notValidated[path] == "" {
			t.Errorf("%s: no test validates it", path)
		}
	})
	for path, reason := range notValidated {
		if _, err := os.Stat(filepath.FromSlash(path)); err != nil {
			t.Errorf("notValidated has %s (%s): %v", path, reason, err)
		}
	}
}

var notValidated = map[string]string{
	"authentication/client-assertion/github-actions.yml": "run by TestAccAssertionOfGitHub",
	"authentication/client-assertion/gitlab-ci.yml":      "run by TestAccAssertionOfGitLab",
	"authentication/token-file/agent.hcl":                "needs an agent with a server for secrets",
	"fleet/tests/unit.tftest.hcl":                        "run by TestAccFleetTests",
	"installing/filesystem-mirror.tfrc":                  "run by TestAccPageInstalling",
	"installing/network-mirror.tfrc":                     "run by TestAccPageInstalling",
	"migrating/curl/before/main.tf":                      "run by TestAccMigratingFromCurl",
	"migrating/restapi/before/main.tf":                   "needs a provider that is not installed; internal/provider/testdata/moved has states that it wrote",
	"migrating/restful/before/main.tf":                   "needs a provider that is not installed; internal/provider/testdata/moved has states that it wrote",
	"migrating/terracurl/before/main.tf":                 "needs a provider that is not installed; internal/provider/testdata/moved has states that it wrote",
	"pipelines/github-actions.yml":                       "run by TestAccPipelines",
	"pipelines/gitlab-ci.yml":                            "run by TestAccPipelines",
	"several-teams/tests/merge.tftest.hcl":               "run by TestAccPageSeveralTeams",
	"terraform-test/tests/service.tftest.hcl":            "run by TestAccModuleTests",
	"terraform-test/tests/unit.tftest.hcl":               "run by TestAccModuleTests",
}

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

// TestLinksStayOnThePages checks that links in the generated pages lead to another page of the registry and to a heading
// that exists there. A registry shows nothing but docs.
func TestLinksStayOnThePages(t *testing.T) {
	t.Parallel()
	docs := filepath.Join("..", "docs")
	links := 0
	walk(t, docs, func(page string) {
		for _, link := range anyLink.FindAllStringSubmatch(read(t, page), -1) {
			links++
			path, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(path, ":") {
				t.Errorf("%s: %s leaves the registry", page, link[1])
				continue
			}
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(path)) + ".md"
			}
			if inside, err := filepath.Rel(docs, target); err != nil || strings.HasPrefix(inside, "..") {
				t.Errorf("%s: %s leaves the pages of the registry", page, link[1])
				continue
			}
			if anchor != "" && !headings(read(t, target))[anchor] {
				t.Errorf("%s: %s has no heading %s", page, target, anchor)
			}
		}
	})
	if links == 0 {
		t.Error("no page has a link")
	}
}

var (
	anyLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.+)$`)
	namedPlace = regexp.MustCompile(`<a id="([^"]+)"></a>`)
	notInSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// headings returns the anchors of a page.
func headings(page string) map[string]bool {
	anchors := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(page, -1) {
		anchors[strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	for _, a := range namedPlace.FindAllStringSubmatch(page, -1) {
		anchors[a[1]] = true
	}
	return anchors
}

// TestPagesAreDescribed checks what a registry shows of a page in its navigation and in search results.
func TestPagesAreDescribed(t *testing.T) {
	t.Parallel()
	walk(t, filepath.Join("..", "docs"), func(page string) {
		front, _, _ := strings.Cut(strings.TrimPrefix(read(t, page), "---\n"), "\n---\n")
		for _, want := range []string{`(?m)^page_title: "\S.*"$`, `(?m)^description: \|-\n  \S`} {
			if !regexp.MustCompile(want).MatchString(front) {
				t.Errorf("%s: no %s in:\n%s", page, want, front)
			}
		}
	})
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
