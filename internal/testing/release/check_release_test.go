package release

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
)

const changelog = `# Changelog

## 0.3.0 (unreleased)

- Later.

## 0.2.0 (2026-02-01)

- Now.

## 0.1.0 (2026-01-02)
`

const repository = "Acme-Corp/terraform-provider-stream"

// TestCheckRelease runs the script that refuses a commit before its tag is published.
func TestCheckRelease(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("gpg"); err != nil || runtime.GOOS == "windows" {
		t.Skip("the script needs gpg and a Unix shell")
	}
	for name, test := range map[string]struct {
		tag, path, content string // the file that differs, "" for none
		text               string // of the release
		refusal            string // a part of it
	}{
		"right":         {tag: "v0.2.0", text: "- Now.\n"},
		"candidate":     {tag: "v0.3.0-rc.1", text: "- Later.\n"},
		"no date":       {tag: "v0.3.0", refusal: "v0.3.0: the section for 0.3.0 in CHANGELOG.md has no date"},
		"empty section": {tag: "v0.1.0", refusal: "the section for 0.1.0 in CHANGELOG.md is empty"},
		"no section":    {tag: "v0.4.0", refusal: "CHANGELOG.md has no section for 0.4.0"},
		"no version":    {tag: "v0.2", refusal: "not a version"},
		"no leading v":  {tag: "0.2.0", refusal: "not a version"},
		"empty licence": {tag: "v0.2.0", path: "LICENSE", content: "\n", refusal: "no licence"},
		"another module": {tag: "v0.2.0", path: "go.mod", content: "module github.com/" + strings.ToLower(repository) + "\n",
			refusal: "go.mod does not have the module github.com/" + repository},
		"key of another type": {tag: "v0.2.0", path: ".github/release-key.asc",
			content: clitest.ReadFile(t, filepath.Join("testdata", "ed25519.asc")), refusal: "not a valid RSA or DSA key"},
		"no key":      {tag: "v0.2.0", path: ".github/release-key.asc", refusal: "not a valid RSA or DSA key"},
		"not on main": {tag: "v0.2.0", refusal: "not on main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, script := t.TempDir(), filepath.Join(".ci", "check-release")
			for path, content := range map[string]string{
				"LICENSE": "text", "go.mod": "module github.com/" + repository + "\n\ngo 1.26\n", "CHANGELOG.md": changelog,
				".github/release-key.asc": clitest.ReadFile(t, filepath.Join("testdata", "rsa.asc")),
				script:                    clitest.ReadFile(t, filepath.Join(root, script)),
			} {
				clitest.WriteFile(t, filepath.Join(dir, path), content)
			}
			git(t, dir, "init", "--quiet")
			git(t, dir, "remote", "add", "origin", "git@github.com:"+repository+".git")
			if test.path != "" {
				clitest.WriteFile(t, filepath.Join(dir, test.path), test.content)
			}
			git(t, dir, "add", "--all")
			git(t, dir, "commit", "--quiet", "--message", "Test")
			git(t, dir, "update-ref", "refs/remotes/origin/main", "HEAD")
			if name == "not on main" {
				git(t, dir, "commit", "--quiet", "--allow-empty", "--message", "Not pushed")
			}
			clitest.WriteFile(t, filepath.Join(dir, "CHANGELOG.md"), "not committed")
			out, err := shell(t, dir, []string{"GITHUB_REPOSITORY="}, "bash", script, test.tag)
			if test.refusal == "" && (err != nil || out != test.text) {
				t.Errorf("the script ended with %v and printed\n%s\nwant\n%s", err, out, test.text)
			}
			if test.refusal != "" && (err == nil || !strings.Contains(out, test.refusal) || strings.Count(out, "\n") != 1) {
				t.Errorf("the script ended with %v and printed\n%s\nwant only %q", err, out, test.refusal)
			}
		})
	}
}
