package examples

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// applied lists the examples that need no change to run, with the processors of each stream after an apply and
// after a destroy.
var applied = []struct {
	folder, importFile string
	attached, detached map[string]string
}{
	{folder: "provider", attached: map[string]string{"cam-1": "object-detection people-counter"}},
	{folder: "fleet", attached: resourceGroups["fleet"]},
	{folder: "resources/stream_processors_group", attached: resourceGroups["resource"], detached: resourceGroups["kept"]},
	{folder: "fleet-csv", attached: fleet},
	{folder: "fleet-yaml", attached: fleet},
	{folder: "resources/stream_processors", attached: resources, detached: cam2Kept},
	{folder: "resources/stream_processors", importFile: "import-by-string-id.tf", attached: resources, detached: cam2Kept},
	{folder: "resources/stream_processors", importFile: "import-by-identity.tf", attached: resources, detached: cam2Kept},
	{folder: "actions/stream_set_processors", attached: actions, detached: actions},
}

var (
	resources = map[string]string{
		"cam-1": "object-detection people-counter",
		"cam-2": "object-detection plate-reader",
		"cam-3": "object-detection",
		"cam-4": "face-blur object-detection",
	}
	resourceGroups = map[string]map[string]string{
		"fleet": {
			"cam-1": "object-detection people-counter", "cam-2": "object-detection",
			"cam-4": "object-detection", "cam-5": "face-blur object-detection",
		},
		"resource": {
			"cam-1": "object-detection people-counter", "cam-2": "object-detection",
			"cam-4": "object-detection plate-reader", "cam-5": "object-detection",
		},
		"kept": {"cam-4": "object-detection plate-reader", "cam-5": "object-detection"},
	}
	fleet    = map[string]string{"cam-1": "object-detection people-counter", "cam-2": "object-detection"}
	cam2Kept = map[string]string{"cam-2": "object-detection plate-reader"}
	actions  = map[string]string{"cam-2": "object-detection"}
)

// TestAccApply applies the examples that only need a base URL, plans them again, and destroys them.
func TestAccApply(t *testing.T) {
	t.Parallel()
	for _, example := range applied {
		t.Run(path.Join(example.folder, example.importFile), func(t *testing.T) {
			t.Parallel()
			service, sandbox := startService(t)
			dir := initialized(t, sandbox, example.folder, example.importFile)

			mustRun(t, sandbox, dir, "apply", "-auto-approve")
			wantAttached(t, service, example.attached)
			service.ForgetRequests()

			mustRun(t, sandbox, dir, "plan", "-detailed-exitcode")
			wantRequests(t, service)

			mustRun(t, sandbox, dir, "destroy", "-auto-approve")
			wantAttached(t, service, example.detached)
		})
	}
}

// TestAccInvoke runs the action with the command from its example.
func TestAccInvoke(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	dir := initialized(t, sandbox, "actions/stream_set_processors", "")
	service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"object-detection"}})

	mustRun(t, sandbox, dir, "apply", "-auto-approve", "-invoke=action.stream_set_processors.pause")
	wantRequests(t, service, `PATCH /v2/streams/cam-1 {"processor_ids":[]} → 200`)
}

// TestAccMigratingFromCurl migrates from terraform_data with curl. No processor is detached meanwhile.
func TestAccMigratingFromCurl(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	service, sandbox := startService(t)
	sandbox.Env["TF_VAR_stream_base_url"] = sandbox.Env["STREAM_BASE_URL"]
	after := initialized(t, sandbox, "migrating/curl/after", "")
	before := filepath.Join(after, "..", "before")

	mustRun(t, sandbox, before, "init")
	mustRun(t, sandbox, before, "apply", "-auto-approve")
	if err := os.Rename(filepath.Join(before, "terraform.tfstate"), filepath.Join(after, "terraform.tfstate")); err != nil {
		t.Fatal(err)
	}
	service.ForgetRequests()

	plan := mustRun(t, sandbox, after, "plan")
	if !strings.Contains(plan, "Plan: 1 to import, 0 to add, 1 to change, 0 to destroy") {
		t.Errorf("want one import and one change, as in the guide:\n%s", plan)
	}
	wantRequests(t, service)

	mustRun(t, sandbox, after, "apply", "-auto-approve")
	wantRequests(t, service, `PATCH /v2/streams/cam-1 {"processor_ids":["object-detection","people-counter"]} → 200`)
	mustRun(t, sandbox, after, "plan", "-detailed-exitcode")
}

// TestAccModuleTests runs the tests of the module in terraform-test: first, without a service, the tests that
// mock the provider; then all tests on the stand-in service.
func TestAccModuleTests(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	dir := initialized(t, sandbox, "terraform-test", "")

	wantPassed(t, mustRun(t, newSandbox(t), dir, "test", "-filter=tests/unit.tftest.hcl"), "2 passed, 0 failed")
	wantRequests(t, service)

	wantPassed(t, mustRun(t, sandbox, dir, "test"), "4 passed, 0 failed")
	wantAttached(t, service, nil)
}

// TestAccFleetTests runs the tests of the fleet, which mock the provider.
func TestAccFleetTests(t *testing.T) {
	t.Parallel()
	sandbox := newSandbox(t)
	dir := initialized(t, sandbox, "fleet", "")
	wantPassed(t, mustRun(t, sandbox, dir, "test"), "4 passed, 0 failed")
}

func wantPassed(t *testing.T, out, want string) {
	t.Helper()
	if !strings.Contains(out, want) {
		t.Errorf("no %q in:\n%s", want, out)
	}
}

// startService starts a stand-in service with the streams of the examples. It returns the service, and a CLI
// that has the service's base URL in its environment.
func startService(t *testing.T) (*streamstest.Service, *cli.Sandbox) {
	t.Helper()
	sandbox := newSandbox(t)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(streamIDs...)...)
	sandbox.Env["STREAM_BASE_URL"] = url
	return service, sandbox
}

var streamIDs = []string{"cam-1", "cam-2", "cam-3", "cam-4", "cam-5"}

// wantAttached fails the test unless the streams have these processors, and other streams have none.
func wantAttached(t *testing.T, service *streamstest.Service, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for _, id := range streamIDs {
		stream, _ := service.Stream(id)
		if len(stream.ProcessorIDs) > 0 {
			got[id] = strings.Join(slices.Sorted(slices.Values(stream.ProcessorIDs)), " ")
		}
	}
	if want == nil {
		want = map[string]string{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("processors of the streams (-want +got):\n%s", diff)
	}
}

// wantRequests fails the test unless the service has received exactly these requests since the last call.
func wantRequests(t *testing.T, service *streamstest.Service, want ...string) {
	t.Helper()
	var got []string
	for _, r := range service.Requests() {
		got = append(got, r.String())
	}
	service.ForgetRequests()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
