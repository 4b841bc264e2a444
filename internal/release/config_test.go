package release

import (
	"path/filepath"
	"testing"
)

func TestReadConfigRefuses(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"list of strings": "goos:\n  - linux\n",
		"YAML list":       "goos: [linux]\n",
		"duplicate key":   "builds:\n  goos: a\n  goos: b\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, ".goreleaser.yml"), []byte(content))
			if values, err := readConfig(dir); err == nil {
				t.Errorf("no error; got %v", values)
			}
		})
	}
}
