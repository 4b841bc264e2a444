// Package cli runs a real Terraform or OpenTofu CLI on a provider built from this tree. The CLI gets neither the
// configuration nor the plugins nor the TF_, TFC_ and STREAM_ variables of the person who runs it, and downloads nothing.
package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Version is the version of the provider that [Build] builds. It has to satisfy the constraints in examples/.
const Version = "0.1.0"

// ErrNone is the error of [Find] where no CLI is installed.
var ErrNone = errors.New("neither terraform nor tofu is on PATH")

// Find returns the path of the CLI to use: the one that TF_ACC_TERRAFORM_PATH names, else terraform,
// else tofu on PATH. The error is [ErrNone], or says why the named one cannot be run.
func Find() (string, error) {
	if named := os.Getenv("TF_ACC_TERRAFORM_PATH"); named != "" {
		return exec.LookPath(named)
	}
	for _, name := range []string{"terraform", "tofu"} {
		if found, err := exec.LookPath(name); err == nil {
			return filepath.Abs(found)
		}
	}
	return "", ErrNone
}

// IsTofu reports whether the CLI with this path is OpenTofu, by its name.
func IsTofu(program string) bool { return strings.Contains(filepath.Base(program), "tofu") }

// Build builds the provider of this tree into an existing folder and returns the path of the program. It has no symbols, as in a
// release: a CLI reads the whole program in each command, to compare it with the lock file.
func Build(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, programName("stream"))
	build := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w -X main.version="+Version+"-dev", "-o", program,
		"github.com/stream-management/terraform-provider-stream")
	var out bytes.Buffer
	if err := run(ctx, interruptible(build), &out); err != nil {
		return "", fmt.Errorf("compiling the provider: %w\n%s", err, out.Bytes())
	}
	return program, nil
}

func programName(provider string) string {
	name := "terraform-provider-" + provider + "_v" + Version
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}

// Unwrap returns what a CLI wrote as one line, without the frames around its messages. A CLI breaks lines where the
// terminal ends.
func Unwrap(text string) string {
	text = strings.NewReplacer("│", "", "╷", "", "╵", "").Replace(text)
	return strings.Join(strings.Fields(text), " ")
}
