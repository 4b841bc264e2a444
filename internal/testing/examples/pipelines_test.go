package examples

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// TestAccPipelines runs the commands of the pipelines: those before the apply have no credentials and send nothing. Those
// after it have credentials, and find a change made outside Terraform. A run by hand repairs it.
func TestAccPipelines(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"github-actions.yml", "gitlab-ci.yml"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := startService(t, streamstest.Options{Authorize: streamstest.Bearer("t0ken"), ServeGet: true})
			w := newWorkspace(t, "provider", url)
			if strings.Contains(read(t, filepath.Join("pipelines", name)), "|| 'unused'") {
				w.Setenv("STREAM_DETECT_DRIFT=false", "STREAM_TOKEN=unused")
			}
			for _, line := range pipelineCommand.FindAllStringSubmatch(read(t, filepath.Join("pipelines", name)), -1) {
				if strings.HasPrefix(line[1], "apply ") {
					service.WantRequests(t)
					w.Setenv("STREAM_TOKEN=t0ken")
				}
				w.MustRun(strings.Fields(line[1])...)
				if strings.HasPrefix(line[1], "apply ") {
					service.WantRequests(t, setEntrance)
					w.Setenv("STREAM_DETECT_DRIFT=true")
				}
			}
			service.WantRequests(t, "GET /v2/streams/cam-1")
			service.Seed(streamstest.Stream{ID: "cam-1"})
			w.Plan("-lock=false").Want(2)
			w.Run("apply", "plan.tfplan").Want(1, "Saved plan is stale")
			w.MustRun("plan", "-lock=false", "-out=plan.tfplan")
			w.Setenv("STREAM_DETECT_DRIFT=")
			service.ForgetRequests()
			w.MustRun("apply", "-lock-timeout=10m", "plan.tfplan")
			service.WantRequests(t, setEntrance)
		})
	}
}

// A run by hand, which somebody may start on any branch, applies nothing that is not merged.
func TestPipelinesApplyProtectedBranch(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"github-actions.yml": `\n  apply:\n    if: github\.ref == 'refs/heads/main' `,
		"gitlab-ci.yml":      `\napply:\n(?:  .*\n)*?  rules:\n    - if: \$CI_COMMIT_BRANCH == \$CI_DEFAULT_BRANCH && \$CI_COMMIT_REF_PROTECTED == "true" && `,
	} {
		if !regexp.MustCompile(want).MatchString(read(t, filepath.Join("pipelines", name))) {
			t.Errorf("%s may apply any branch", name)
		}
	}
}

var pipelineCommand = regexp.MustCompile(`(?m)^ +- (?:run: )?terraform (.*)$`)
