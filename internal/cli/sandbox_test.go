package cli

import (
	"path/filepath"
	"testing"
)

func TestSandboxIsolatesTheEnvironment(t *testing.T) {
	t.Setenv("TF_CLI_ARGS", "-help")
	t.Setenv("STREAM_TOKEN", "t0ken")
	t.Setenv("HTTPS_PROXY", "http://proxy.test")
	dir := t.TempDir()
	sandbox, err := NewSandbox(dir, "cli", nil)
	if err != nil {
		t.Fatal(err)
	}
	for variable, want := range map[string]string{
		"TF_CLI_ARGS":        "",
		"STREAM_TOKEN":       "",
		"HTTPS_PROXY":        "http://proxy.test",
		"TF_CLI_CONFIG_FILE": filepath.Join(dir, "cli.tfrc"),
		"CHECKPOINT_DISABLE": "1",
	} {
		if got := sandbox.Env[variable]; got != want {
			t.Errorf("%s is %q, want %q", variable, got, want)
		}
	}
}
