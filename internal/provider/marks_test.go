package provider

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
)

// A stream that several resources have keeps the mark that a failed replacement gave all streams.
func TestSharedStreamKeepsItsMark(t *testing.T) {
	t.Parallel()
	s, was, found := newSession("", false), entries{"cam-1": {}}, marks{anyStream: {Resend: claims.Unknown}}
	s.noteShared(was, nil)
	if !s.noteShared(was, found) || !found["cam-1"].Shared || found["cam-1"].Resend != claims.Unknown {
		t.Errorf("the marks are %+v", found)
	}
	planned := marks{anyStream: {Created: true, Resend: claims.Unknown}, "cam-1": {Shared: true}}
	if kept := planned.lasting(); kept["cam-1"].Resend != claims.Unknown {
		t.Errorf("the marks that last are %+v", kept)
	}
}
