package provider

import (
	"os"
	"runtime/debug"
	"strings"
)

// TuneProcess makes the process of the provider cost less; call it before serving. What it changes
// was found by profiles of large fleets.
func TuneProcess() {
	// A call leaves much garbage and keeps nothing. Go would collect it after each 4 MB, a few dozen
	// calls; this makes it 16 MB.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	// The libraries write each trace line of each call, and the CLI parses it to discard it: an eighth
	// of its processor time on a large state. Warnings still come through.
	if logsWanted(os.Environ()) {
		return
	}
	os.Setenv("TF_LOG_SDK", "WARN")
	os.Setenv("TF_LOG_PROVIDER_STREAM", "WARN")
}

// logsWanted reports whether an environment asks for a provider's logs: TF_LOG, TF_LOG_PROVIDER,
// TF_LOG_PROVIDER_STREAM, TF_LOG_SDK and its like. The path of a log and the CLI's own do not count.
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
