package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAccMakeDev follows the output of make dev in a folder with the lock file of another build.
func TestAccMakeDev(t *testing.T) {
	t.Parallel()
	SkipUnlessAcc(t)
	program, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "make", "-C", "../..", "dev")
	out, err := build.CombinedOutput()
	printed := regexp.MustCompile(`(?m)^  dev_overrides \{ ".*" = ".*" \}\n  direct \{\}\n(?s:.*)^  export TF_CLI_CONFIG_FILE=(.*)$`).FindSubmatch(out)
	if err != nil || printed == nil {
		t.Fatalf("make dev: %v\n%s", err, out)
	}
	dir, host := t.TempDir(), hosts[0]
	if IsTofu(program) {
		host = hosts[1]
	}
	for name, content := range map[string]string{
		"main.tf": `
terraform {
  required_providers {
    stream = { source = "` + Source + `" }
  }
}
resource "stream_processors" "this" {
  stream_id     = "cam-1"
  processor_ids = []
}
`,
		".terraform.lock.hcl": `
provider "` + host + `/` + strings.ToLower(Source) + `" {
  version = "0.0.1"
  hashes  = ["h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sandbox := &Sandbox{Program: program, Env: map[string]string{
		"TF_CLI_CONFIG_FILE": string(printed[1]),
		"STREAM_BASE_URL":    "http://127.0.0.1:1",
	}}
	var shown bytes.Buffer
	if err := sandbox.Run(t.Context(), dir, &shown, "plan", "-no-color"); err != nil {
		t.Errorf("%v\n%s", err, shown.String())
	}
}
