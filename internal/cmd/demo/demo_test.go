package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
)

func TestMain(m *testing.M) { os.Exit(cli.RunTests(m)) }

// TestAccFile runs the demo with its output in a file.
func TestAccFile(t *testing.T) {
	t.Parallel()
	demo := demoCommand(t)
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	demo.Stdout, demo.Stderr = out, out
	err = demo.Run()
	text, readErr := os.ReadFile(out.Name())
	if err != nil || readErr != nil {
		t.Fatalf("%v, %v\n%s", err, readErr, text)
	}
	if bytes.ContainsAny(text, "\x1b\r") {
		t.Errorf("a file has escape sequences:\n%q", text)
	}
	checkOutput(t, string(text))
}

// demoCommand returns a command for the compiled demo.
func demoCommand(t *testing.T) *exec.Cmd {
	t.Helper()
	program, provider := cli.ForTest(t)
	binary := filepath.Join(t.TempDir(), "demo.exe")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exec.CommandContext(t.Context(), binary, "-cli", program, "-provider", provider)
}

// checkOutput checks what the demo and the CLI print, without escape sequences.
func checkOutput(t *testing.T, text string) {
	t.Helper()
	for _, want := range []string{
		`The service said: processor_ids has unknown processors: ["object-detektion"]`,
		"The stream was not changed.",
		"Error: Conflicting Processor Sets",
		"STREAM_DETECT_DRIFT=true",
		"The demo succeeded.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the output has no %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "Warning:") {
		t.Errorf("the output has a warning:\n%s", text)
	}
	for line := range strings.Lines(text) {
		// The CLI prints this on one line, whatever the width of the terminal.
		if strings.Contains(line, "from the dependency lock file") {
			continue
		}
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\r\n")); n > columns {
			t.Errorf("a line has %d characters: %s", n, line)
		}
	}
	if !strings.HasSuffix(strings.ReplaceAll(text, "\r\n", "\n"), whatNext) {
		t.Errorf("the output does not end with what to do next:\n%s", text)
	}
}

func TestWhatNext(t *testing.T) {
	t.Parallel()
	links := regexp.MustCompile(`(?m)^  (\S+) `).FindAllStringSubmatch(whatNext, -1)
	if len(links) != 3 {
		t.Errorf("%d links, want 3", len(links))
	}
	for _, link := range links {
		if _, err := os.Stat(filepath.Join("..", "..", "..", filepath.FromSlash(link[1]))); err != nil {
			t.Error(err)
		}
	}
}
