package provider

import (
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
)

// Terraform would not find the optional parts of the protocol behind a wrapper that hides them.
func TestServerHidesNothing(t *testing.T) {
	t.Parallel()
	server := reflect.TypeOf(NewServer("test", nil)())
	for method := range reflect.TypeOf(providerserver.NewProtocol6(&streamProvider{})()).Methods() {
		if _, ok := server.MethodByName(method.Name); !ok {
			t.Errorf("a wrapper hides %s of the framework's server", method.Name)
		}
	}
}
