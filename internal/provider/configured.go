package provider

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/stream-management/terraform-provider-stream/internal/report"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/session"
)

// configured is what a provider block gives resources, data sources, lists and actions.
type configured struct {
	session *session.Session
	report  *report.Reporter
	command func() []string // see Host
}

// configuredBy returns the provider data. There is none before the provider is configured.
func configuredBy(data any) *configured {
	if c, ok := data.(*configured); ok {
		return c
	}
	return &configured{session.New(nil, "", false), report.New(""), nil}
}

// deployment returns the deployment for a state. It is null while it is known after apply.
func (c *configured) deployment() types.String {
	if c.session.Deployment() == "" {
		return types.StringNull()
	}
	return types.StringValue(c.session.Deployment())
}

// importsByCommand reports whether the command `terraform import` makes the imports of this session, or nobody knows. The calls are those
// of an import block, and so is the state, byte for byte, if an apply of the block has nothing to change.
func (c *configured) importsByCommand() bool {
	if c.command == nil {
		return true
	}
	words := c.command()
	return len(words) == 0 || slices.Contains(words, "import")
}

// observe logs an attempt: at DEBUG one line, at TRACE also the bodies. Headers never, because they may be secret.
func observe(ctx context.Context, a requests.Attempt) {
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
	if a.Retry {
		fields["next_in"] = a.RetryWait.Round(time.Millisecond).String()
	}
	tflog.Debug(ctx, "stream service request", fields)
	tflog.Trace(ctx, "stream service bodies", map[string]any{
		"request": a.RequestBody, "response": a.ResponseBody, "attempt": a.Number,
	})
	if observer, ok := ctx.Value(attemptObserver{}).(func(requests.Attempt)); ok {
		observer(a)
	}
}

// attemptObserver is the key of a function in a context, which observe calls after each attempt.
type attemptObserver struct{}
