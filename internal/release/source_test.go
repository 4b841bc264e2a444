package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckSource refuses a commit in which one thing is wrong.
func TestCheckSource(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		repository, tag string
		change          func(t *testing.T, dir string) // made before the commit
		want            string                         // "" if the commit may be published
	}{
		"right": {"Acme-Corp/" + project, "v0.2.0", nil, ""},
		"no licence": {"Acme-Corp/" + project, "v0.2.0", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "LICENSE")); err != nil {
				t.Fatal(err)
			}
		}, "no licence"},
		"another repository":    {"other/" + project, "v0.2.0", nil, "module github.com/other/" + project},
		"version without date":  {"Acme-Corp/" + project, "v0.3.0", nil, "0.3.0 in CHANGELOG.md has no date"},
		"unknown version":       {"Acme-Corp/" + project, "v0.4.0", nil, "no section for 0.4.0"},
		"no version":            {"Acme-Corp/" + project, "v0.2", nil, "not a semantic version"},
		"no leading v":          {"Acme-Corp/" + project, "0.2.0", nil, "not a semantic version"},
		"tag of another commit": {"Acme-Corp/" + project, "v0.1.0", nil, "the tag v0.1.0 is not on the last commit"},
		"not on main": {"Acme-Corp/" + project, "v0.2.0", func(t *testing.T, dir string) {
			mustGit(t, dir, "update-ref", "refs/remotes/origin/main", "v0.1.0")
		}, "not on main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "LICENSE"), []byte("text"))
			write(t, filepath.Join(dir, "go.mod"), []byte("module github.com/Acme-Corp/"+project+"\n"))
			write(t, filepath.Join(dir, "CHANGELOG.md"), []byte(changelog))
			mustGit(t, dir, "init", "--quiet")
			commit(t, dir)
			mustGit(t, dir, "tag", "v0.1.0")
			if test.change != nil {
				test.change(t, dir)
			}
			commit(t, dir)
			if test.tag != "v0.1.0" {
				mustGit(t, dir, "tag", test.tag)
			}
			if name != "not on main" {
				mustGit(t, dir, "update-ref", "refs/remotes/origin/main", "HEAD")
			}
			err := CheckSource(t.Context(), dir, test.repository, test.tag)
			if test.want == "" && err != nil {
				t.Errorf("got %v", err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want an error that contains %q", err, test.want)
			}
		})
	}
}

const changelog = `# Changelog

## 0.3.0 (unreleased)

FEATURES:

- Later.

## 0.2.0 (2026-02-01)

FEATURES:

- Now.

## 0.1.1 (2026-01-02)

## 0.1.0 (2026-01-01)

First.
`

func TestNotes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ content, tag, notes, problem string }{
		"first section":        {changelog, "v0.2.0", "FEATURES:\n\n- Now.\n", ""},
		"last section":         {changelog, "v0.1.0", "First.\n", ""},
		"Windows line breaks":  {strings.ReplaceAll(changelog, "\n", "\r\n"), "v0.2.0", "FEATURES:\n\n- Now.\n", ""},
		"candidate":            {changelog, "v0.3.0-rc.1", "FEATURES:\n\n- Later.\n", ""},
		"no date":              {changelog, "v0.3.0", "", "has no date"},
		"nothing after number": {"## 0.2.0\n\nText.\n", "v0.2.0", "", "has no date"},
		"not a date":           {"## 0.2.0 (soon)\n\nText.\n", "v0.2.0", "", "has no date"},
		"empty":                {changelog, "v0.1.1", "", "is empty"},
		"missing":              {changelog, "v0.4.0", "", "no section"},
		"longer version":       {"## 0.2.01 (2026-01-01)\n\nText.\n", "v0.2.0", "", "no section"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "CHANGELOG.md"), []byte(test.content))
			notes, err := Notes(dir, test.tag)
			if notes != test.notes {
				t.Errorf("the notes are %q, want %q", notes, test.notes)
			}
			if test.problem == "" && err != nil || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
				t.Errorf("got %v, want %q", err, test.problem)
			}
		})
	}
}

func mustGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func commit(t *testing.T, dir string) {
	t.Helper()
	mustGit(t, dir, "add", "--all")
	mustGit(t, dir, "-c", "user.name=Test", "-c", "user.email=test@example.com",
		"-c", "commit.gpgsign=false", "commit", "--quiet", "--allow-empty", "--message", "Test")
}
