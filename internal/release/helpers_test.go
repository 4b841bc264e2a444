package release

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	return r, r.Build(ctx)
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

// copyArchive copies an archive and renames the files in it.
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
		header.Name = rename(file.Name)
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
