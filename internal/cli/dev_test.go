package cli

import (
	"bytes"
	"errors"
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
	program, err := Find()
	if err != nil || os.Getenv("TF_ACC") == "" {
		t.Skip("needs a CLI, and TF_ACC=1")
	}
	out, err := exec.CommandContext(t.Context(), "make", "-C", "../..", "dev").CombinedOutput()
	printed := regexp.MustCompile(`(?m)^  dev_overrides \{ ".*" = ".*" \}\n  direct \{\}\n(?s:.*)^  export TF_CLI_CONFIG_FILE=(.*)$`).FindSubmatch(out)
	if err != nil || printed == nil {
		t.Fatalf("make dev: %v\n%s", err, out)
	}
	dir, host := t.TempDir(), hosts[0]
	if IsTofu(program) {
		host = hosts[1]
	}
	config := "terraform {\n  required_providers {\n    stream = { source = \"" + Source + "\" }\n  }\n}\n" +
		"resource \"stream_processors\" \"this\" {\n  stream_id     = \"cam-1\"\n  processor_ids = []\n}\n"
	lock := "provider \"" + host + "/" + strings.ToLower(Source) + "\" {\n  version = \"0.0.1\"\n" +
		"  hashes  = [\"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"]\n}\n"
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(dir, ".terraform.lock.hcl"), []byte(lock), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	sandbox := &Sandbox{Program: program, Env: map[string]string{
		"TF_CLI_CONFIG_FILE": string(printed[1]), "STREAM_BASE_URL": "http://127.0.0.1:1",
	}}
	var shown bytes.Buffer
	if err := sandbox.Run(t.Context(), dir, &shown, "plan", "-no-color"); err != nil {
		t.Errorf("%v\n%s", err, shown.String())
	}
}
