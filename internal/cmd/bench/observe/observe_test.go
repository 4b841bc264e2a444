//go:build linux

package observe

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCollect runs two programs in place of a provider. One of them fails, and its usage counts too.
func TestCollect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage")
	t.Setenv(UsageVariable, path)
	if _, err := Collect(path); !os.IsNotExist(err) {
		t.Errorf("before a provider has run: got error %v", err)
	}

	t.Setenv(ProgramVariable, "true")
	if err := RunProvider(t.Context()); err != nil {
		t.Fatal(err)
	}
	one, err := Collect(path)
	if err != nil || one.PeakMemory == 0 {
		t.Fatalf("got %+v, %v, want the memory of a process", one, err)
	}

	for program, fails := range map[string]bool{"true": false, "false": true} {
		t.Setenv(ProgramVariable, program)
		if err := RunProvider(t.Context()); (err != nil) != fails {
			t.Errorf("%s: got error %v", program, err)
		}
	}
	if err := appendUsage(path, Usage{CPU: 5, PeakMemory: 1 << 40}); err != nil {
		t.Fatal(err)
	}
	if err := appendUsage(path, Usage{CPU: 3, PeakMemory: 1}); err != nil {
		t.Fatal(err)
	}
	total, err := Collect(path)
	if err != nil || total.PeakMemory != 1<<40 || total.CPU < 8 {
		t.Errorf("got %+v, %v, want the sum of the CPU times and the largest peak", total, err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}
