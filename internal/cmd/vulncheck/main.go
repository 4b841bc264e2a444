// Command vulncheck runs the govulncheck command that its arguments are. It fails if govulncheck finds a
// vulnerability or fails itself, but not if the database of vulnerabilities cannot be reached: that is no
// finding, and it must not stop a release.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

// found is the exit status of govulncheck if it has found vulnerabilities.
const found = 3

// unreachable begins govulncheck's message if the database cannot be reached.
const unreachable = "govulncheck: fetching vulnerabilities: "

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run returns the exit status.
func run(ctx context.Context, command []string, stdout, stderr io.Writer) int {
	if len(command) == 0 {
		fmt.Fprintln(stderr, "vulncheck needs a command")
		return 2
	}
	var messages bytes.Buffer
	check := exec.CommandContext(ctx, command[0], command[1:]...)
	check.Stdout, check.Stderr = stdout, io.MultiWriter(stderr, &messages)
	err := check.Run()
	if err == nil {
		return 0
	}
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if failed.ExitCode() != found && strings.Contains(messages.String(), unreachable) {
		fmt.Fprintln(stdout, "::warning::Not checked for known vulnerabilities: the database cannot be reached.")
		return 0
	}
	return max(failed.ExitCode(), 1)
}
