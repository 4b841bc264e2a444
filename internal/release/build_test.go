package release

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAccReproducible builds one commit in two folders, for one platform. "make release-check" does the same
// for all platforms.
func TestAccReproducible(t *testing.T) {
	t.Parallel()
	skipWithoutAcc(t)
	var builds []*Release
	for _, place := range []string{"one", "quite/another/place"} {
		clone, dir := filepath.Join(t.TempDir(), filepath.FromSlash(place)), t.TempDir()
		git := exec.CommandContext(t.Context(), "git", "clone", "--quiet", root, clone)
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git clone: %v\n%s", err, out)
		}
		r, err := New(t.Context(), clone, dir, "0.1.0")
		if err != nil {
			t.Fatal(err)
		}
		r.Platforms = []Platform{{"linux", "amd64"}}
		if err := r.Build(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.Check(t.Context(), false); err != nil { // Check limits the size of the program for this platform
			t.Error(err)
		}
		builds = append(builds, r)
	}
	if err := builds[0].CheckSameContents(builds[1]); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(read(t, builds[0].Sums()), read(t, builds[1].Sums())) {
		t.Error("the archives differ in more than their contents")
	}
	if err := builds[0].CheckSameContents(releaseOf(t, "0.1.1")); err == nil {
		t.Error("two versions have the same contents")
	}
}
