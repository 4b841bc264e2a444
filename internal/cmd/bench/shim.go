//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A provider is a child of the CLI, which does not tell its share of the processor time. So one run
// has this program in the provider's place: it starts the provider and writes down what that took.
const (
	programVariable = "BENCH_PROVIDER"
	usageVariable   = "BENCH_USAGE"
)

func isShim() bool {
	return os.Getenv("TF_PLUGIN_MAGIC_COOKIE") != ""
}

func shim() int {
	provider := exec.CommandContext(context.Background(), os.Getenv(programVariable))
	provider.Stdin, provider.Stdout, provider.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := provider.Run()
	usage, openErr := os.OpenFile(os.Getenv(usageVariable), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if openErr == nil && provider.ProcessState != nil {
		fmt.Fprintln(usage, provider.ProcessState.UserTime()+provider.ProcessState.SystemTime())
		openErr = usage.Close()
	}
	if errors.Join(err, openErr) != nil {
		return 1
	}
	return 0
}

// readUsage adds up what the shims of one command wrote, and forgets it.
func readUsage(path string) (time.Duration, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	var sum time.Duration
	for line := range strings.FieldsSeq(string(content)) {
		taken, parseErr := time.ParseDuration(line)
		err = errors.Join(err, parseErr)
		sum += taken
	}
	return sum, errors.Join(err, os.Remove(path))
}
