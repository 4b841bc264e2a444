// Package examples tests what users copy from the documentation: each example is applied on the stand-in service, each
// block of a page is a tested file, each command of a page is run, and each link has a target. All tests with a CLI need
// clitest, because they install the provider as users do.
package examples

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// TestMain runs the tests in the folder of the examples.
func TestMain(m *testing.M) {
	if err := os.Chdir(filepath.Join("..", "..", "..", "examples")); err != nil {
		panic(err)
	}
	os.Exit(clitest.RunTests(m))
}

// newWorkspace copies an example and runs init. The environment has the address of a service.
func newWorkspace(t *testing.T, folder, serviceURL string) *clitest.Workspace {
	t.Helper()
	w := clitest.New(t)
	w.Setenv("STREAM_BASE_URL=" + serviceURL)
	if folder != "" {
		copyExample(t, folder, w.Dir)
		if !supports(t, read(t, w.Dir)) {
			t.Skip("the example needs a newer CLI")
		}
		w.MustRun("init")
	}
	return w
}

// startService starts a stand-in service with the streams of the examples.
func startService(t *testing.T, options streamstest.Options) (service *streamstest.Service, url string) {
	t.Helper()
	return streamstest.Start(t, options, streamstest.Streams(streamIDs...)...)
}

var streamIDs = []string{"cam-1", "cam-2", "cam-3", "cam-4", "cam-5"}

// wantAttached fails the test unless the streams have these processors, and other streams have none.
func wantAttached(t *testing.T, example string, service *streamstest.Service, want map[string]string) {
	t.Helper()
	t.Run(example, func(t *testing.T) {
		for _, id := range streamIDs {
			service.WantAttached(t, id, strings.Fields(want[id])...)
		}
	})
}

// needs has what older CLIs cannot read, with the versions of Terraform and OpenTofu that can.
var needs = []struct{ text, terraform, tofu string }{
	{"\naction \"", "1.14", ""}, {"list \"stream_processors\"", "1.14", ""}, {"\n  identity = ", "1.12", "1.12"},
	{"\nmoved {", "1.8", "1.10"}, {"removed {", "1.7", "1.10"},
	{"\nrun \"", "1.7", "1.8"}, {"import {\n  for_each", "1.7", "1.7"}, {"id = jsonencode", "1.7", "1.7"},
}

// supports reports whether the CLI can read a configuration.
func supports(t *testing.T, configuration string) bool {
	t.Helper()
	for _, need := range needs {
		if strings.Contains(configuration, need.text) {
			return clitest.AtLeast(t, need.terraform, need.tofu)
		}
	}
	return true
}

// withoutEphemeral does what the pages say for a CLI that has no ephemeral variables.
func withoutEphemeral(t *testing.T, text string) string {
	t.Helper()
	if clitest.AtLeast(t, "1.10", "1.11") {
		return text
	}
	return strings.ReplaceAll(text, "ephemeral = true", "sensitive = true")
}

// copyExample copies an example without its import blocks, which come in two forms. A root module plans as it stands. A
// snippet gets the terraform block, and a provider block the resource of the first page.
func copyExample(t *testing.T, folder, dir string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(filepath.FromSlash(folder))); err != nil {
		t.Fatal(err)
	}
	removeAll(t, filepath.Join(dir, "import-by-*.tf"))
	first := read(t, filepath.Join("provider", "provider.tf"))
	block, _, _ := strings.Cut(first, "\n}\n")
	switch {
	case strings.HasPrefix(folder, "authentication/"):
		provider := filepath.Join(dir, "provider.tf")
		clitest.WriteFile(t, provider, inPlaceOfProvider(t, first, withoutEphemeral(t, clitest.ReadFile(t, provider))))
	case strings.HasPrefix(folder, "resources/"):
		clitest.WriteFile(t, filepath.Join(dir, "versions.tf"), block+"\n}\n")
	}
}

// inPlaceOfProvider returns a configuration with another provider block.
func inPlaceOfProvider(t *testing.T, text, block string) string {
	t.Helper()
	before, after, found := strings.Cut(text, "provider \"stream\" {}\n")
	if !found {
		t.Fatal("the first configuration has no empty provider block")
	}
	return before + block + after
}

// removeAll removes the files and folders that match a pattern.
func removeAll(t *testing.T, pattern string) {
	t.Helper()
	found, _ := filepath.Glob(pattern)
	for _, path := range found {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// read returns a file, or all configurations, queries and tests in a folder that copyExample copies.
func read(t *testing.T, path string) string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(path, "*.tf"))
	files = slices.DeleteFunc(files, func(file string) bool { return strings.HasPrefix(filepath.Base(file), "import-by-") })
	for _, pattern := range []string{"*.hcl", "tests/*.hcl"} {
		found, _ := filepath.Glob(filepath.Join(path, pattern))
		files = append(files, found...)
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		files = []string{path}
	}
	text := ""
	for _, file := range files {
		text += strings.ReplaceAll(clitest.ReadFile(t, file), "\r\n", "\n")
	}
	return text
}
