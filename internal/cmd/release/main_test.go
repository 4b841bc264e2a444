package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunRefuses checks what each subcommand makes of its flags. The checks themselves have their tests in
// internal/release.
func TestRunRefuses(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	dist := t.TempDir()
	sums := filepath.Join(dist, "terraform-provider-stream_1.2.3_SHA256SUMS")
	if err := os.WriteFile(sums, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	for name, test := range map[string]struct {
		args string
		want string
	}{
		"no subcommand":                    {"", "needs one of these subcommands"},
		"unknown subcommand":               {"build", "needs one of these subcommands"},
		"unknown flag":                     {"check -force", "flag provided but not defined"},
		"argument":                         {"check dist", `unexpected argument "dist"`},
		"source of another repository":     {"check-source -tag v1.2.3 -repository other/name", "go.mod does not have the module github.com/other/name"},
		"source without a tag":             {"check-source -repository other/name", "not a semantic version"},
		"notes of a version that is not":   {"notes -tag v99.0.0 -out " + filepath.Join(dist, "notes"), "no section for 99.0.0"},
		"key without a fingerprint":        {"check-key", "-fingerprint is empty"},
		"notices of what is not a program": {"notices -program go.mod -out " + filepath.Join(dist, "notices"), "unrecognized"},
		"files of no release":              {"check -dist " + filepath.Join(dist, "none"), "has 0 files with sums"},
		"files of another version":         {"check -dist " + dist + " -tag v1.2.4", "the files have version 1.2.3, the tag is v1.2.4"},
		"files without a key":              {"check -dist " + dist + " -tag v1.2.3", "-fingerprint is empty"},
		"files that are missing":           {"check -dist " + dist, "linux_amd64.zip is missing"},
		"rebuild of no platform":           {"rebuild -platform plan9_mips -dist " + dist, `no platform "plan9_mips"`},
		"publish another version":          {"publish -repository other/name -dist " + dist + " -tag v1.2.4", "the tag is v1.2.4"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := run(t.Context(), strings.Fields(test.args), &out)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error that contains %q", err, test.want)
			}
			if listed := strings.Contains(out.String(), "check-source"); listed != strings.Contains(test.want, "subcommands") {
				t.Errorf("the output is %q", out.String())
			}
		})
	}
	for _, name := range []string{"notes", "notices"} {
		if _, err := os.Stat(filepath.Join(dist, name)); err == nil {
			t.Errorf("a refusal wrote %s", name)
		}
	}
}
