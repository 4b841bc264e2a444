package release

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAccRebuild builds the program in another folder, and another version of it. "make rehearsal" also builds
// with an empty cache.
func TestAccRebuild(t *testing.T) {
	t.Parallel()
	r := releaseOf(t, "0.1.0")
	other := filepath.Join(t.TempDir(), "quite", "another", "place")
	copyTree(t, other)
	for version, want := range map[string]string{"0.1.0": "", "0.1.1": "a second build has"} {
		program := filepath.Join(t.TempDir(), "program")
		if err := compile(t.Context(), other, program, version, Host()); err != nil {
			t.Fatal(err)
		}
		err := r.compareProgram(Host(), read(t, program))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("version %s: got %v, want %q", version, err, want)
		}
	}
}
