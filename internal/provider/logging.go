package provider

import (
	"context"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// QuietLogs lowers the process's logs to warnings unless one of Terraform's log variables asks for
// more. Else the libraries write each trace line of each call, and the CLI parses it to discard it:
// an eighth of its processor time on a large state. Call it before serving.
func QuietLogs() {
	if logsWanted(os.Environ()) {
		return
	}
	// For the libraries, and for what this provider logs itself.
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

// observe logs an attempt: a line at DEBUG, the bodies at TRACE. Headers are never logged.
func observe(ctx context.Context, a streams.Attempt) {
	fields := map[string]any{
		"method":      a.Method,
		"url":         a.URL,
		"status":      a.Status,
		"duration_ms": a.Duration.Milliseconds(),
		"attempt":     a.Number,
	}
	if a.Err != "" {
		fields["error"] = a.Err
	}
	tflog.Debug(ctx, "stream service request", fields)
	tflog.Trace(ctx, "stream service bodies", map[string]any{
		"request": a.RequestBody, "response": a.ResponseBody, "attempt": a.Number,
	})
	if progress, ok := ctx.Value(progressKey{}).(func(streams.Attempt)); ok {
		progress(a)
	}
}

// progressKey finds, in the context of an operation, who wants to hear of its attempts.
type progressKey struct{}
