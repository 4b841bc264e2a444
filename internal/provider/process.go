package provider

import (
	"os"
	"runtime/debug"
	"strings"
)

// memoryLimit keeps the process below 150 MB with 10,000 streams in groups.
const memoryLimit = 80 << 20

// TuneProcess reduces the cost of the provider's process. Call it before serving. Profiles of large
// fleets led to these changes.
func TuneProcess() {
	// Calls produce garbage and keep nothing. Go would collect every 4 MB, a few dozen calls; 400 makes
	// it every 16 MB.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	// The plan of a large group creates 30 MB of garbage, and Terraform plans 10 groups at the same time. The
	// limit is soft: near it, Go collects more often.
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	// The libraries write trace lines for each call, and the CLI parses them only to discard them, which
	// takes an eighth of its CPU time with a large state. Warnings are still written.
	if logsWanted(os.Environ()) {
		return
	}
	os.Setenv("TF_LOG_SDK", "WARN")
	os.Setenv("TF_LOG_PROVIDER_STREAM", "WARN")
}

// logsWanted reports whether an environment asks for a provider's logs: TF_LOG, TF_LOG_PROVIDER,
// TF_LOG_PROVIDER_STREAM, TF_LOG_SDK and similar. TF_LOG_PATH and TF_LOG_CORE do not count.
func logsWanted(environ []string) bool {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case name != "TF_LOG" && !strings.HasPrefix(name, "TF_LOG_"):
		case name == "TF_LOG_PATH" || name == "TF_LOG_CORE":
		case value != "" && !strings.EqualFold(value, "off"):
			return true
		}
	}
	return false
}
