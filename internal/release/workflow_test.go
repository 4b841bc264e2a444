package release

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWorkflow checks that the job that publishes runs each refusal once and in this order, and that no step
// is a shell script of its own.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	var got []string
	for _, command := range workflowSteps(t) {
		name := strings.Fields(strings.TrimPrefix(command, "go run ./internal/cmd/release "))[0]
		if strings.HasPrefix(command, "release ") {
			name = "goreleaser"
		}
		got = append(got, name)
		if strings.ContainsAny(command, ";|&<>`") || strings.Contains(command, "$(") {
			t.Errorf("a shell script: %s", command)
		}
	}
	want := []string{"check-source", "notes", "check-unpublished", "check-key", "goreleaser", "check", "rebuild", "publish"}
	if !slices.Equal(got, want) {
		t.Errorf("the steps are %q, want %q", got, want)
	}
	for _, line := range []string{
		"    needs: tests\n",
		"          GORELEASER_CURRENT_TAG: ${{ github.ref_name }} ",
	} {
		if !strings.Contains(publishJob(t), line) {
			t.Errorf("the job that publishes lacks %q", line)
		}
	}
}

// workflowLine matches a command of the release workflow, or the arguments of goreleaser.
var workflowLine = regexp.MustCompile(`(?m)^ +(?:- )?(?:run|args): (.*?)(?: # .*)?$`)

// workflowSteps returns the commands of the workflow's job that publishes, in their order.
func workflowSteps(t *testing.T) []string {
	t.Helper()
	var steps []string
	for _, match := range workflowLine.FindAllStringSubmatch(publishJob(t), -1) {
		steps = append(steps, strings.ReplaceAll(match[1], "${{ runner.temp }}", "$RUNNER_TEMP"))
	}
	return steps
}

// publishJob returns the text of the workflow's job that publishes.
func publishJob(t *testing.T) string {
	t.Helper()
	_, job, found := strings.Cut(string(read(t, filepath.Join(root, ".github", "workflows", "release.yml"))), "\n  publish:\n")
	if !found {
		t.Fatal("the release workflow has no job that publishes")
	}
	return job
}
