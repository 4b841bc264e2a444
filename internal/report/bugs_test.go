package report

import (
	"bytes"
	"testing"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// The error of an operation that panicked has neither the stack nor what may come from outside. The log has the stack.
func TestPanicOfAnOperation(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	p := &session.Panic{Cause: "secret", Stack: "goroutine 1"}
	diags := New("").Apply(tflogtest.RootLogger(t.Context(), &logged), OneStream, updates,
		session.After{Findings: []session.Finding{operation(p, claims.Facts{Unknown: true})}})
	want := `The processors of stream "cam-1" could not be updated. The provider panicked.

Please report this bug, with the stack: the command with TF_LOG=ERROR prints it.

The stream may or may not have been changed; run the command again: sending the same set twice is safe.`
	if len(diags) != 1 || diags[0].Summary() != bugSummary || diags[0].Detail() != want {
		t.Errorf("%+v", diags)
	}
	streamstest.WantText(t, logged.String(), "goroutine 1")
}
