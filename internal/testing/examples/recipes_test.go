package examples

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// TestAccPageRecipes sends the sets again, and destroys a detached processor.
func TestAccPageRecipes(t *testing.T) {
	t.Parallel()
	service, url := startService(t, streamstest.Options{})
	w := newWorkspace(t, "recipes/send-again", url)
	both := []string{setDetection, strings.Replace(setDetection, "cam-1", "cam-2", 1)}
	w.MustApply()
	service.WantRequests(t, both...)
	w.Edit("main.tf", `"2026-11-26"`, `"2026-11-27"`)
	w.Run("plan", "-out=tfplan").Want(0, "0 to add, 2 to change, 0 to destroy")
	w.MustApply("tfplan")
	service.WantRequests(t, both...)
	w.Plan().Want(0)
	w = newWorkspace(t, "recipes/created-processors", url)
	w.MustApply()
	service.WantRequests(t, setEntrance)
	w.Edit("main.tf", `, "people-counter"`, "")
	_, after, updated := strings.Cut(w.MustApply().Text(), "stream_processors.entrance: Modifications complete")
	if !updated || !strings.Contains(after, ": Destroying...") {
		t.Errorf("no processor is destroyed after the update: %s", after)
	}
	service.WantRequests(t, setDetection)
}

// TestAccPageDailyTasks changes a fleet as the table of the page says.
func TestAccPageDailyTasks(t *testing.T) {
	t.Parallel()
	service, url := startService(t, streamstest.Options{})
	w := newWorkspace(t, "recipes/daily", url)
	daily := w.Read("main.tf")
	w.Configure(`
locals {
  ids = { entrance = "cam-1", parking = "cam-2", yard = "cam-3" }
}

resource "stream_processors" "camera" {
  for_each = local.ids

  stream_id     = each.value
  processor_ids = each.key == "entrance" ? ["object-detection", "people-counter"] : ["object-detection"]
}
`)
	w.MustApply()
	service.ForgetRequests()
	w.Configure(daily)
	w.Run("plan", "-out=tfplan").Want(0, "has moved to", "0 to add, 1 to change, 0 to destroy")
	w.MustApply("tfplan")
	service.WantRequests(t)
	for _, step := range []struct {
		from, to string
		requests []string
	}{
		{"    parking = { stream_id = \"cam-2\", processor_ids = [\"object-detection\"] }\n", "", nil},
		{`"cam-1"`, `"cam-4"`, []string{emptied("cam-1"), strings.Replace(setEntrance, "cam-1", "cam-4", 1)}},
		{"    gate ", "    # gate ", []string{emptied("cam-4")}},
	} {
		w.Edit("main.tf", step.from, step.to)
		w.MustApply()
		service.WantRequests(t, step.requests...)
	}
	wantAttached(t, "recipes/daily", service, map[string]string{"cam-2": "object-detection", "cam-3": "object-detection"})
}

func emptied(stream string) string {
	return fmt.Sprintf(`PATCH /v2/streams/%s {"processor_ids":[]}`, stream)
}

// TestAccPageEmptyList plans a list that has become empty, with each condition that the page names.
func TestAccPageEmptyList(t *testing.T) {
	t.Parallel()
	_, url := startService(t, streamstest.Options{})
	w := newWorkspace(t, "recipes/precondition", url)
	const inGroup, inResource = "The list is empty.", "The list of no instance is empty."
	condition := func(message string) string {
		return "\n  lifecycle {\n    precondition {\n      condition     = length(local.cameras) > 0\n" +
			"      error_message = \"" + message + "\"\n    }\n  }\n"
	}
	w.Edit("main.tf", "each.value\n", "each.value\n"+condition(inResource))
	w.MustApply()
	list := w.Read("cameras.csv")
	w.Write("cameras.csv", list[:strings.Index(list, "\n")+1])
	for _, command := range []string{"validate", "plan"} {
		w.Run(command).Want(1, "There are no cameras.")
	}

	w.Edit("main.tf", "> 0\n    error_message = \"There", ">= 0\n    error_message = \"There")
	w.Write("others.tf", "resource \"stream_processors_group\" \"others\" {\n  streams = local.cameras\n"+condition(inGroup)+"}\n"+
		"check \"list\" {\n  assert {\n    condition     = length(local.cameras) > 0\n    error_message = \"Only a warning.\"\n  }\n}\n")
	plan := w.Run("plan").Want(1, "Error: Resource precondition failed", inGroup, "Warning: Check block assertion failed")
	if strings.Contains(plan.Text(), inResource) {
		t.Errorf("a resource without instances has checked its precondition: %v", plan)
	}
}

// TestAccPageCreatedStreams creates streams and their processors in one apply, with a stand-in for the other provider that
// creates and destroys streams in the service.
func TestAccPageCreatedStreams(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true})
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		switch id := strings.TrimPrefix(r.URL.Path, "/"); r.Method {
		case http.MethodPut:
			service.Seed(streamstest.Stream{ID: id})
		case http.MethodDelete:
			service.Remove(id)
		}
	}))
	t.Cleanup(other.Close)
	w := newWorkspace(t, "recipes/created-streams", url)
	w.Setenv("STREAM_DETECT_DRIFT=true")
	w.Write("other_override.tf", fmt.Sprintf(`
resource "terraform_data" "stream" {
  provisioner "local-exec" {
    command = "curl -fsS -X PUT %[1]s/${self.input}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "curl -fsS -X DELETE %[1]s/${self.input}"
  }
}
`, other.URL))
	apply := func(arguments []string, requests ...string) {
		t.Helper()
		w.MustApply(arguments...)
		sent := slices.DeleteFunc(service.DrainRequests(), func(r string) bool { return strings.HasPrefix(r, "GET ") })
		slices.Sort(sent)
		slices.Sort(requests)
		if !slices.Equal(sent, requests) {
			t.Fatalf("apply %v has sent %q, want %q", arguments, sent, requests)
		}
		w.Plan().Want(0)
		service.ForgetRequests()
	}
	again := []string{`-replace=terraform_data.stream["cam-1"]`}
	set2 := strings.Replace(setDetection, "cam-1", "cam-2", 1)

	apply(nil, setEntrance, set2)
	apply(again, emptied("cam-1"), setEntrance) // detached before the stream is destroyed
	w.MustApply(again[0], "-target=terraform_data.stream")
	apply(nil, setEntrance) // never detached, as the warning of the plan says

	// The id is known in the plan.
	w.Edit("main.tf", "terraform_data.stream[each.key].output", "each.key")
	apply(nil)
	apply(again, setEntrance)
	w.Edit("main.tf", "    \"cam-2\"", "    \"cam-3\" = [\"object-detection\"]\n    \"cam-2\"")
	w.Plan().Want(1, "Resource Not Found Error", "cam-3")
	w.MustApply("-target=terraform_data.stream")
	service.ForgetRequests()
	apply(nil, strings.Replace(setDetection, "cam-1", "cam-3", 1))
	w.Edit("main.tf", "  triggers = {\n    created = terraform_data.stream[each.key].id\n  }",
		"  lifecycle {\n    replace_triggered_by = [terraform_data.stream[each.key].id]\n  }")
	w.MustApply() // the set of each stream
	service.ForgetRequests()
	apply(again, setEntrance)
}

// TestAccPageIDKnownAfterApply updates the resource that an id comes from. The id stays the same, but is known after apply. Each advice
// of the warning about that keeps the stream's processors.
func TestAccPageIDKnownAfterApply(t *testing.T) {
	t.Parallel()
	service, url := startService(t, streamstest.Options{})
	w := newWorkspace(t, "recipes/created-streams", url)
	w.Edit("main.tf", "input = each.key", "input = { id = each.key, title = var.title }")
	w.Edit("main.tf", ".output\n", ".output.id\n")
	w.Write("title.tf", "variable \"title\" {\n  default = \"0\"\n}\n")
	w.MustApply()
	sets := []string{setEntrance, strings.Replace(setDetection, "cam-1", "cam-2", 1)}
	service.WantRequests(t, sets...)
	const create = "  # A stream that is created again"
	const keepAttached = "  on_destroy = \"keep\"\n\n" + create
	steps := []struct {
		from, to  string // of the configuration, applied before the update
		first     []string
		requests  []string
		wantWarns bool // also where the setting is not known to a plan
	}{
		{requests: append(sets, emptied("cam-1"), emptied("cam-2")), wantWarns: true},
		{first: []string{"-target=terraform_data.stream"}},
		{from: create, to: keepAttached, requests: sets},
		{from: keepAttached, to: "  lifecycle {\n    create_before_destroy = true\n  }\n\n" + create, requests: sets, wantWarns: true},
	}
	for i, step := range steps {
		w.Edit("main.tf", step.from, step.to)
		w.MustApply(fmt.Sprintf("-var=title=%d", i))
		service.WantRequests(t)
		update := fmt.Sprintf("-var=title=%d", i+1)
		if step.first != nil {
			w.MustApply(append(step.first, update)...)
		}
		plan := w.MustRun("plan", update, "-out=tfplan")
		if warns := strings.Contains(plan.Text(), "Warning: Stream May Be Without Processors"); warns != step.wantWarns {
			t.Errorf("step %d warns: %t, want %t: %v", i+1, warns, step.wantWarns, plan)
		}
		w.MustApply("tfplan")
		service.WantRequests(t, step.requests...)
	}
}

// TestAccPageTwoRegions sends each set to its own region. Without "provider = …", nothing is sent, unless the environment has
// an address.
func TestAccPageTwoRegions(t *testing.T) {
	t.Parallel()
	eu, euURL := startService(t, streamstest.Options{ServeGet: true})
	us, usURL := startService(t, streamstest.Options{})
	w := newWorkspace(t, "two-regions", "")
	delete(w.Env, "STREAM_BASE_URL")
	w.Edit("main.tf", "https://streams-eu.example.com", euURL)
	w.Edit("main.tf", "https://streams-us.example.com", usURL)
	w.MustApply()
	eu.WantRequests(t, setEntrance)
	us.WantRequests(t, setDetection)

	// Only one region serves GET.
	w.Setenv("STREAM_DETECT_DRIFT=true")
	w.Edit("main.tf", usURL+"\"\n", usURL+"\"\n  detect_drift = false\n")
	w.Plan().Want(0)
	eu.WantRequests(t, "GET /v2/streams/cam-1")
	us.WantRequests(t)

	w.Edit("main.tf", "  provider = stream.us\n", "")
	w.Plan().Want(1, "base_url is missing.")
	w.Setenv("STREAM_BASE_URL=" + euURL)
	w.Plan().Want(2)
	us.WantRequests(t)
}
