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
	if err := original.Check(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	host := original.Zip(Host())
	key := newKey(t)
	public := armored(t, key)
	for name, test := range map[string]struct {
		key    string // the public key of a release to be published
		damage func(t *testing.T, r *Release)
		want   string
	}{
		"signature missing": {public, func(*testing.T, *Release) {}, "_SHA256SUMS.sig is missing"},
		"armored signature": {public, func(t *testing.T, r *Release) {
			write(t, r.Signature(), []byte("-----BEGIN PGP SIGNATURE-----"))
		}, "not a signature in binary form"},
		"signature of another key": {public, func(t *testing.T, r *Release) { sign(t, r, newKey(t)) }, "signature"},
		"signature of other sums": {public, func(t *testing.T, r *Release) {
			sign(t, r, key)
			write(t, r.Sums(), append(read(t, r.Sums()), '\n'))
		}, "signature"},
		"bill of materials missing": {public, func(*testing.T, *Release) {}, ".zip.sbom.json is missing"},
		"archive missing": {"", func(t *testing.T, r *Release) {
			if err := os.Remove(r.Zip(Host())); err != nil {
				t.Fatal(err)
			}
		}, filepath.Base(host) + " is missing"},
		"archive of an unknown platform": {"", func(t *testing.T, r *Release) {
			write(t, r.Zip(Platform{"darwin", "386"}), []byte("zip"))
		}, "darwin_386.zip must not be there"},
		"notices of other modules": {"", func(t *testing.T, r *Release) {
			dir := t.TempDir()
			program, notices := filepath.Join(dir, r.programName(Host())), filepath.Join(dir, noticesName)
			content, err := r.program(Host())
			if err != nil {
				t.Fatal(err)
			}
			write(t, program, content)
			write(t, notices, []byte(noticeRule+"example.com/other v1.0.0\n\ntext"))
			if err := r.pack(Host(), program, notices); err != nil {
				t.Fatal(err)
			}
		}, "NOTICES: a section for example.com/other v1.0.0"},
		"archive changed": {"", func(t *testing.T, r *Release) {
			write(t, r.Zip(Host()), append(read(t, r.Zip(Host())), 0))
		}, "the sums are"},
		"sum of another file": {"", func(t *testing.T, r *Release) {
			write(t, r.Sums(), append(read(t, r.Sums()), []byte(strings.Repeat("0", 64)+"  README.md\n")...))
		}, "the sums are"},
		"protocol 5": {"", func(t *testing.T, r *Release) {
			write(t, r.Manifest(), []byte(`{"version": 1, "metadata": {"protocol_versions": ["5.0"]}}`))
		}, "for protocol 6.0"},
		"program of another version": {"", func(t *testing.T, r *Release) {
			copyArchive(t, releaseOf(t, "0.1.1").Zip(Host()), r.Zip(Host()), func(name string) string {
				return strings.ReplaceAll(name, "0.1.1", "0.1.0")
			})
		}, "it prints version 0.1.1"},
		"program with another name": {"", func(t *testing.T, r *Release) {
			copyArchive(t, host, r.Zip(Host()), func(name string) string {
				return strings.ReplaceAll(name, r.programName(Host()), "terraform-provider-stream")
			})
		}, `it contains ["NOTICES" "terraform-provider-stream"]`},
		"no notices": {"", func(t *testing.T, r *Release) {
			copyArchive(t, host, r.Zip(Host()), func(name string) string {
				if name == noticesName {
					return ""
				}
				return name
			})
		}, "it contains ["},
		"another program": {"", func(t *testing.T, r *Release) {
			test, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			program, notices := filepath.Join(dir, r.programName(Host())), filepath.Join(dir, noticesName)
			write(t, program, read(t, test))
			write(t, notices, nil)
			if err := r.pack(Host(), program, notices); err != nil {
				t.Fatal(err)
			}
		}, "it was built with"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := copyOf(t, original)
			test.damage(t, r)
			err := r.Check(t.Context(), test.key)
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
		if err := r.Check(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "not a semantic version") {
			t.Errorf("got %v", err)
		}
	})
}
