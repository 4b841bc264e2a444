package examples

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// mustFail runs the CLI, which must fail, and returns its output on one line.
func mustFail(t *testing.T, sandbox *cli.Sandbox, dir string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := sandbox.Run(t.Context(), dir, &out, append(args, "-no-color")...); err == nil {
		t.Fatalf("%s: succeeded\n%s", strings.Join(args, " "), out.Bytes())
	}
	return cli.Unwrap(out.String())
}

func wantText(t *testing.T, out string, want ...string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(out, text) {
			t.Errorf("no %q in:\n%s", text, out)
		}
	}
}

// replace changes a file of an example.
func replace(t *testing.T, path, from, to string) {
	t.Helper()
	content := read(t, path)
	if !strings.Contains(content, from) {
		t.Fatalf("%s has no %q", path, from)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(content, from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

const attachDetection = `PATCH /v2/streams/cam-1 {"processor_ids":["object-detection"]} → 200`

func TestAccRecipeValidation(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	dir := initialized(t, sandbox, "recipes/validation", "")

	out := mustFail(t, sandbox, dir, "plan", `-var=cameras={"cam-1"=["object-detektion"]}`)
	wantText(t, out, "Invalid value for variable", "The known processors are object-detection and people-counter.")
	wantRequests(t, service)
	mustRun(t, sandbox, dir, "apply", "-auto-approve")
	wantAttached(t, service, map[string]string{"cam-1": "object-detection people-counter"})
}

func TestAccRecipePrecondition(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	dir := initialized(t, sandbox, "recipes/precondition", "")

	mustRun(t, sandbox, dir, "apply", "-auto-approve")
	wantAttached(t, service, map[string]string{"cam-1": "object-detection people-counter"})
	service.ForgetRequests()
	replace(t, filepath.Join(dir, "cameras.yaml"), "people-counter", "people-countr")
	wantText(t, mustFail(t, sandbox, dir, "plan"), "Resource precondition failed", "cam-1 has unknown processors: people-countr.")
	wantRequests(t, service)
}

func TestAccRecipeNamespaces(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	dir := initialized(t, sandbox, "recipes/namespaces", "")

	// The response has the namespaces, so the check comes after the request.
	out := mustFail(t, sandbox, dir, "apply", "-auto-approve", "-var=namespace=other.lidar")
	wantText(t, out, "Resource postcondition failed", "Stream cam-1 is not compatible with other.lidar, but with: acme.camera, acme.ptz.")
	wantRequests(t, service, attachDetection)

	// From now on the state has them, and the plan fails.
	wantText(t, mustFail(t, sandbox, dir, "plan", "-var=namespace=other.lidar"), "Resource postcondition failed")
	mustRun(t, sandbox, dir, "apply", "-auto-approve")
	wantRequests(t, service)
}

func TestAccRecipeReassert(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	dir := initialized(t, sandbox, "recipes/reassert", "")

	mustRun(t, sandbox, dir, "apply", "-auto-approve")
	wantRequests(t, service, attachDetection)

	// On the next day, the state has another day.
	state := filepath.Join(dir, "terraform.tfstate")
	day := regexp.MustCompile(`"day": ?"(\d{4}-\d{2}-\d{2})"`).FindStringSubmatch(read(t, state))
	if day == nil {
		t.Fatalf("no day in the state:\n%s", read(t, state))
	}
	replace(t, state, day[1], "2025-01-01")
	service.Seed(streamstest.Stream{ID: "cam-1"}) // somebody has detached the processors
	mustRun(t, sandbox, dir, "apply", "-auto-approve")
	wantRequests(t, service, attachDetection)
	wantAttached(t, service, map[string]string{"cam-1": "object-detection"})
}

func TestAccRecipeLastEdited(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	dir := initialized(t, sandbox, "recipes/last-edited", "")

	mustRun(t, sandbox, dir, "apply", "-auto-approve")
	stream, _ := service.Stream("cam-1")
	want := time.UnixMilli(stream.LastEdited).UTC().Format(time.RFC3339)
	if got := strings.TrimSpace(mustRun(t, sandbox, dir, "output")); got != `last_edited = "`+want+`"` {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestAccRecipeMaintenance needs a CLI with actions.
func TestAccRecipeMaintenance(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	dir := initialized(t, sandbox, "recipes/maintenance", "")

	mustRun(t, sandbox, dir, "apply", "-auto-approve")
	service.ForgetRequests()
	mustRun(t, sandbox, dir, "apply", "-auto-approve", "-invoke=action.stream_set_processors.begin_maintenance")
	wantRequests(t, service, `PATCH /v2/streams/cam-1 {"processor_ids":[]} → 200`)
	mustRun(t, sandbox, dir, "plan", "-detailed-exitcode") // the plan does not see the maintenance
	wantRequests(t, service)
	mustRun(t, sandbox, dir, "apply", "-auto-approve", "-invoke=action.stream_set_processors.end_maintenance")
	wantRequests(t, service, `PATCH /v2/streams/cam-1 {"processor_ids":["object-detection","people-counter"]} → 200`)
}

// TestAccRecipeCommands also checks what the guide says about for_each over compatible_namespaces.
func TestAccRecipeCommands(t *testing.T) {
	t.Parallel()
	service, sandbox := startService(t)
	dir := initialized(t, sandbox, "recipes/commands", "")
	main := filepath.Join(dir, "main.tf")

	mustRun(t, sandbox, dir, "apply", "-auto-approve")
	wantRequests(t, service, attachDetection)
	wantText(t, mustRun(t, sandbox, dir, "state", "list"), `terraform_data.command["acme.ptz"]`)

	// With the namespaces in the state, for_each works; as soon as an update is planned, it fails.
	replace(t, main, "toset(local.namespaces)", "stream_processors.entrance.compatible_namespaces")
	mustRun(t, sandbox, dir, "plan", "-detailed-exitcode")
	replace(t, main, `processor_ids = ["object-detection"]`, `processor_ids = ["people-counter"]`)
	wantText(t, mustFail(t, sandbox, dir, "plan"), "Invalid for_each argument", "cannot be determined until apply")
	wantRequests(t, service)
}
