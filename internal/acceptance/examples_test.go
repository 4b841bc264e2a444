package acceptance

import (
	"os"
	"path/filepath"
	"testing"
)

// newExample makes a workspace with a copy of an example.
func newExample(t *testing.T, folder string) *workspace {
	t.Helper()
	w := newWorkspace(t, "", "")
	w.removeFile("main.tf")
	w.removeFile("versions.tf")
	if err := os.CopyFS(w.dir, os.DirFS(filepath.Join("..", "..", "examples", folder))); err != nil {
		t.Fatal(err)
	}
	return w
}
