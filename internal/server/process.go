package server

import (
	"context"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// DropLibraryLogs drops the lines that libraries write to the standard logger, which Terraform would put into its log. Package
// http quotes bytes of responses there, and headers of requests if GODEBUG says so. They may have secrets, and no redactor
// sees them. The provider's own lines go to package tflog.
func DropLibraryLogs() { log.SetOutput(io.Discard) }

// EndWithTerraform makes the process ignore SIGTERM and SIGHUP while Terraform, its parent, is there, and end within
// a second after Terraform. Shells and CI systems signal the whole process group: Terraform then stops gracefully,
// and needs the results of the requests under way. Call it before serving, but not for a debugger, which is no child.
func EndWithTerraform() {
	terraform := os.Getppid()
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		defer os.Exit(1)
		// Windows can wait for the parent. Unix cannot wait for a process that is not a child, but gives its children another parent.
		if process, err := os.FindProcess(terraform); err == nil {
			if _, err := process.Wait(); err == nil {
				return
			}
		}
		for os.Getppid() == terraform {
			<-time.After(time.Second)
		}
	}()
}

// Command returns the words of the command line of Terraform, the parent of this process. There are none where the system does not tell.
var Command = sync.OnceValue(func() []string {
	terraform := strconv.Itoa(os.Getppid())
	if line, err := os.ReadFile("/proc/" + terraform + "/cmdline"); err == nil { // Linux
		return strings.Split(string(line), "\x00")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	line, _ := exec.CommandContext(ctx, "ps", "-o", "args=", "-p", terraform).Output() // without ps, as on Windows, nothing
	return strings.Fields(string(line))
})

// Tune reduces the cost of the process, as profiles of large fleets suggest: DESIGN.md, "Performance", has the gain. It can be
// deleted, with its test and its line in main.go, and every result stays the same. Call it before serving.
func Tune() {
	// Calls produce garbage and keep nothing. Go would collect every 4 MB, a few dozen calls; 400 makes it every 16 MB.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	// The plan of a large group creates 30 MB of garbage, and Terraform plans 10 groups at the same time. This soft limit
	// keeps the process below 250 MB with 10,000 streams in one group. Twice as much saves no time.
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(160 << 20)
	}
	// The CLI parses the trace lines of the libraries only to discard them: an eighth of its CPU time with a large state.
	if logsWanted(os.Getenv) {
		return
	}
	os.Setenv("TF_LOG_SDK", "WARN")
	os.Setenv("TF_LOG_SDK_FRAMEWORK", "WARN") // not part of TF_LOG_SDK; in 1.19, its traces walk a context that grows with each value
	os.Setenv("TF_LOG_PROVIDER_STREAM", "WARN")
}

// logsWanted reports whether an environment asks for a provider's logs.
func logsWanted(getenv func(string) string) bool {
	levels := []string{
		"TF_LOG", "TF_LOG_PROVIDER", "TF_LOG_PROVIDER_STREAM", "TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_PROTO",
	}
	return slices.ContainsFunc(levels, func(name string) bool {
		return getenv(name) != "" && !strings.EqualFold(getenv(name), "off")
	})
}
