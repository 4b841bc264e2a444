package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// The error of an operation that panicked has neither the stack nor what may come from outside. The log has the stack.
func TestPanicOfAnOperation(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	p := &session.Panic{Cause: "secret", Stack: "goroutine 1"}
	diags := New("").Apply(tflogtest.RootLogger(t.Context(), &logged), OneStream, updates,
		session.After{Findings: []session.Finding{operation(p, claims.Facts{Unknown: true})}})
	if len(diags) != 1 || diags[0].Summary() != bugSummary || strings.Contains(diags[0].Detail(), "secret") ||
		strings.Contains(diags[0].Detail(), "goroutine") ||
		!strings.HasSuffix(diags[0].Detail(), nowTrue(streams.Unknown, nil)) {
		t.Errorf("%+v", diags)
	}
	streamstest.WantText(t, logged.String(), "goroutine 1")
}
