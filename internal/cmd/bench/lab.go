//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
)

const module = "github.com/stream-management/terraform-provider-stream"

// lab is a temporary folder with programs, and a CLI that starts the shim as its provider.
type lab struct {
	dir     string
	sandbox *cli.Sandbox
}

func newLab(ctx context.Context) (*lab, error) {
	dir, err := os.MkdirTemp("", "stream-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir}
	shim, err := l.build(ctx, "shim", module+"/internal/cmd/bench/shim")
	if err != nil {
		return l, err
	}
	program, err := cli.Find()
	if err != nil {
		return l, err
	}
	l.sandbox, err = cli.NewSandbox(dir, program, shim)
	return l, err
}

// build compiles a package the way releases are compiled, and returns the path of the program.
func (l *lab) build(ctx context.Context, name, source string) (string, error) {
	program := filepath.Join(l.dir, name)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", build, err, out)
	}
	return program, nil
}

// cliVersion is the first line of what the CLI prints about itself.
func (l *lab) cliVersion(ctx context.Context) (string, error) {
	var out strings.Builder
	err := l.sandbox.Run(ctx, l.dir, &out, "version")
	line, _, _ := strings.Cut(out.String(), "\n")
	return line, err
}

// timeToHandshake starts a provider and measures until its first line of output, which tells the CLI
// where to connect.
func timeToHandshake(ctx context.Context, provider string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, provider)
	cmd.Env = append(os.Environ(), "PLUGIN_PROTOCOL_VERSIONS=6",
		"TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, readErr := bufio.NewReader(out).ReadString('\n')
	taken := time.Since(start)
	killErr := cmd.Process.Kill()
	_ = cmd.Wait() // reports the kill
	return taken, errors.Join(readErr, killErr)
}
