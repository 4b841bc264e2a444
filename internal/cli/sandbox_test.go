package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestSandboxIsolatesTheEnvironment(t *testing.T) {
	t.Setenv("TF_CLI_ARGS", "-help")
	t.Setenv("STREAM_TOKEN", "t0ken")
	t.Setenv("HTTPS_PROXY", "http://proxy.test")
	dir := t.TempDir()
	sandbox, err := NewOverridingSandbox(dir, "cli", nil)
	if err != nil {
		t.Fatal(err)
	}
	for variable, want := range map[string]string{
		"TF_CLI_ARGS":        "",
		"STREAM_TOKEN":       "",
		"HTTPS_PROXY":        "http://proxy.test",
		"TF_CLI_CONFIG_FILE": filepath.Join(dir, "cli.tfrc"),
		"CHECKPOINT_DISABLE": "1",
	} {
		if got := sandbox.Env[variable]; got != want {
			t.Errorf("%s is %q, want %q", variable, got, want)
		}
	}
}

// cancelOn cancels a context when a text is written.
type cancelOn struct {
	out    bytes.Buffer
	text   string
	cancel func()
}

func (w *cancelOn) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	if strings.Contains(w.out.String(), w.text) {
		w.cancel()
	}
	return n, err
}

func TestRunInterruptsTheCLI(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted from outside")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "cli")
	if err := os.WriteFile(program, []byte(`#!/bin/sh
trap 'echo interrupted; exit 1' INT
echo started
sleep 600 >/dev/null 2>&1 &
wait
`), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out := &cancelOn{text: "started", cancel: cancel}
	if err := (&Sandbox{Program: program}).Run(ctx, dir, out); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if got := out.out.String(); got != "started\ninterrupted\n" {
		t.Errorf("the output is %q", got)
	}
}

func TestUnwrap(t *testing.T) {
	t.Parallel()
	const message = "╷\n│ Error: Bad Request\n│ Error\n│ \n│   with stream_processors.this,\n╵\n"
	if got, want := Unwrap(message), "Error: Bad Request Error with stream_processors.this,"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
