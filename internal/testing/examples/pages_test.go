package examples

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// Each test here checks what a page says beyond its examples and commands, with the provider installed as users do.

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
	before.Setenv("TF_VAR_stream_base_url=" + url)
	before.MustApply()
	after.Write("terraform.tfstate", before.Read("terraform.tfstate"))
	service.ForgetRequests()
	after.Run("plan").Want(0, "Plan: 1 to add, 0 to change, 0 to destroy", "will not be destroyed")
	service.WantRequests(t)
	after.MustApply()
	service.WantRequests(t, setEntrance) // no processor is detached
}

// A state of single resources becomes one of groups, and then one of other groups: nothing is emptied, and no plan warns.
func TestAccPageLargeFleets(t *testing.T) {
	t.Parallel()
	service, url := startService(t, streamstest.Options{ServeGet: true})
	sets := []string{setEntrance, strings.Replace(setDetection, "cam-1", "cam-2", 1)}
	single := newWorkspace(t, "existing-streams/create", url)
	single.Edit("main.tf", `on_destroy = "keep"`, "")
	single.MustApply()
	service.ForgetRequests()
	groups := newWorkspace(t, "migrating/to-groups", url)
	groups.Write("terraform.tfstate", single.Read("terraform.tfstate"))
	for _, step := range []struct {
		from, to string
		requests []string
	}{
		{"", "", sets},
		{"  for_each", "  on_destroy = \"keep\"\n  for_each", nil},
		{"substr(sha256(id), 0, 1)", `id == "cam-1" ? "b" : "1"`, sets}, // the groups exchange their streams
	} {
		groups.Edit("main.tf", step.from, step.to)
		if r := groups.MustApply(); strings.Contains(r.Text(), "Warning: Processors") {
			t.Errorf("the plan warns: %v", r)
		}
		service.WantRequests(t, step.requests...)
	}
}

// A data source writes the sets of 50 streams to a file, with which single resources or a group adopt the streams: no set
// is sent, and the plan is empty afterwards. A stream that has changed since is counted.
func TestAccPageAdoptFromAFile(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true})
	w := newWorkspace(t, "existing-streams/attached", url)
	var ids, reads []string
	for i := range 50 {
		id := fmt.Sprintf("cam-%d", i+1)
		ids, reads = append(ids, id), append(reads, "GET /v2/streams/"+id)
		service.Seed(streamstest.Stream{ID: id, ProcessorIDs: []string{"object-detection", "people-counter", "face-blur"}[:i%4]})
	}
	w.Write("ids.txt", "\ufeff"+strings.Join(ids, " \r\n")+"\n\n") // as spreadsheets may write it
	w.MustApply().Want(0, "0 added, 0 changed, 0 destroyed")
	service.WantRequests(t, reads...)
	saved := w.MustRun("output", "-raw", "streams").Stdout
	for folder, count := range map[string]int{"existing-streams/adopt": 50, "existing-streams/adopt-group": 1} {
		if !supports(t, read(t, folder)) {
			continue
		}
		w := newWorkspace(t, folder, url)
		w.Write("streams.json", strings.Replace(saved, "face-blur", "thermal", 1))
		w.Run("plan").Want(0, fmt.Sprintf("Plan: %d to import, 0 to add, 1 to change, 0 to destroy", count))
		w.Write("streams.json", saved)
		service.ForgetRequests()
		w.Plan("-out=tfplan").Want(2, fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy", count))
		service.WantRequests(t, reads...)
		w.MustApply("tfplan")
		service.WantRequests(t)
		_, configuration, _ := strings.Cut(w.Read("main.tf"), "import {") // the last block
		w.Edit("main.tf", "import {"+configuration, "")
		w.Plan().Want(0)
		service.WantRequests(t, reads...)
	}
}

// The data source of one stream shows its processors. The file of the other one has them after they are detached.
func TestAccPageDataSources(t *testing.T) {
	t.Parallel()
	service, url := startService(t, streamstest.Options{ServeGet: true})
	service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"face-blur"}}, streamstest.Stream{ID: "cam-2"})
	newWorkspace(t, "data-sources/stream_processors", url).MustApply().Want(0, `processors = toset([ "face-blur", ])`)
	newWorkspace(t, "data-sources/stream_processors_group", url).MustApply().Want(0, `"cam-1" = toset([ "face-blur", ])`)
	w := newWorkspace(t, "existing-streams/attached", url)
	w.MustApply()
	saved := w.MustRun("output", "-raw", "streams").Stdout
	w = newWorkspace(t, "existing-streams/create", url)
	w.Plan().Want(1, "Processors Would Be Detached", `Stream "cam-1" has processors that are not in the planned set: ["face-blur"].`)
	w.Edit("main.tf", `"refuse"`, `"replace"`)
	w.MustApply()
	w.Write("streams.json", saved)
	w.Edit("main.tf", "  cameras = {", "  cameras = jsondecode(file(\"streams.json\"))\n  list = {")
	w.MustApply()
	wantAttached(t, "the sets of the file", service, map[string]string{"cam-1": "face-blur"})
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
			w.Setenv("STREAM_DETECT_DRIFT=true")
			if strings.HasPrefix(folder, "list") {
				w.MustRun("query", "-generate-config-out=adopted.tf")
				service.WantRequests(t, wantReads...)
			} else {
				planImports(t, w, folder)
				service.ForgetRequests()
				w.Run("plan").Want(0, "1 to import, 0 to add, 0 to change, 0 to destroy")
				service.WantRequests(t, wantReads...)
			}
			w.MustApply()
			w.Run("plan").Want(0, "No changes.")
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
func planImports(t *testing.T, w *clitest.Workspace, folder string) {
	t.Helper()
	removeAll(t, filepath.Join(w.Dir, "resource*.tf"))
	imports := read(t, filepath.Join(folder, "import-by-string-id.tf"))
	if !supports(t, imports) {
		t.Skip("the import needs a newer CLI")
	}
	w.Write("import.tf", imports)
	generate := []string{"plan", "-generate-config-out=adopted.tf"}
	result := w.Run(generate...)
	if result.Code == 0 || !clitest.AtLeast(t, "1.16", "") {
		result.Want(0)
		return
	}
	result.Want(1, "failed to read ", "schema for ", "unavailable provider") // one of two errors
	w.Edit("import.tf", "import {\n", "import {\n  provider = stream\n")
	w.MustRun(generate...)
	w.Apply().Want(1, "Invalid import provider argument")
	w.Write("import.tf", imports)
}

func TestAccPageExistingStreams(t *testing.T) {
	t.Parallel()
	service, url := startService(t, streamstest.Options{ServeGet: true})
	service.Seed(
		streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"object-detection", "people-counter"}},
		streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"face-blur"}})
	w := newWorkspace(t, "existing-streams/create", url)
	w.Write("import.tf", read(t, "existing-streams/import"))
	w.Edit("main.tf", `on_create = "refuse"`, "")
	w.Edit("main.tf", `on_destroy = "keep"`, "")
	if !supports(t, read(t, w.Dir)) {
		t.Skip("the import needs a newer CLI")
	}
	w.Run("plan", "-out=plan.tfplan").Want(0, "3 to import, 0 to add, 1 to change, 0 to destroy")
	service.WantRequests(t, "GET /v2/streams/cam-1", "GET /v2/streams/cam-2", "GET /v2/streams/cam-3")
	w.MustRun("apply", "plan.tfplan")
	service.WantRequests(t, `PATCH /v2/streams/cam-2 {"processor_ids":["object-detection"]}`)

	// To forget one instance.
	removeAll(t, w.Path("import.tf"))
	w.MustRun("state", "rm", `stream_processors.camera["cam-2"]`)
	w.Edit("cameras.csv", "cam-2,object-detection\n", "")
	w.Edit("main.tf", "detect_drift = true", "")
	w.Plan().Want(0)
}

// The state of a fleet of groups is lost, and one stream has changed since: an import brings the groups back, and only this
// stream is set again.
func TestAccPageLostState(t *testing.T) {
	t.Parallel()
	service, url := startService(t, streamstest.Options{ServeGet: true})
	w := newWorkspace(t, "fleet", url)
	w.MustApply()
	removeAll(t, w.Path("terraform.tfstate"))
	service.Seed(streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"face-blur"}})
	service.ForgetRequests()
	w.Setenv("STREAM_DETECT_DRIFT=true")
	w.Write("import.tf", read(t, "existing-streams/lost-groups"))
	if !supports(t, read(t, w.Dir)) {
		t.Skip("the import needs a newer CLI")
	}
	w.Run("plan", "-out=tfplan").Want(0, "3 to import, 0 to add, 1 to change, 0 to destroy")
	service.WantRequests(t, "GET /v2/streams/cam-1", "GET /v2/streams/cam-2", "GET /v2/streams/cam-3")
	w.MustApply("tfplan")
	service.WantRequests(t, strings.Replace(setDetection, "cam-1", "cam-2", 1))
	removeAll(t, w.Path("import.tf"))
	service.Seed(streamstest.Stream{ID: "cam-3", ProcessorIDs: []string{"face-blur"}})
	w.Run("plan", "-refresh-only").Want(0, `+ "face-blur"`)
}

// TestAccPageActions pauses the processors of a stream with the commands of the page. With detect_drift, the state has the
// empty set when the maintenance ends.
func TestAccPageActions(t *testing.T) {
	t.Parallel()
	for _, drift := range []string{"false", "true"} {
		t.Run("detect_drift="+drift, func(t *testing.T) {
			t.Parallel()
			service, url := startService(t, streamstest.Options{ServeGet: true})
			w := newWorkspace(t, "actions/stream_set_processors", url)
			w.Setenv("STREAM_DETECT_DRIFT=" + drift)
			attached := []string{"object-detection", "people-counter"}
			commands := strings.Split(strings.TrimSpace(shellBlock.FindStringSubmatch(pages(t)["actions/set_processors.md"])[1]), "\n")
			for i, want := range [][]string{attached, nil, attached} {
				out, err := shell(t, w, commands[i])
				if err != nil {
					t.Fatalf("%s: %v\n%s", commands[i], err, out)
				}
				service.WantAttached(t, "cam-1", want...)
			}
			w.Plan().Want(0)
		})
	}
}

// TestPageAuthentication runs the script that renews the ID token of a CI system while Terraform runs. In place of Terraform,
// a program waits until the token that it has read is another one.
func TestPageAuthentication(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"sh", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	var issued atomic.Int32
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer request-token" || r.FormValue("audience") != "https://login.example.com" {
			w.WriteHeader(http.StatusForbidden)
		}
		fmt.Fprintf(w, `{"value":"token-%d"}`, issued.Add(1))
	}))
	t.Cleanup(github.Close)
	page := read(t, filepath.Join("authentication", "client-assertion", "github-actions.yml"))
	step := regexp.MustCompile(`(?s)run: \|\n(.*)`).FindStringSubmatch(page)[1]
	dir := t.TempDir()
	clitest.WriteFile(t, filepath.Join(dir, "terraform"), `#!/bin/sh
echo "$@"
first=$(cat "$STREAM_OAUTH2_CLIENT_ASSERTION_FILE")
while [ "$(cat "$STREAM_OAUTH2_CLIENT_ASSERTION_FILE")" = "$first" ]; do sleep 0.05; done
echo "$first"
`)
	// Without a log of its own, the loop keeps the output open until its last command has ended.
	inTest := strings.NewReplacer("sleep 120", "sleep 0.1", ` >"$RUNNER_TEMP/renew.log" 2>&1`, "")
	script := exec.CommandContext(t.Context(), "sh", "-euc", inTest.Replace(step))
	script.Env = append(os.Environ(), "AUDIENCE=https://login.example.com", "RUNNER_TEMP="+dir,
		"PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"),
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN=request-token", "ACTIONS_ID_TOKEN_REQUEST_URL="+github.URL+"?api-version=2")
	if out, err := script.CombinedOutput(); err != nil || string(out) != "apply plan.tfplan\ntoken-1\n" {
		t.Fatalf("%v\n%s", err, out)
	}
}
