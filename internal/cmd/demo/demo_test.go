package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// asDemo makes the program of the tests the demo.
const asDemo = "RUN_THE_DEMO"

func TestMain(m *testing.M) {
	if os.Getenv(asDemo) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// newDemo returns a command for the demo, which must remove its temporary files, and must not see what somebody has set
// for the CLI and the provider.
func newDemo(t *testing.T) *exec.Cmd {
	t.Helper()
	clitest.SkipUnlessAcc(t)
	tmp := t.TempDir()
	t.Cleanup(func() {
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("not removed: %v, %v", left, err)
		}
	})
	demo := exec.CommandContext(t.Context(), os.Args[0])
	demo.Env = append(os.Environ(), asDemo+"=1", "TMPDIR="+tmp, "TF_CLI_ARGS=-help", "STREAM_DETECT_DRIFT=neither")
	return demo
}

// TestAccDemo runs the demo, and compares the output with what the README shows of it.
func TestAccDemo(t *testing.T) {
	t.Parallel()
	out, err := newDemo(t).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := string(out)
	streamstest.WantText(t, text, "The demo succeeded.", "No changes.", "Error: Conflicting Processor Sets", "STREAM_DETECT_DRIFT=true")
	for _, refused := range []string{"Warning:", "\x1b"} {
		if strings.Contains(text, refused) {
			t.Errorf("the output has %q:\n%s", refused, text)
		}
	}

	shown := regexp.MustCompile("(?ms)^```text\n(.*?)^```").FindStringSubmatch(clitest.ReadFile(t, "../../../README.md"))
	if shown == nil {
		t.Fatal("the README does not show the demo")
	}
	if program, err := cli.Find(); err == nil && cli.IsTofu(program) {
		text = strings.ReplaceAll(text, "$ tofu", "$ terraform")
	}
	const heading = "\n━━━ "
	for part := range strings.SplitSeq("\n"+shown[1], heading) {
		title, lines, _ := strings.Cut(part, "\n")
		_, left, found := strings.Cut(text, heading+title+"\n")
		if title != "" && !found {
			t.Errorf("the README shows a step that the demo does not have: %s", title)
		}
		left, _, _ = strings.Cut("\n"+left, heading)
		for line := range strings.Lines(lines) {
			_, after, found := strings.Cut(left, "\n"+line)
			if !found && line != "\n" {
				t.Errorf("the README shows a line that step %s does not print, or not there: %s", title, line)
			} else if found {
				left = "\n" + after
			}
		}
	}
}

// TestAccNoCLI runs the demo without a CLI and without a network: it says what to install.
func TestAccNoCLI(t *testing.T) {
	t.Parallel()
	demo := newDemo(t)
	demo.Env = append(demo.Env, "PATH=", "TF_ACC_TERRAFORM_PATH=", "HTTPS_PROXY=http://127.0.0.1:1")
	out, err := demo.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("the demo ended with %v, want exit status 1", err)
	}
	streamstest.WantText(t, string(out), "The demo failed: it needs Terraform or OpenTofu", "TF_ACC_TERRAFORM_PATH", "https://opentofu.org/")
}

// TestAccInterrupt interrupts the demo while the CLI and the provider run.
func TestAccInterrupt(t *testing.T) {
	t.Parallel()
	demo := newDemo(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot interrupt another process")
	}
	stdout, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		shown.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "Creating...") {
			if err := demo.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := demo.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("the demo ended with %v, want exit status 130\n%s", err, shown.String())
	}
}
