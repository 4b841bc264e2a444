package examples

import (
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// TestAccPipelines runs the commands of both pipelines: those before the apply only read, with a token that may not update,
// or send nothing if the service does not serve GET. The job for drift finds a change made outside Terraform, and a run by
// hand repairs it.
func TestAccPipelines(t *testing.T) {
	t.Parallel()
	commands := pipelineCommands(t, "pipelines/github-actions.yml")
	if other := pipelineCommands(t, "pipelines/gitlab-ci.yml"); !slices.Equal(commands, other) {
		t.Errorf("GitHub runs %q, and GitLab %q", commands, other)
	}
	for drift, reads := range map[string][]string{"true": {"GET /v2/streams/cam-1"}, "false": nil} {
		t.Run("detect_drift="+drift, func(t *testing.T) {
			t.Parallel()
			service, url := startService(t, streamstest.Options{Authorize: readOrUpdate, ServeGet: drift == "true"})
			w := newWorkspace(t, "provider", url)
			w.Setenv("STREAM_DETECT_DRIFT="+drift, "STREAM_TOKEN=read")
			for _, command := range commands {
				apply := strings.HasPrefix(command, "apply ")
				if apply {
					service.WantRequests(t, reads...)
					w.Setenv("STREAM_TOKEN=t0ken")
				}
				w.MustRun(strings.Fields(command)...)
				if apply {
					service.WantRequests(t, append(reads, setEntrance)...)
					w.Setenv("STREAM_TOKEN=read")
				}
			}
			if drift == "false" {
				return
			}
			service.Seed(streamstest.Stream{ID: "cam-1"})
			w.Plan("-lock=false", "-out=plan.tfplan").Want(2)
			service.ForgetRequests()
			w.Setenv("STREAM_TOKEN=t0ken")
			w.MustApply("-lock-timeout=10m", "plan.tfplan")
			service.WantRequests(t, setEntrance)
			w.Run("apply", "plan.tfplan").Want(1, "Saved plan is stale")
		})
	}
}

// readOrUpdate accepts one token for reads, and one for everything.
func readOrUpdate(r *http.Request) error {
	if r.Method == http.MethodGet && streamstest.Bearer("read")(r) == nil {
		return nil
	}
	return streamstest.Bearer("t0ken")(r)
}

// A run by hand, which somebody may start on any branch, applies nothing that is not merged.
func TestPipelinesApplyProtectedBranch(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"github-actions.yml": `\n  apply:\n    if: github\.ref == 'refs/heads/main' `,
		"gitlab-ci.yml": `\napply:\n(?:  .*\n)*?  rules:\n` +
			`    - if: \$CI_COMMIT_BRANCH == \$CI_DEFAULT_BRANCH && \$CI_COMMIT_REF_PROTECTED == "true" && `,
	} {
		pipeline := read(t, filepath.Join("pipelines", name))
		if !regexp.MustCompile(want).MatchString(pipeline) {
			t.Errorf("%s may apply any branch", name)
		}
		if !strings.Contains(pipeline, "\n  STREAM_DETECT_DRIFT: \"true\" # remove this") {
			t.Errorf("the plans of %s do not read", name)
		}
	}
}

// pipelineCommands returns the arguments of the CLI in the jobs of a pipeline, but not in one of tests.
func pipelineCommands(t *testing.T, file string) (found []string) {
	t.Helper()
	jobs := regexp.MustCompile(`\n *plan:\n`).Split(read(t, file), 2)[1]
	for _, line := range regexp.MustCompile(`(?m)^ +- (?:run: )?terraform (.*)$`).FindAllStringSubmatch(jobs, -1) {
		found = append(found, line[1])
	}
	return found
}
