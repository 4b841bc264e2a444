// Package examples tests the examples that users copy. For each example, the CLI runs init and validate. The
// examples that need no credentials are also applied to the stand-in service.
package examples

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
)

// TestAccExamples validates every folder that has Terraform files. Examples that need a newer CLI are skipped.
func TestAccExamples(t *testing.T) {
	t.Parallel()
	sandbox := newSandbox(t)
	for folder, files := range terraformFolders(t) {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			imports := slices.DeleteFunc(slices.Clone(files), func(name string) bool { return !strings.HasPrefix(name, "import-by-") })
			if len(imports) == 0 {
				validate(t, sandbox, folder, "")
			}
			for _, file := range imports { // alternative forms of one block
				t.Run(file, func(t *testing.T) {
					t.Parallel()
					validate(t, sandbox, folder, file)
				})
			}
		})
	}
}

// validate runs init and validate in a copy of a folder; see initialized.
func validate(t *testing.T, sandbox *cli.Sandbox, folder, importFile string) {
	t.Helper()
	dir := initialized(t, sandbox, folder, importFile)
	if folder == "authentication/client-assertion" { // has its credential in the environment only
		withAssertion := *sandbox
		withAssertion.Env = maps.Clone(sandbox.Env)
		withAssertion.Env["STREAM_OAUTH2_CLIENT_ASSERTION"] = "assertion"
		sandbox = &withAssertion
	}
	mustRun(t, sandbox, dir, "validate")
}

// initialized copies all examples, because some have relative paths, and runs init in the copy of a folder. It
// returns the path of that copy. Of its import-by-*.tf files, only importFile remains.
func initialized(t *testing.T, sandbox *cli.Sandbox, folder, importFile string) string {
	t.Helper()
	all := t.TempDir()
	if err := os.CopyFS(all, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(all, filepath.FromSlash(folder))
	imports, _ := filepath.Glob(filepath.Join(dir, "import-by-*.tf"))
	for _, name := range imports {
		if filepath.Base(name) != importFile {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	completeSnippet(t, dir, folder, importFile)

	var out bytes.Buffer
	err := sandbox.Run(t.Context(), dir, &out, "init", "-no-color")
	if m := unsupported.FindString(out.String()); m != "" {
		t.Skip(m)
	}
	if err != nil {
		t.Fatalf("init: %v\n%s", err, out.Bytes())
	}
	return dir
}

// mustRun runs the CLI and returns its output. It fails the test if the command fails.
func mustRun(t *testing.T, sandbox *cli.Sandbox, dir string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := sandbox.Run(t.Context(), dir, &out, append(args, "-no-color")...); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out.Bytes())
	}
	return out.String()
}

// unsupported matches the message of a CLI that an example does not support. OpenTofu has no actions, and
// reports the unknown block before the version.
var unsupported = regexp.MustCompile(`This configuration does not support (Terraform|OpenTofu) version [0-9.]+|` +
	`Blocks of type "action" are not expected here`)

// completeSnippet adds the terraform block, which the examples of a resource or an action omit.
func completeSnippet(t *testing.T, dir, folder, importFile string) {
	t.Helper()
	kind, _, _ := strings.Cut(filepath.ToSlash(folder), "/")
	version := ">= 1.5"
	switch {
	case kind == "actions":
		version = ">= 1.14"
	case kind != "resources":
		return
	case importFile == "import-by-identity.tf":
		version = ">= 1.12"
	}
	rest := `terraform {
  required_version = "` + version + `"
  required_providers {
    stream = { source = "` + cli.Source + `" }
  }
}`
	if err := os.WriteFile(filepath.Join(dir, "completed_by_test.tf"), []byte(rest), 0o600); err != nil {
		t.Fatal(err)
	}
}

// terraformFolders returns the names of the Terraform files in each folder that has any.
func terraformFolders(t *testing.T) map[string][]string {
	t.Helper()
	folders := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".terraform" || entry.Name() == "before"):
			return fs.SkipDir // "before" has configurations of other providers, which are not installed
		case strings.HasSuffix(path, ".tf"):
			folder := filepath.Dir(path)
			folders[folder] = append(folders[folder], entry.Name())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) == 0 {
		t.Fatal("there are no examples")
	}
	return folders
}

// newSandbox returns a CLI that installs the provider of this source tree. It skips the test unless TF_ACC is set.
func newSandbox(t *testing.T) *cli.Sandbox {
	t.Helper()
	program, provider := cli.ForTest(t)
	sandbox, err := cli.NewSandbox(t.TempDir(), program, provider)
	if err != nil {
		t.Fatal(err)
	}
	return sandbox
}

func TestMain(m *testing.M) { os.Exit(cli.RunTests(m)) }
