// Package acceptance tests the provider from outside. A real Terraform or OpenTofu CLI runs the provider as a process
// of its own, and the tests look at what a user sees and at what the service gets.
package acceptance

import (
	"fmt"
	"os"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
)

func TestMain(m *testing.M) {
	if _, err := realDeployment(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if program, err := cli.Find(); err == nil {
		// Without these variables, terraform-plugin-testing chooses a CLI itself and reads the user's configuration.
		os.Setenv("TF_ACC_TERRAFORM_PATH", program)
		os.Setenv("TF_CLI_CONFIG_FILE", os.DevNull)
		if cli.IsTofu(program) {
			os.Setenv("TF_ACC_PROVIDER_HOST", "registry.opentofu.org")
			os.Setenv("TF_ACC_PROVIDER_NAMESPACE", "hashicorp")
		}
	}
	os.Exit(cli.RunTests(m))
}
