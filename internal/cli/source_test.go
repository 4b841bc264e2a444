package cli

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
)

func TestSource(t *testing.T) {
	t.Parallel()
	if got := hosts[0] + "/" + Source; got != provider.Address {
		t.Errorf("Source is that of %s, want %s", got, provider.Address)
	}
}
