package cli

import (
	"context"
	"os"
	"sync"
	"testing"
)

// SkipUnlessAcc skips an acceptance test unless the variable TF_ACC is set.
func SkipUnlessAcc(t testing.TB) {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		t.Skip("acceptance tests run with TF_ACC=1")
	}
}

// ForTest returns the paths of the CLI and of the provider of this tree to an acceptance test, and skips the test
// unless TF_ACC is set. The provider is built once for all tests of a package; the package's TestMain calls [RunTests].
func ForTest(t testing.TB) (program, provider string) {
	t.Helper()
	SkipUnlessAcc(t)
	program, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	if provider, err = built(); err != nil {
		t.Fatal(err)
	}
	return program, provider
}

// RunTests runs the tests of a package, then removes the provider that [ForTest] has built, and returns the exit status.
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
	return Build(context.Background(), builtDir)
})

var builtDir string
