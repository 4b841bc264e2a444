//go:build linux

// Package observe measures a provider's process. A provider is a child of the CLI, which does not report
// the provider's resource usage. So the CLI starts a shim, and the shim runs the provider.
package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// The CLI passes these environment variables to the shim.
const (
	ProgramVariable = "BENCH_PROVIDER" // path of the provider's program
	UsageVariable   = "BENCH_USAGE"    // path of the file that the shim appends to
)

// Usage is what the processes of one provider used during one command of the CLI.
type Usage struct {
	CPU        time.Duration // user and system time of all processes together
	PeakMemory int64         // maximum resident set size of the largest process, in bytes
}

// RunProvider runs the provider that the environment names, then appends its usage to the file that the
// environment names. The error is the provider's, or that of the file.
func RunProvider(ctx context.Context) error {
	provider := exec.CommandContext(ctx, os.Getenv(ProgramVariable))
	provider.Stdin, provider.Stdout, provider.Stderr = os.Stdin, os.Stdout, os.Stderr
	runErr := provider.Run()
	state := provider.ProcessState
	if state == nil {
		return runErr // the provider did not start
	}
	usage := Usage{CPU: state.UserTime() + state.SystemTime()}
	if rusage, ok := state.SysUsage().(*syscall.Rusage); ok {
		usage.PeakMemory = rusage.Maxrss * 1024
	}
	return errors.Join(runErr, appendUsage(os.Getenv(UsageVariable), usage))
}

func appendUsage(path string, usage Usage) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(file).Encode(usage), file.Close())
}

// Collect sums up the usage of all processes that the file has, and removes the file. The error is that
// of [os.ReadFile] if no provider has run.
func Collect(path string) (Usage, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return Usage{}, err
	}
	var total Usage
	for decoder := json.NewDecoder(bytes.NewReader(content)); ; {
		var one Usage
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return total, os.Remove(path)
		} else if err != nil {
			return Usage{}, err
		}
		total.CPU += one.CPU
		total.PeakMemory = max(total.PeakMemory, one.PeakMemory)
	}
}
