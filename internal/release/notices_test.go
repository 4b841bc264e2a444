package release

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestNotices(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files   map[string]string // of the module example.com/a
		want    []string
		not     []string
		problem string
	}{
		"licence":                  {files: map[string]string{"LICENSE": "grant"}, want: []string{"grant"}},
		"British spelling":         {files: map[string]string{"licence.md": "grant"}, want: []string{"grant"}},
		"licence with a suffix":    {files: map[string]string{"LICENSE-MIT": "grant", "COPYING": "copy"}, want: []string{"grant", "copy"}},
		"notice":                   {files: map[string]string{"LICENSE": "grant", "NOTICE.txt": "credit"}, want: []string{"grant", "credit"}},
		"code from elsewhere":      {files: map[string]string{"LICENSE": "grant", "third/LICENSE": "other"}, want: []string{"grant", "other"}},
		"test data":                {files: map[string]string{"LICENSE": "grant", "testdata/LICENSE": "other"}, want: []string{"grant"}, not: []string{"other"}},
		"code about licences":      {files: map[string]string{"LICENSE": "grant", "license.go": "package a"}, want: []string{"grant"}, not: []string{"package a"}},
		"no licence":               {files: map[string]string{"README": "grant"}, problem: "example.com/a v1.0.0: the module has no licence"},
		"empty licence":            {files: map[string]string{"LICENSE": "\n"}, problem: "no licence"},
		"notice, but no licence":   {files: map[string]string{"NOTICE": "credit"}, problem: "no licence"},
		"licence only of a folder": {files: map[string]string{"third/LICENSE": "other"}, problem: "no licence"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info := &debug.BuildInfo{GoVersion: "go1.2.3", Deps: []*debug.Module{{Path: "example.com/a", Version: "v1.0.0"}}}
			dirs := map[string]string{"Go go1.2.3": t.TempDir(), "example.com/a v1.0.0": t.TempDir()}
			write(t, filepath.Join(dirs["Go go1.2.3"], "LICENSE"), []byte("Go's licence"))
			for path, content := range test.files {
				path = filepath.Join(dirs["example.com/a v1.0.0"], filepath.FromSlash(path))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, path, []byte(content))
			}
			content, err := notices(info, dirs)
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("got %v, want %q", err, test.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := checkNotices(content, info); err != nil {
				t.Error(err)
			}
			for _, text := range append(test.want, "Go's licence", "example.com/a v1.0.0") {
				if !strings.Contains(string(content), text) {
					t.Errorf("the notices lack %q:\n%s", text, content)
				}
			}
			for _, text := range test.not {
				if strings.Contains(string(content), text) {
					t.Errorf("the notices have %q:\n%s", text, content)
				}
			}
		})
	}
}

func TestCheckNotices(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{GoVersion: "go1.2.3", Deps: []*debug.Module{{Path: "example.com/a", Version: "v1.0.0"}}}
	goSection, section := noticeRule+"Go go1.2.3\n\ntext", noticeRule+"example.com/a v1.0.0\n\ntext"
	for content, problem := range map[string]string{
		goSection + section:           "",
		section:                       "no section for Go go1.2.3",
		goSection:                     "no section for example.com/a v1.0.0",
		"":                            "no section for example.com/a v1.0.0",
		goSection + section + section: "a section for example.com/a v1.0.0",
		goSection + strings.ReplaceAll(section, "v1.0.0", "v1.0.1"): "no section for example.com/a v1.0.0",
		goSection + noticeRule + "example.com/a v1.0.0\n\n":         "the section for example.com/a v1.0.0 is empty",
	} {
		err := checkNotices([]byte(content), info)
		if problem == "" && err != nil || problem != "" && (err == nil || !strings.Contains(err.Error(), problem)) {
			t.Errorf("%q: got %v, want %q", content, err, problem)
		}
	}
}
