package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAccCheck checks that Check accepts a release that Build has written, and refuses a release in which
// one thing is wrong.
func TestAccCheck(t *testing.T) {
	t.Parallel()
	original := releaseOf(t, "0.1.0")
	if err := original.Check(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	host := original.Zip(Host())
	for name, test := range map[string]struct {
		published bool
		damage    func(t *testing.T, r *Release)
		want      string
	}{
		"signature missing": {true, func(*testing.T, *Release) {}, "_SHA256SUMS.sig is missing"},
		"armored signature": {true, func(t *testing.T, r *Release) {
			write(t, r.Sums()+".sig", []byte("-----BEGIN PGP SIGNATURE-----"))
		}, "not a signature in binary form"},
		"bill of materials missing": {true, func(*testing.T, *Release) {}, ".zip.sbom.json is missing"},
		"archive missing": {false, func(t *testing.T, r *Release) {
			if err := os.Remove(r.Zip(Host())); err != nil {
				t.Fatal(err)
			}
		}, filepath.Base(host) + " is missing"},
		"archive of an unknown platform": {false, func(t *testing.T, r *Release) {
			write(t, r.Zip(Platform{"darwin", "386"}), []byte("zip"))
		}, "darwin_386.zip must not be there"},
		"archive changed": {false, func(t *testing.T, r *Release) {
			write(t, r.Zip(Host()), append(read(t, r.Zip(Host())), 0))
		}, "the sums are"},
		"sum of another file": {false, func(t *testing.T, r *Release) {
			write(t, r.Sums(), append(read(t, r.Sums()), []byte(strings.Repeat("0", 64)+"  README.md\n")...))
		}, "the sums are"},
		"protocol 5": {false, func(t *testing.T, r *Release) {
			write(t, r.Manifest(), []byte(`{"version": 1, "metadata": {"protocol_versions": ["5.0"]}}`))
		}, "for protocol 6.0"},
		"program of another version": {false, func(t *testing.T, r *Release) {
			copyArchive(t, releaseOf(t, "0.1.1").Zip(Host()), r.Zip(Host()), func(string) string { return r.programName(Host()) })
		}, "it prints version 0.1.1"},
		"program with another name": {false, func(t *testing.T, r *Release) {
			copyArchive(t, host, r.Zip(Host()), func(string) string { return "terraform-provider-stream" })
		}, `it contains ["terraform-provider-stream"]`},
		"another program": {false, func(t *testing.T, r *Release) {
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			if err := r.pack(Host(), read(t, program)); err != nil {
				t.Fatal(err)
			}
		}, "it was built with"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := copyOf(t, original)
			test.damage(t, r)
			err := r.Check(t.Context(), test.published)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error that contains %q", err, test.want)
			}
		})
	}
	t.Run("version", func(t *testing.T) {
		t.Parallel()
		r, err := New(t.Context(), root, t.TempDir(), "v0.1")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(t.Context(), false); err == nil || !strings.Contains(err.Error(), "not a semantic version") {
			t.Errorf("got %v", err)
		}
	})
}
