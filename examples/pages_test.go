package examples

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Each test here is named after a page, and checks what the page says beyond its examples.

func TestAccPageExistingStreamsCreate(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	dir := initialized(t, sandbox, "existing-streams/create", "")
	const streams = 500
	var want []string
	list := "stream_id,processor_ids\n"
	for i := range streams {
		id := fmt.Sprintf("gate-%03d", i)
		list += id + ",object-detection\n"
		service.Seed(streamstest.Stream{ID: id, ProcessorIDs: []string{"object-detection", "other"}})
		want = append(want, `PATCH /v2/streams/`+id+` {"processor_ids":["object-detection"]} → 200`)
	}
	if err := os.WriteFile(filepath.Join(dir, "cameras.csv"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}

	mustRun(t, sandbox, dir, "plan", "-out=plan.tfplan")
	wantRequests(t, service)
	wantText(t, mustRun(t, sandbox, dir, "apply", "-parallelism=30", "plan.tfplan"), "500 added, 0 changed, 0 destroyed")
	var got []string
	for _, r := range service.Requests() {
		got = append(got, r.String())
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	service.ForgetRequests()

	// A stream that leaves the list keeps its processors.
	replace(t, filepath.Join(dir, "cameras.csv"), "gate-007,object-detection\n", "")
	wantText(t, mustRun(t, sandbox, dir, "apply", "-auto-approve"), "0 added, 0 changed, 1 destroyed")
	wantRequests(t, service)
}

func TestAccPageExistingStreamsImport(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		drift       string
		plan        string
		sentByPlan  []string
		sentByApply []string
	}{
		"with detect_drift": {
			drift:       "true",
			plan:        "3 to import, 0 to add, 1 to change, 0 to destroy",
			sentByPlan:  []string{"GET /v2/streams/cam-1 → 200", "GET /v2/streams/cam-2 → 200", "GET /v2/streams/cam-3 → 200"},
			sentByApply: []string{`PATCH /v2/streams/cam-2 {"processor_ids":["object-detection"]} → 200`},
		},
		"without": {
			drift: "false",
			plan:  "3 to import, 0 to add, 3 to change, 0 to destroy",
			sentByApply: []string{
				`PATCH /v2/streams/cam-1 {"processor_ids":["object-detection","people-counter"]} → 200`,
				`PATCH /v2/streams/cam-2 {"processor_ids":["object-detection"]} → 200`,
				`PATCH /v2/streams/cam-3 {"processor_ids":[]} → 200`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, sandbox := startService(t)
			service.Configure(func(o *streamstest.Options) { o.ServeGet = true })
			dir := initialized(t, sandbox, "existing-streams/import", "")
			replace(t, filepath.Join(dir, "main.tf"), "detect_drift = true", "detect_drift = "+test.drift)
			service.Seed(
				streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"object-detection", "people-counter"}},
				streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"face-blur"}})

			wantText(t, mustRun(t, sandbox, dir, "plan", "-out=plan.tfplan"), test.plan)
			wantSortedRequests(t, service, test.sentByPlan)
			mustRun(t, sandbox, dir, "apply", "plan.tfplan")
			wantSortedRequests(t, service, test.sentByApply)
			mustRun(t, sandbox, dir, "plan", "-detailed-exitcode")
		})
	}
}

func wantSortedRequests(t *testing.T, service *streamstest.Service, want []string) {
	t.Helper()
	var got []string
	for _, r := range service.Requests() {
		got = append(got, r.String())
	}
	service.ForgetRequests()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestAccPageExistingStreamsGenerate checks what -generate-config-out writes.
func TestAccPageExistingStreamsGenerate(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	service.Configure(func(o *streamstest.Options) { o.ServeGet = true })
	service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"object-detection"}})
	dir := initialized(t, sandbox, "resources/stream_processors", "import-by-string-id.tf")
	for _, name := range []string{"resource.tf", "resource_for_each.tf", "resource_options.tf"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}

	mustFail(t, sandbox, dir, "plan", "-generate-config-out=without.tf")
	written := read(t, filepath.Join(dir, "without.tf"))
	wantText(t, written, `stream_id     = "cam-1"`, "processor_ids = null")
	wantRequests(t, service)
	if err := os.Remove(filepath.Join(dir, "without.tf")); err != nil {
		t.Fatal(err)
	}

	sandbox.Env["STREAM_DETECT_DRIFT"] = "true"
	wantText(t, mustRun(t, sandbox, dir, "plan", "-generate-config-out=with.tf"), "1 to import, 0 to add, 0 to change")
	wantText(t, read(t, filepath.Join(dir, "with.tf")), `stream_id     = "cam-1"`, `processor_ids = ["object-detection"]`)
	service.ForgetRequests()
}

func TestAccPageSeveralTeams(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	dir := initialized(t, sandbox, "several-teams", "")

	wantPassed(t, mustRun(t, newSandbox(t), dir, "test"), "2 passed, 0 failed")
	wantRequests(t, service)
	mustRun(t, sandbox, dir, "apply", "-auto-approve")
	wantAttached(t, service, map[string]string{
		"cam-1": "face-blur object-detection plate-reader",
		"cam-2": "object-detection",
		"cam-3": "plate-reader",
	})
}

// TestAccPageIDs checks that the service receives ids in Unicode normalization form NFC, whatever the configuration has.
func TestAccPageIDs(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	dir := initialized(t, sandbox, "provider", "")
	service.Seed(streamstest.Stream{ID: "entr\u00e9e"})
	replace(t, filepath.Join(dir, "provider.tf"), `"cam-1"`, "\"entre\u0301e\"")
	replace(t, filepath.Join(dir, "provider.tf"), `"people-counter"`, "\"e\u0301-counter\"")

	mustRun(t, sandbox, dir, "apply", "-auto-approve")
	wantRequests(t, service, "PATCH /v2/streams/entr%C3%A9e {\"processor_ids\":[\"object-detection\",\"\u00e9-counter\"]} → 200")
}

// TestAccPagePipelines checks what the page says about credentials, saved plans and exit statuses.
func TestAccPagePipelines(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	service.Configure(func(o *streamstest.Options) { o.Authorize = streamstest.Bearer("t0ken") })
	dir := initialized(t, sandbox, "provider", "")

	// A plan needs an address, but neither credentials nor a service.
	wantStatus(t, sandbox, dir, 2, "plan", "-detailed-exitcode")
	wantRequests(t, service)
	address := sandbox.Env["STREAM_BASE_URL"]
	sandbox.Env["STREAM_BASE_URL"] = "https://streams.invalid"
	wantStatus(t, sandbox, dir, 2, "plan", "-detailed-exitcode", "-out=plan.tfplan")
	delete(sandbox.Env, "STREAM_BASE_URL")
	wantText(t, wantStatus(t, sandbox, dir, 1, "plan", "-detailed-exitcode"), "STREAM_BASE_URL")
	mustRun(t, sandbox, dir, "validate")

	// The apply of the saved plan reads the address and the credentials from its own environment.
	sandbox.Env["STREAM_BASE_URL"] = address
	wantText(t, wantStatus(t, sandbox, dir, 1, "apply", "plan.tfplan"), "Authentication Error", "The stream was not changed.")
	service.ForgetRequests()
	sandbox.Env["STREAM_TOKEN"] = "t0ken"
	wantStatus(t, sandbox, dir, 0, "plan", "-out=plan.tfplan")
	wantStatus(t, sandbox, dir, 0, "apply", "plan.tfplan")
	wantRequests(t, service, `PATCH /v2/streams/cam-1 {"processor_ids":["object-detection","people-counter"]} → 200`)
	wantStatus(t, sandbox, dir, 0, "plan", "-detailed-exitcode")
	wantText(t, wantStatus(t, sandbox, dir, 1, "apply", "plan.tfplan"), "Saved plan is stale")

	// After an unknown outcome, the next plan sends the set again.
	replace(t, filepath.Join(dir, "provider.tf"), `"people-counter"`, `"face-blur"`)
	wantStatus(t, sandbox, dir, 0, "plan", "-out=plan.tfplan")
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault { return &streamstest.Fault{ResetAfter: true} })
	replace(t, filepath.Join(dir, "provider.tf"), `provider "stream" {}`, "provider \"stream\" {\n  retry = { max_attempts = 1 }\n}")
	wantStatus(t, sandbox, dir, 0, "plan", "-out=plan.tfplan")
	wantText(t, wantStatus(t, sandbox, dir, 1, "apply", "plan.tfplan"), "The stream may or may not have been changed")
	service.InjectFunc(nil)
	service.ForgetRequests()
	wantStatus(t, sandbox, dir, 2, "plan", "-detailed-exitcode", "-out=plan.tfplan")
	wantStatus(t, sandbox, dir, 0, "apply", "plan.tfplan")
	wantRequests(t, service, `PATCH /v2/streams/cam-1 {"processor_ids":["face-blur","object-detection"]} → 200`)
}

// wantStatus runs the CLI, fails the test unless it ends with this exit status, and returns its output on one line.
func wantStatus(t *testing.T, sandbox *cli.Sandbox, dir string, status int, args ...string) string {
	t.Helper()
	cmd := sandbox.Command(t.Context(), dir, append(args[:1:1], append([]string{"-no-color"}, args[1:]...)...)...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		t.Fatalf("%s: %v, want exit status %d\n%s", strings.Join(args, " "), err, status, out)
	}
	return cli.Unwrap(string(out))
}

// TestAccPageInstalling installs the provider from the mirror of the CLI configuration in the example, and records the
// checksums for the platform without a registry.
func TestAccPageInstalling(t *testing.T) {
	t.Parallel()
	_, sandbox := startService(t)
	dir := initialized(t, sandbox, "provider", "")
	for _, name := range []string{".terraform", ".terraform.lock.hcl"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	config := read(t, filepath.Join("installing", "filesystem-mirror.tfrc"))
	const path = "/srv/terraform/providers"
	if strings.Count(config, path) != 1 {
		t.Fatalf("no %s in:\n%s", path, config)
	}
	config = strings.Replace(config, path, filepath.ToSlash(sandbox.Mirror), 1)
	if cli.IsTofu(sandbox.Program) { // as the page says
		config = strings.ReplaceAll(config, "registry.terraform.io", "registry.opentofu.org")
	}
	file := filepath.Join(t.TempDir(), "mirror.tfrc")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	sandbox.Env["TF_CLI_CONFIG_FILE"] = file
	platform, err := exec.Command("go", "env", "GOOS", "GOARCH").Output()
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, sandbox, dir, "providers", "lock", "-fs-mirror="+sandbox.Mirror, "-platform="+strings.Join(strings.Fields(string(platform)), "_"))
	lock := read(t, filepath.Join(dir, ".terraform.lock.hcl"))
	wantText(t, mustRun(t, sandbox, dir, "init", "-lockfile=readonly"), "Installing stream-management/stream v0.1.0")
	if after := read(t, filepath.Join(dir, ".terraform.lock.hcl")); after != lock {
		t.Errorf("init has changed the lock file:\n%s", after)
	}

	// A network mirror is asked before anything else: the mirror of the example does not exist.
	if err := os.RemoveAll(filepath.Join(dir, ".terraform")); err != nil {
		t.Fatal(err)
	}
	network := strings.Replace(read(t, filepath.Join("installing", "network-mirror.tfrc")), "mirror.example.com", "127.0.0.1:1", 1)
	if err := os.WriteFile(file, []byte(network), 0o600); err != nil {
		t.Fatal(err)
	}
	wantText(t, mustFail(t, sandbox, dir, "init"), "127.0.0.1:1")
}
