// Package acceptance tests the provider from outside. A real Terraform or OpenTofu CLI runs the provider as a process
// of its own, and the tests look at what a user sees and at what the service gets.
package acceptance

import (
	"fmt"
	"os"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/clitest"
)

func TestMain(m *testing.M) {
	if _, err := realDeployment(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(clitest.RunTests(m))
}

// newWorkspace makes a root module with a configuration, whose provider talks to a service at baseURL. The test is skipped
// unless TF_ACC is set, and on a real deployment.
func newWorkspace(t *testing.T, baseURL, hcl string) *clitest.Workspace {
	t.Helper()
	if d, _ := realDeployment(); d != nil {
		t.Skip("needs the switches of the stand-in service, and STREAM_BASE_URL names another one")
	}
	w := clitest.New(t, "STREAM_BASE_URL="+baseURL)
	w.Configure(hcl)
	return w
}
