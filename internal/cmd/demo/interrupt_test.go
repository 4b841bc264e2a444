package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
)

// TestAccInterrupt interrupts the demo while the CLI and the provider run.
func TestAccInterrupt(t *testing.T) {
	cli.SkipUnlessAcc(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot interrupt another process")
	}
	t.Parallel()
	program := filepath.Join(t.TempDir(), "demo")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tmp := t.TempDir()
	demo := exec.CommandContext(t.Context(), program)
	demo.Env = append(os.Environ(), "TMPDIR="+tmp)
	stdout, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		shown.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "Creating...") {
			if err := demo.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}
	}

	var exit *exec.ExitError
	if err := demo.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("the demo ended with %v, want exit status 130\n%s", err, shown.String())
	}
	left, err := os.ReadDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		t.Errorf("not removed: %s", entry.Name())
	}
	checkNoProcess(t, tmp)
}

// checkNoProcess waits until no process has path in its command line. It checks nothing on a system without
// /proc.
func checkNoProcess(t *testing.T, path string) {
	t.Helper()
	for deadline := time.After(5 * time.Second); ; {
		var running []string
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, name := range all {
			if line, err := os.ReadFile(name); err == nil && bytes.Contains(line, []byte(path)) {
				running = append(running, strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
		if running == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("still running: %q", running)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
