package examples

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Each test here checks what a page says beyond its examples and commands.

const (
	setEntrance  = `PATCH /v2/streams/cam-1 {"processor_ids":["object-detection","people-counter"]}`
	setDetection = `PATCH /v2/streams/cam-1 {"processor_ids":["object-detection"]}`
)

func TestAccPageMigratingFromCurl(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	service, url := startService(t, streamstest.Options{})
	before, after := newWorkspace(t, "migrating/curl/before", url), newWorkspace(t, "migrating/curl/after", url)
	before.Env["TF_VAR_stream_base_url"] = url
	before.must("apply", "-auto-approve")
	after.write("terraform.tfstate", read(t, filepath.Join(before.dir, "terraform.tfstate")))
	service.ForgetRequests()
	wantText(t, after.must("plan"), "Plan: 1 to add, 0 to change, 0 to destroy", "will not be destroyed")
	service.WantRequests(t)
	after.must("apply", "-auto-approve")
	service.WantRequests(t, setEntrance) // no processor is detached
}

// A state of single resources becomes one of groups: nothing is emptied.
func TestAccPageLargeFleets(t *testing.T) {
	t.Parallel()
	service, url := startService(t, streamstest.Options{})
	single := newWorkspace(t, "existing-streams/create", url)
	single.edit("main.tf", `on_destroy = "keep"`, "")
	single.must("apply", "-auto-approve")
	service.ForgetRequests()
	groups := newWorkspace(t, "migrating/to-groups", url)
	groups.write("terraform.tfstate", read(t, filepath.Join(single.dir, "terraform.tfstate")))
	groups.must("apply", "-auto-approve")
	service.WantRequests(t, setEntrance, `PATCH /v2/streams/cam-2 {"processor_ids":["object-detection"]}`)
	groups.must("apply", "-auto-approve", `-replace=stream_processors_group.cameras["1"]`)
	service.WantRequests(t, setEntrance) // once, and never the empty set

	// With keep, new keys send each set once.
	keep := newWorkspace(t, "existing-streams/create", url)
	keep.must("apply", "-auto-approve")
	service.ForgetRequests()
	keep.edit("main.tf", "for_each = local.cameras", "for_each = { for id, ids in local.cameras : upper(id) => ids }")
	keep.edit("main.tf", "each.key", "lower(each.key)")
	keep.must("apply", "-auto-approve")
	service.WantRequests(t, setEntrance, `PATCH /v2/streams/cam-2 {"processor_ids":["object-detection"]}`, `PATCH /v2/streams/cam-3 {"processor_ids":[]}`)
}

// A query, or import blocks, write the configuration of streams as they are, and change none.
func TestAccPageAdopt(t *testing.T) {
	t.Parallel()
	reads := []string{"GET /v2/streams/cam-1", "GET /v2/streams/cam-2"}
	for folder, wantReads := range map[string][]string{
		"list-resources/stream_processors":  reads,
		"resources/stream_processors":       reads[:1],
		"resources/stream_processors_group": reads,
	} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			service, url := startService(t, streamstest.Options{ServeGet: true})
			service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"object-detection", "people-counter"}})
			w := newWorkspace(t, folder, url)
			w.Env["STREAM_DETECT_DRIFT"] = "true"
			if strings.HasPrefix(folder, "list") {
				w.must("query", "-generate-config-out=adopted.tf")
				service.WantRequests(t, wantReads...)
			} else {
				w.planImports(folder)
				service.ForgetRequests()
				wantText(t, w.must("plan"), "1 to import, 0 to add, 0 to change, 0 to destroy")
				service.WantRequests(t, wantReads...)
			}
			w.must("apply", "-auto-approve")
			wantText(t, w.must("plan"), "No changes.")
			for _, r := range service.Requests() {
				if r.Method != http.MethodGet {
					t.Errorf("the service has received %s", r)
				}
			}
		})
	}
}

// planImports writes the configuration of the import block of an example. Terraform 1.16 needs a line for that which every
// CLI refuses afterwards.
func (w *workspace) planImports(folder string) {
	w.t.Helper()
	resources, _ := filepath.Glob(filepath.Join(w.dir, "resource*.tf"))
	for _, file := range resources {
		if err := os.Remove(file); err != nil {
			w.t.Fatal(err)
		}
	}
	imports := read(w.t, filepath.Join(folder, "import-by-string-id.tf"))
	w.write("import.tf", imports)
	generate := []string{"plan", "-generate-config-out=adopted.tf"}
	if !cli.AtLeast(w.t, "1.16", "") {
		w.must(generate...)
		return
	}
	if out, err := w.Command(w.t.Context(), w.dir, generate...).CombinedOutput(); err == nil {
		return // a version with the correction
	} else {
		wantText(w.t, cli.Unwrap(string(out)), "failed to read schema for "+path.Base(folder), "unavailable provider")
	}
	w.edit("import.tf", "import {\n", "import {\n  provider = stream\n")
	w.must(generate...)
	wantText(w.t, w.status(1, "apply", "-auto-approve"), "Invalid import provider argument")
	w.write("import.tf", imports)
}

func TestAccPageExistingStreams(t *testing.T) {
	t.Parallel()
	service, url := startService(t, streamstest.Options{ServeGet: true})
	service.Seed(
		streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"object-detection", "people-counter"}},
		streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"face-blur"}})
	w := newWorkspace(t, "existing-streams/import", url)
	wantText(t, w.must("plan", "-out=plan.tfplan"), "3 to import, 0 to add, 1 to change, 0 to destroy")
	service.WantRequests(t, "GET /v2/streams/cam-1", "GET /v2/streams/cam-2", "GET /v2/streams/cam-3")
	w.must("apply", "plan.tfplan")
	service.WantRequests(t, `PATCH /v2/streams/cam-2 {"processor_ids":["object-detection"]}`)

	// To forget one instance.
	w.must("state", "rm", `stream_processors.camera["cam-2"]`)
	w.edit("cameras.csv", "cam-2,object-detection\n", "")
	w.edit("main.tf", "detect_drift = true", "")
	w.must("plan", "-detailed-exitcode")
}

// TestAccPageRecipes sends the sets again: with another value of the variable, without it, on the next day, and when a
// resource is replaced or tainted.
func TestAccPageRecipes(t *testing.T) {
	t.Parallel()
	service, url := startService(t, streamstest.Options{})
	w := newWorkspace(t, "recipes/send-again", url)
	both := []string{setDetection, strings.Replace(setDetection, "cam-1", "cam-2", 1)}
	for _, arguments := range [][]string{{}, {"-var=send_again=1"}, {}} {
		w.must(append([]string{"apply", "-auto-approve"}, arguments...)...)
		service.WantRequests(t, both...)
	}
	w.edit("main.tf", "var.send_again", `formatdate("YYYY-MM-DD", plantimestamp())`)
	w.must("apply", "-auto-approve")
	service.WantRequests(t, both...)
	w.must("apply", "-auto-approve", `-replace=stream_processors.camera["cam-1"]`)
	service.WantRequests(t, setDetection)
	w.must("taint", `stream_processors.camera["cam-1"]`)
	w.must("apply", "-auto-approve")
	service.WantRequests(t, setDetection)
}

// TestAccPipelines runs the commands of the pipelines: those that plan have no credentials and send nothing.
func TestAccPipelines(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"github-actions.yml", "gitlab-ci.yml"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := startService(t, streamstest.Options{Authorize: streamstest.Bearer("t0ken")})
			w := newWorkspace(t, "provider", url)
			for _, line := range pipelineCommand.FindAllStringSubmatch(read(t, filepath.Join("pipelines", name)), -1) {
				if strings.HasPrefix(line[1], "apply ") {
					service.WantRequests(t)
					w.Env["STREAM_TOKEN"] = "t0ken"
				}
				w.must(strings.Fields(line[1])...)
			}
			service.WantRequests(t, setEntrance)
			wantText(t, w.status(1, "apply", "plan.tfplan"), "Saved plan is stale")
		})
	}
}

var pipelineCommand = regexp.MustCompile(`(?m)^ +- (?:run: )?terraform (.*)$`)

// TestAccPageInstalling installs the provider with the CLI configurations of the page.
func TestAccPageInstalling(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "provider", "http://127.0.0.1:1")
	use := func(name, from, to string) {
		config := read(t, filepath.Join("installing", name))
		if !strings.Contains(config, from) {
			t.Fatalf("%s has no %s", name, from)
		}
		w.write(name, strings.Replace(config, from, to, 1))
		w.Env["TF_CLI_CONFIG_FILE"] = filepath.Join(w.dir, name)
	}
	use("filesystem-mirror.tfrc", "/srv/terraform/providers", filepath.ToSlash(w.Mirror))
	w.must("providers", "lock", "-fs-mirror="+w.Mirror, "-platform="+runtime.GOOS+"_"+runtime.GOARCH)
	uninstall := func() {
		if err := os.RemoveAll(filepath.Join(w.dir, ".terraform")); err != nil {
			t.Fatal(err)
		}
	}
	uninstall()
	wantText(t, w.must("init", "-lockfile=readonly"), "Installing "+strings.ToLower(cli.Source)+" v0.1.0")
	uninstall()
	use("network-mirror.tfrc", "mirror.example.com", "127.0.0.1:1")
	wantText(t, w.status(1, "init"), "127.0.0.1:1") // asked before anything else
}

// TestPageAuthentication runs the scripts that pass on the token of a CI system.
func TestPageAuthentication(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"sh", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer request-token" || r.FormValue("audience") != "https://login.example.com" {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = w.Write([]byte(`{"value":"a.b.c"}`))
	}))
	t.Cleanup(github.Close)
	folder := filepath.Join("authentication", "client-assertion")
	step := regexp.MustCompile(`(?s)run: \|\n(.*)`).FindStringSubmatch(read(t, filepath.Join(folder, "github-actions.yml")))
	for name, test := range map[string]struct{ script, wantFile, wantEnv string }{
		"GitHub":       {step[1], "a.b.c", "STREAM_OAUTH2_CLIENT_ASSERTION_FILE=%s/assertion"},
		"agent's hook": {read(t, filepath.Join(folder, "agent-hook.sh")), "", "STREAM_OAUTH2_CLIENT_ASSERTION=a.b.c"},
	} {
		dir := t.TempDir()
		script := exec.CommandContext(t.Context(), "sh", "-euc", test.script)
		script.Env = append(os.Environ(), "AUDIENCE=https://login.example.com", "RUNNER_TEMP="+dir, "GITHUB_ENV="+filepath.Join(dir, "env"),
			"ACTIONS_ID_TOKEN_REQUEST_TOKEN=request-token", "ACTIONS_ID_TOKEN_REQUEST_URL="+github.URL+"?api-version=2",
			"TFC_AGENT_ENV="+filepath.Join(dir, "env"), "TFC_WORKLOAD_IDENTITY_TOKEN=a.b.c")
		if out, err := script.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if got := strings.TrimSpace(read(t, filepath.Join(dir, "assertion"))); got != test.wantFile {
			t.Errorf("%s: the assertion is %q", name, got)
		}
		if got, want := strings.TrimSpace(read(t, filepath.Join(dir, "env"))), strings.Replace(test.wantEnv, "%s", dir, 1); got != want {
			t.Errorf("%s: the environment is %q, want %q", name, got, want)
		}
	}
}
