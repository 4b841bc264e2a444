package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A mutant whose place has changed would only fail when somebody runs all mutants, which takes long.
func TestMutantsHavePlaces(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		source, err := os.ReadFile(filepath.Join("../../..", m.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(source), m.old); n != 1 {
			t.Errorf("%s: %s has %d places like %q, want 1", m.name, m.file, n, m.old)
		}
	}
}
