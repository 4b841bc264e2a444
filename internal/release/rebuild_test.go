package release

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAccRebuild builds the program of one commit in two folders, and of two versions. "make rehearsal" also builds it
// with an empty cache.
func TestAccRebuild(t *testing.T) {
	t.Parallel()
	r := releaseOf(t, "0.1.0")
	clone := filepath.Join(t.TempDir(), "quite", "another", "place")
	mustGit(t, root, "clone", "--quiet", ".", clone)
	for version, want := range map[string]string{"0.1.0": "", "0.1.1": "a second build has"} {
		program := filepath.Join(t.TempDir(), "program")
		if err := compile(t.Context(), clone, program, version, Host()); err != nil {
			t.Fatal(err)
		}
		err := r.compareProgram(Host(), read(t, program))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("version %s: got %v, want %q", version, err, want)
		}
	}
}
