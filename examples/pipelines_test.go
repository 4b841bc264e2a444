package examples

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
)

// TestAccPipelines parses the pipelines, and runs their commands in order: those for a merge request without
// credentials and without a service, and those that apply.
func TestAccPipelines(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"github-actions.yml", "gitlab-ci.yml"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, sandbox := startService(t)
			dir := initialized(t, sandbox, "provider", "")
			plan, apply := pipelineCommands(t, sandbox, name)
			if len(plan) != 2 || len(apply) != 3 {
				t.Fatalf("commands: %q, %q", plan, apply)
			}
			if err := os.RemoveAll(filepath.Join(dir, ".terraform")); err != nil {
				t.Fatal(err)
			}
			for _, variable := range []string{"TF_IN_AUTOMATION=1", "TF_INPUT=0"} {
				key, value, _ := strings.Cut(variable, "=")
				sandbox.Env[key] = value
			}
			for _, line := range plan {
				runLine(t, sandbox, dir, line)
			}
			wantRequests(t, service)
			for _, line := range apply {
				runLine(t, sandbox, dir, line)
			}
			wantRequests(t, service, `PATCH /v2/streams/cam-1 {"processor_ids":["object-detection","people-counter"]} → 200`)
		})
	}
}

// githubWorkflow and gitlabPipeline have the keywords that the examples use. Any other keyword is an error, so a
// misspelled one is found.
type githubWorkflow struct {
	Name        string
	On          any `json:"true"` // YAML 1.1 reads the key "on" as true
	Permissions map[string]string
	Concurrency struct {
		Group  string
		Cancel bool `json:"cancel-in-progress"`
	}
	Env  map[string]string
	Jobs struct {
		Plan, Apply struct {
			If          string
			RunsOn      string `json:"runs-on"`
			Environment string
			Steps       []struct {
				Uses, Run string
				Env       map[string]string
			}
		}
	}
}

type gitlabPipeline struct {
	Image struct {
		Name       string
		Entrypoint []string
	}
	Variables   map[string]string
	Stages      []string
	Plan, Apply struct {
		Stage, Environment string
		ResourceGroup      string `json:"resource_group"`
		Interruptible      *bool
		Script             []string
		Rules              []struct{ If string }
	}
}

// pipelineCommands returns the commands of the jobs plan and apply.
func pipelineCommands(t *testing.T, sandbox *cli.Sandbox, name string) (plan, apply []string) {
	t.Helper()
	if name == "gitlab-ci.yml" {
		var pipeline gitlabPipeline
		decodeYAML(t, sandbox, "pipelines", name, &pipeline)
		if !slices.Equal(pipeline.Stages, []string{pipeline.Plan.Stage, pipeline.Apply.Stage}) {
			t.Errorf("the stages are %q", pipeline.Stages)
		}
		return pipeline.Plan.Script, pipeline.Apply.Script
	}
	var workflow githubWorkflow
	decodeYAML(t, sandbox, "pipelines", name, &workflow)
	for _, step := range slices.Concat(workflow.Jobs.Plan.Steps, workflow.Jobs.Apply.Steps) {
		if step.Uses != "" && !pinned.MatchString(step.Uses) {
			t.Errorf("%s is not pinned by a commit", step.Uses)
		}
	}
	for _, step := range workflow.Jobs.Plan.Steps {
		plan = append(plan, step.Run)
		if step.Env != nil {
			t.Errorf("the step %q of the plan has an environment, such as a secret", step.Run)
		}
	}
	for _, step := range workflow.Jobs.Apply.Steps {
		apply = append(apply, step.Run)
	}
	isUses := func(run string) bool { return run == "" }
	return slices.DeleteFunc(plan, isUses), slices.DeleteFunc(apply, isUses)
}

var pinned = regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`)

// decodeYAML parses a pipeline. The CLI is the YAML parser.
func decodeYAML(t *testing.T, sandbox *cli.Sandbox, folder, name string, into any) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(read(t, filepath.Join(folder, name))), 0o600); err != nil {
		t.Fatal(err)
	}
	console := sandbox.Command(t.Context(), dir, "console")
	console.Stdin = strings.NewReader(`jsonencode(yamldecode(file("` + name + `")))` + "\n")
	out, err := console.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var text string
	if err := json.Unmarshal(out, &text); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// runLine runs a command like "terraform plan".
func runLine(t *testing.T, sandbox *cli.Sandbox, dir, line string) {
	t.Helper()
	args := strings.Fields(line)
	if args[0] != "terraform" {
		t.Fatalf("not a command of the CLI: %s", line)
	}
	mustRun(t, sandbox, dir, args[1:]...)
}
