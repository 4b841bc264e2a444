// Package clitest runs a real CLI with the provider of this tree in tests: in a folder of its own, against a service of the
// test. It returns what the CLI printed.
package clitest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"sync"
	"testing"

	version "github.com/hashicorp/go-version"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
)

// SkipUnlessAcc skips an acceptance test unless the variable TF_ACC is set.
func SkipUnlessAcc(t testing.TB) {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		t.Skip("acceptance tests run with TF_ACC=1")
	}
}

// Programs returns the paths of the CLI and of the provider of this tree to an acceptance test, and skips the test unless
// TF_ACC is set. The provider is built once for all tests of a package; the package's TestMain calls [RunTests].
func Programs(t testing.TB) (program, provider string) {
	t.Helper()
	SkipUnlessAcc(t)
	program, err := cli.Find()
	if err != nil {
		t.Fatal(err)
	}
	if provider, err = built(); err != nil {
		t.Fatal(err)
	}
	return program, provider
}

// AtLeast reports whether the CLI of [cli.Find] is not older. OpenTofu has versions of its own. "" means none of them.
func AtLeast(t testing.TB, terraform, tofu string) bool {
	t.Helper()
	found, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	oldest := terraform
	if program, _ := cli.Find(); cli.IsTofu(program) {
		oldest = tofu
	}
	return oldest != "" && found.Core().GreaterThanOrEqual(version.Must(version.NewVersion(oldest)))
}

// installed is the version of the CLI of [cli.Find].
var installed = sync.OnceValues(func() (*version.Version, error) {
	program, err := cli.Find()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "version", "-json")
	cmd.Env = []string{"CHECKPOINT_DISABLE=1"} // a warning about the user's configuration would precede the JSON
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var answer struct {
		Version string `json:"terraform_version"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, err
	}
	return version.NewVersion(answer.Version)
})

// RunTests runs the tests of a package, then removes the provider that [Programs] has built, and returns the exit status.
func RunTests(m *testing.M) int {
	defer func() {
		if builtDir != "" {
			os.RemoveAll(builtDir)
		}
	}()
	return m.Run()
}

var built = sync.OnceValues(func() (provider string, err error) {
	if builtDir, err = os.MkdirTemp("", "stream-provider-"); err != nil {
		return "", err
	}
	return cli.Build(context.Background(), builtDir)
})

var builtDir string
