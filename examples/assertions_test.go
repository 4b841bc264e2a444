package examples

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const audience = "https://login.example.com"

// assertionExample is the example of a client assertion, with a token endpoint that trusts an issuer.
func assertionExample(t *testing.T) (dir string, sandbox *cli.Sandbox, issuer *streamstest.Assertions) {
	t.Helper()
	sandbox = newSandbox(t)
	issuer = streamstest.NewAssertions(t, audience)
	tokens := &streamstest.TokenServer{ClientID: "terraform", Assertions: issuer}
	endpoint := httptest.NewServer(tokens)
	t.Cleanup(endpoint.Close)
	_, url := streamstest.Start(t, streamstest.Options{Authorize: tokens.Authorize}, streamstest.Streams("cam-1")...)
	sandbox.Env["TF_VAR_base_url"] = url
	sandbox.Env["TF_VAR_token_url"] = endpoint.URL
	sandbox.Env["TF_VAR_client_id"] = tokens.ClientID
	return initialized(t, sandbox, "authentication/client-assertion", ""), sandbox, issuer
}

// TestAccAssertionOfGitHub runs the step that requests an ID token, with a server in place of GitHub's, and applies with
// the environment that the step made.
func TestAccAssertionOfGitHub(t *testing.T) {
	t.Parallel()
	dir, sandbox, issuer := assertionExample(t)
	for _, program := range []string{"sh", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	var workflow struct {
		Permissions map[string]string
		Jobs        struct {
			Apply struct {
				RunsOn string `json:"runs-on"`
				Env    map[string]string
				Steps  []struct{ Name, Run string }
			}
		}
	}
	decodeYAML(t, sandbox, "authentication/client-assertion", "github-actions.yml", &workflow)
	job := workflow.Jobs.Apply
	if workflow.Permissions["id-token"] != "write" || job.Env["AUDIENCE"] != audience || len(job.Steps) != 1 {
		t.Fatalf("workflow %+v", workflow)
	}
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer request-token" || r.FormValue("audience") != audience || r.FormValue("api-version") != "2" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"value": issuer.Issue("terraform", time.Minute)})
	}))
	t.Cleanup(github.Close)
	temp := t.TempDir()
	environment := filepath.Join(temp, "environment")
	step := exec.CommandContext(t.Context(), "sh", "-e", "-c", job.Steps[0].Run)
	step.Env = append(os.Environ(), "AUDIENCE="+audience, "RUNNER_TEMP="+temp, "GITHUB_ENV="+environment,
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN=request-token", "ACTIONS_ID_TOKEN_REQUEST_URL="+github.URL+"?api-version=2")
	if out, err := step.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(read(t, environment)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		sandbox.Env[name] = value
	}
	mustRun(t, sandbox, dir, "apply", "-auto-approve")
}

// TestAccAssertionOfGitLab applies with the variable that the pipeline names for the ID token.
func TestAccAssertionOfGitLab(t *testing.T) {
	t.Parallel()
	dir, sandbox, issuer := assertionExample(t)
	var pipeline struct {
		Apply struct {
			Tokens map[string]struct{ Aud string } `json:"id_tokens"`
			Script []string
		}
	}
	decodeYAML(t, sandbox, "authentication/client-assertion", "gitlab-ci.yml", &pipeline)
	for variable, token := range pipeline.Apply.Tokens {
		if token.Aud != audience {
			t.Errorf("the audience of %s is %q", variable, token.Aud)
		}
		sandbox.Env[variable] = issuer.Issue("terraform", time.Minute)
	}
	for _, line := range pipeline.Apply.Script {
		runLine(t, sandbox, dir, line)
	}
}
