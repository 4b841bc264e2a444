package release

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// root is the folder of the module.
var root = filepath.Join("..", "..")

// skipWithoutAcc skips a test that builds the provider or runs a CLI, unless TF_ACC is set.
func skipWithoutAcc(t *testing.T) {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		t.Skip("acceptance tests run with TF_ACC=1")
	}
}

// releaseOf returns a release of this tree for this platform: version 0.1.0 or 0.1.1. Tests share the
// release and must not change it.
func releaseOf(t *testing.T, version string) *Release {
	t.Helper()
	skipWithoutAcc(t)
	r, err := builds[version]()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var builds = map[string]func() (*Release, error){
	"0.1.0": sync.OnceValues(func() (*Release, error) { return buildHere("0.1.0") }),
	"0.1.1": sync.OnceValues(func() (*Release, error) { return buildHere("0.1.1") }),
}

var buildDir string

func buildHere(version string) (*Release, error) {
	dir := filepath.Join(buildDir, version)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	ctx := context.Background()
	r, err := New(ctx, root, dir, version)
	if err != nil {
		return nil, err
	}
	r.Platforms = []Platform{Host()}
	return r, r.build(ctx)
}

// build writes the files of a trial release as goreleaser does, for the platforms of the release.
func (r *Release) build(ctx context.Context) error {
	manifest, err := os.ReadFile(r.source(r.Manifest()))
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.Manifest(), manifest, 0o644); err != nil {
		return err
	}
	for _, p := range r.Platforms {
		temp, err := os.MkdirTemp(buildDir, "program-")
		if err != nil {
			return err
		}
		program := filepath.Join(temp, r.programName(p))
		if err := compile(ctx, r.root, program, r.Version, p); err != nil {
			return err
		}
		notices := filepath.Join(temp, noticesName)
		if err := WriteNotices(ctx, r.root, program, notices); err != nil {
			return err
		}
		own, err := licences(r.root)
		if err != nil {
			return err
		}
		if err := r.pack(p, append(own, notices, program)...); err != nil {
			return err
		}
	}
	return r.writeSums()
}

// pack writes the archive for a platform.
func (r *Release) pack(p Platform, paths ...string) error {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: filepath.Base(path), Method: zip.Deflate, Modified: r.commitTime}
		header.SetMode(0o644)
		if header.Name == r.programName(p) {
			header.SetMode(0o755)
		}
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return os.WriteFile(r.Zip(p), packed.Bytes(), 0o644)
}

// writeSums writes the sums of all files that a registry serves.
func (r *Release) writeSums() error {
	var sums strings.Builder
	for _, path := range r.filesWithSum() {
		sum, err := fileSum(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, filepath.Base(path))
	}
	return os.WriteFile(r.Sums(), []byte(sums.String()), 0o644)
}

func TestMain(m *testing.M) {
	var err error
	if buildDir, err = os.MkdirTemp("", "stream-release-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(buildDir)
	os.Exit(code)
}

// copyOf returns a copy of a release, in a folder that the test may change.
func copyOf(t *testing.T, r *Release) *Release {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	duplicate := *r
	duplicate.dir = dir
	return &duplicate
}

// copyTree copies the files of this tree, with changes that are not committed, to an existing folder.
func copyTree(t *testing.T, dir string) {
	t.Helper()
	for path := range strings.SplitSeq(mustGit(t, root, "ls-files", "--cached", "--others", "--exclude-standard", "-z"), "\x00") {
		from, to := filepath.Join(root, path), filepath.Join(dir, path)
		info, err := os.Stat(from)
		if path == "" || errors.Is(err, fs.ErrNotExist) { // deleted, but not committed
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, read(t, from), info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
}

// copyArchive copies an archive and renames the files in it. It leaves out a file with an empty new name.
func copyArchive(t *testing.T, from, to string, rename func(string) string) {
	t.Helper()
	archive, err := zip.OpenReader(from)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var packed bytes.Buffer
	writer := zip.NewWriter(&packed)
	for _, file := range archive.File {
		header := file.FileHeader
		if header.Name = rename(file.Name); header.Name == "" {
			continue
		}
		entry, err := writer.CreateRaw(&header)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := file.OpenRaw()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(entry, raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, to, packed.Bytes())
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
