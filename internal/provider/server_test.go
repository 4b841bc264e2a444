package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
)

// Terraform would not find the optional parts of the protocol behind a wrapper that hides them.
func TestServerHidesNothing(t *testing.T) {
	t.Parallel()
	if !hidesNothing(NewServer("test")(), providerserver.NewProtocol6(&streamProvider{})()) {
		t.Error("a wrapper hides a method of the framework's server")
	}
}
