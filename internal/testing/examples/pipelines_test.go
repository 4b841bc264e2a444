package examples

import (
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// TestAccPipelines runs the commands of the pipelines: those before the apply only read, with a token that may not update,
// or send nothing if the service does not serve GET. The job for drift finds a change made outside Terraform, and a run by
// hand repairs it.
func TestAccPipelines(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"github-actions.yml", "gitlab-ci.yml"} {
		pipeline := read(t, filepath.Join("pipelines", name))
		if !strings.Contains(pipeline, "\n  STREAM_DETECT_DRIFT: \"true\" # remove this") {
			t.Fatalf("%s does not read", name)
		}
		for _, drift := range []string{"true", "false"} {
			t.Run(name+"/detect_drift="+drift, func(t *testing.T) {
				t.Parallel()
				service, url := startService(t, streamstest.Options{Authorize: readOrUpdate, ServeGet: drift == "true"})
				w := newWorkspace(t, "provider", url)
				w.Setenv("STREAM_DETECT_DRIFT="+drift, "STREAM_TOKEN=read")
				reads := []string{"GET /v2/streams/cam-1"}
				if drift == "false" {
					reads = nil
				}
				for _, line := range pipelineCommand.FindAllStringSubmatch(pipeline, -1) {
					apply := strings.HasPrefix(line[1], "apply ")
					if apply {
						service.WantRequests(t, reads...)
						w.Setenv("STREAM_TOKEN=t0ken")
					}
					w.MustRun(strings.Fields(line[1])...)
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
		if !regexp.MustCompile(want).MatchString(read(t, filepath.Join("pipelines", name))) {
			t.Errorf("%s may apply any branch", name)
		}
	}
}

var pipelineCommand = regexp.MustCompile(`(?m)^ +- (?:run: )?terraform (.*)$`)
