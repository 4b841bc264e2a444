package examples

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// TestInfrastructureEnvironments checks that environments differ only in their lists and addresses.
func TestInfrastructureEnvironments(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"main.tf", "providers.tf", "variables.tf"} {
		if read(t, "infrastructure/environments/dev/"+name) != read(t, "infrastructure/environments/prod/"+name) {
			t.Errorf("%s is not the same in dev and prod", name)
		}
	}
}

// TestAccInfrastructure follows the README of the repository from an empty HOME, runs its pipeline, and makes mistakes.
func TestAccInfrastructure(t *testing.T) {
	t.Parallel()
	clone := clitest.New(t)
	if _, err := exec.LookPath("zip"); err != nil || !clitest.AtLeast(t, "1.11", "1.11") {
		t.Skip("the repository needs zip and a newer CLI")
	}
	clients := newClients(t)
	dev, prod := newEnvironment(t, "dev", streamstest.Bearer("dev-secret")), newEnvironment(t, "prod", clients.authorize)
	addresses := strings.NewReplacer(
		"http://127.0.0.1:8422/oauth2/token", clients.url, "https://login.example.com/oauth2/token", clients.url,
		"http://127.0.0.1:8420", dev.eu.url, "http://127.0.0.1:8421", dev.us.url,
		"http://127.0.0.1:8422", prod.eu.url, "http://127.0.0.1:8423", prod.us.url,
		"https://streams-eu.example.com", prod.eu.url, "https://streams-us.example.com", prod.us.url)
	copyExample(t, "infrastructure", clone.Path("examples/infrastructure"))
	clone.Write("examples/installing/filesystem-mirror.tfrc", read(t, "installing/filesystem-mirror.tfrc"))
	for file, text := range texts(t, clone.Path("examples/infrastructure"), ".tfvars", ".hcl") {
		clitest.WriteFile(t, file, addresses.Replace(text))
	}
	home := t.TempDir()
	in := func(folder string) *clitest.Workspace {
		w := *clone
		w.Dir = filepath.Join(home, "streams", folder)
		return &w
	}
	followReadme(t, clone, home, map[string]func(){
		"cp existing/": func() {
			// As "Use It" says. The trial has set the processors of the streams, and its states are deleted.
			prod.wantCameras(t)
			list := in("environments/prod")
			list.Write("terraform.tfvars", list.Read("terraform.tfvars")+"detect_drift = true\n")
			list.Write("cameras.csv", regexp.MustCompile(`(?m)^(cam.*,)[^,\n]+$`).ReplaceAllString(list.Read("cameras.csv"), "$1"))
			removeAll(t, list.Path("terraform.tfstate*"))
			prod.forgetRequests()
		},
	})
	clone.Setenv("TF_CLI_ARGS=-no-color", "STREAM_OAUTH2_CLIENT_ID=terraform")
	dev.wantCameras(t)
	prod.wantCameras(t)
	prod.wantOnlyReads(t)
	lock := in("environments/dev").Read(".terraform.lock.hcl")
	if providers, checksums := strings.Count(lock, "\nprovider "), strings.Count(lock, `"h1:`); providers != 1 || checksums != 2 {
		t.Errorf("the lock file has %d providers and %d checksums, want one provider for two platforms:\n%s", providers, checksums, lock)
	}
	runPipeline(t, in("environments/prod"), prod)
	makeMistakes(t, in("environments/dev"))
	misspellStream(t, in("environments/prod"), prod)
	shutRegionDown(t, in("environments/dev"), dev)
	requireAnotherProvider(t, in("environments/dev"))
}

// runPipeline runs the jobs that GitHub and GitLab have for each environment: the client of a plan may only read.
func runPipeline(t *testing.T, root *clitest.Workspace, e *environment) {
	t.Helper()
	jobs := pipelineCommands(t, "infrastructure/.github/workflows/streams.yml")
	if other := pipelineCommands(t, "infrastructure/.gitlab-ci.yml"); !slices.Equal(jobs, other) {
		t.Errorf("GitHub runs %q, and GitLab %q", jobs, other)
	}
	removeAll(t, root.Path("terraform.tfstate*")) // a runner has the one of the backend, which has none yet
	e.forgetRequests()
	root.Setenv("STREAM_OAUTH2_CLIENT_ID=reader", "TF_VAR_secret=read-secret")
	for _, command := range jobs {
		if strings.HasPrefix(command, "apply ") {
			e.wantOnlyReads(t)
			root.Setenv("STREAM_OAUTH2_CLIENT_ID=terraform", "TF_VAR_secret=prod-secret")
		}
		root.MustRun(strings.Fields(command)...)
		if strings.HasPrefix(command, "apply ") {
			e.wantCameras(t)
			root.Setenv("STREAM_OAUTH2_CLIENT_ID=reader", "TF_VAR_secret=read-secret")
		}
	}
	e.eu.Seed(streamstest.Stream{ID: "cam-1"})
	root.Plan().Want(2, "0 to add, 1 to change, 0 to destroy")
}

// makeMistakes makes mistakes in the list of a repository that is applied. All are found before anything is sent.
func makeMistakes(t *testing.T, root *clitest.Workspace) {
	t.Helper()
	root.Setenv("TF_VAR_secret=unused")
	list := root.Read("cameras.csv")
	const columns = "stream_id,region,processor_ids\n"
	const semicolons = "If the file has semicolons between its columns, save it with commas."
	for _, m := range []struct{ from, to, want string }{
		{"cam-2,", "cam-1 ,", "Streams with more than one row: cam-1 in eu."},
		{"cam-2,eu", "cam-2,ue", `Unknown regions: "ue" of "cam-2". The regions are eu and us.`},
		{"face-blur", "face-blurr", `Unknown processors: "face-blurr" of cam-3.`},
		{"cam-2", "\"cam\r-2\"",
			`without a stream_id that is one word: {"processor_ids":"object-detection","region":"eu","stream_id":"cam\n-2"}.`},
		{"cam-2,", ",", `without a stream_id that is one word: {"processor_ids":"object-detection","region":"eu","stream_id":""}.`},
		{list, strings.ReplaceAll(list, ",", ";"), semicolons},
		{"cam-2,eu,object-detection", "cam-2;eu;object-detection,,", semicolons},
		{"processor_ids", "processors", "The first line is stream_id,region,processor_ids."},
		{list, columns, "There are no cameras."},
		{list, columns + ",,\n", "There are no cameras."},
	} {
		root.Write("cameras.csv", strings.Replace(list, m.from, m.to, 1))
		root.Run("validate").Want(1, m.want)
	}
	root.Run("plan", "-var-file=stand-in.tfvars").Want(1, "There are no cameras.")
	spreadsheet := strings.NewReplacer("cam-1,", " cam-1 ,", "cam-2,eu,", ",,\n , ,\ncam-2\t,eu,",
		"object-detection people-counter", "\"people-counter,\tobject-detection;\n\"", "\n", "\r\n").Replace(list)
	root.Write("cameras.csv", "\ufeff"+spreadsheet+",,\r\n")
	root.Plan("-var-file=stand-in.tfvars").Want(0)
	validateManyRows(t, root)
	root.Write("cameras.csv", list)
	const resources, provider = "../../modules/cameras/main.tf", "  provider = stream.us\n"
	root.Edit(resources, provider, "")
	root.Run("plan", "-var-file=stand-in.tfvars").Want(1, "base_url is missing", "A resource or data source without provider = …")
	root.Edit(resources, "  for_each = local.cameras[\"us\"]\n", provider+"  for_each = local.cameras[\"us\"]\n")
}

// validateManyRows bounds the CPU time of the checks: a quadratic one takes more than five seconds.
func validateManyRows(t *testing.T, root *clitest.Workspace) {
	t.Helper()
	rows := "stream_id,region,processor_ids\n"
	for i := range 2000 {
		rows += fmt.Sprintf("cam-%d,eu,object-detection face-blur\n", i)
	}
	root.Write("cameras.csv", rows)
	validate := root.Command("validate")
	if out, err := validate.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if cpu := validate.ProcessState.UserTime() + validate.ProcessState.SystemTime(); cpu > 3*time.Second {
		t.Errorf("validate has taken %s of CPU", cpu)
	}
}

// misspellStream gives a row another stream, one that does not exist, and one that has processors of somebody else: the
// plan of the reading client finds both.
func misspellStream(t *testing.T, root *clitest.Workspace, e *environment) {
	t.Helper()
	root.Setenv("TF_VAR_secret=read-secret")
	root.Write("terraform.tfvars", root.Read("terraform.tfvars")+"on_create = \"refuse\"\n")
	root.Edit("cameras.csv", "cam-2,", "cam-99,")
	root.Run("plan").Want(1, "Resource Not Found Error", "cam-99")
	e.eu.Seed(streamstest.Stream{ID: "cam-99", ProcessorIDs: []string{"thermal"}})
	root.Run("plan").Want(1, "Processors Would Be Detached", "cam-99", "thermal")
	root.Edit("cameras.csv", "cam-99,", "cam-2,")
	root.Run("plan").Want(0, "Plan: 0 to add, 60 to change, 0 to destroy") // on_create, and what runPipeline has changed
}

// shutRegionDown removes the rows of a region whose service is gone. The processors cannot be detached there.
func shutRegionDown(t *testing.T, root *clitest.Workspace, e *environment) {
	t.Helper()
	root.Setenv("TF_VAR_secret=dev-secret")
	e.us.close()
	e.forgetRequests()
	root.Edit("../../modules/cameras/main.tf", "  provider = stream.us\n", "  provider = stream.us\n  on_destroy = \"keep\"\n")
	root.MustApply("-var-file=stand-in.tfvars").Want(0, "0 added, 2 changed, 0 destroyed")
	root.Write("cameras.csv", regexp.MustCompile(`(?m)^.*,us,.*\n`).ReplaceAllString(root.Read("cameras.csv"), ""))
	root.MustApply("-var-file=stand-in.tfvars").Want(0, "0 added, 0 changed, 2 destroyed")
	e.eu.WantRequests(t)
}

// requireAnotherProvider needs a provider that is not in the mirror: the CLI configurations let init ask its registry.
func requireAnotherProvider(t *testing.T, root *clitest.Workspace) {
	t.Helper()
	const block = "required_providers {\n"
	root.Edit("providers.tf", block, block+"    other = { source = \"registry.terraform.io/example/other\" }\n")
	root.Setenv("HTTPS_PROXY=http://127.0.0.1:1")
	root.Run("init").Want(1, "could not connect to registry.terraform.io")
	root.Setenv("TF_CLI_CONFIG_FILE=" + root.Path("../../mirror.tfrc"))
	root.Run("init").Want(1, "could not connect to registry.terraform.io")
}

// TestAccInfrastructureOpenTofu sets a camera in each region with one provider block.
func TestAccInfrastructureOpenTofu(t *testing.T) {
	t.Parallel()
	clitest.SkipUnlessAcc(t)
	if !clitest.AtLeast(t, "", "1.11") {
		t.Skip("for_each of a provider block needs OpenTofu")
	}
	eu, euURL := startService(t, streamstest.Options{})
	us, usURL := startService(t, streamstest.Options{})
	w := newWorkspace(t, "", "")
	copyExample(t, "infrastructure/opentofu", w.Dir)
	w.Write("terraform.tfvars", fmt.Sprintf("regions = { eu = %q, us = %q }\ncameras = {\n"+
		"  cam-1 = { region = \"eu\", processor_ids = [\"object-detection\"] }\n"+
		"  cam-2 = { region = \"us\", processor_ids = [] }\n}\n", euURL, usURL))
	w.MustRun("fmt", "-check")
	w.MustRun("init")
	w.MustApply()
	eu.WantRequests(t, setDetection)
	us.WantRequests(t, emptied("cam-2"))
	w.Plan().Want(0)
	w.MustApply("-destroy")
	eu.WantRequests(t, emptied("cam-1"))
	us.WantRequests(t, emptied("cam-2"))
}

// region is the stand-in service of a region.
type region struct {
	*streamstest.Service
	url   string
	close func()
}

// environment has the deployment of an environment of the repository.
type environment struct {
	name   string
	eu, us region
}

func (e *environment) region(name string) region {
	return map[string]region{"eu": e.eu, "us": e.us}[name]
}

func (e *environment) forgetRequests() {
	e.eu.ForgetRequests()
	e.us.ForgetRequests()
}

// wantOnlyReads fails the test if the services have received anything but reads.
func (e *environment) wantOnlyReads(t *testing.T) {
	t.Helper()
	for _, r := range append(e.eu.Requests(), e.us.Requests()...) {
		if r.Method != http.MethodGet {
			t.Errorf("the service has received %s", r)
		}
	}
}

// newEnvironment starts the services with the streams of the environment's list.
func newEnvironment(t *testing.T, name string, authorize func(*http.Request) error) *environment {
	t.Helper()
	e := &environment{name: name}
	for _, r := range []*region{&e.eu, &e.us} {
		r.Service = streamstest.New(streamstest.Options{Authorize: authorize, ServeGet: true})
		server := httptest.NewServer(r.Service)
		t.Cleanup(server.Close)
		r.url, r.close = server.URL, server.Close
	}
	for _, row := range e.cameras(t) {
		e.region(row[1]).Seed(streamstest.Stream{ID: row[0]})
	}
	return e
}

// cameras returns the rows of the environment's list.
func (e *environment) cameras(t *testing.T) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(read(t, "infrastructure/environments/"+e.name+"/cameras.csv"))).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("the list of %s has %d rows: %v", e.name, len(rows), err)
	}
	return rows[1:]
}

// wantCameras fails the test unless each camera of the list has its processors.
func (e *environment) wantCameras(t *testing.T) {
	t.Helper()
	for _, row := range e.cameras(t) {
		e.region(row[1]).WantAttached(t, row[0], strings.Fields(row[2])...)
	}
}

// followReadme runs the blocks of the README one after the other in a clone, but for those of other terminals, which
// start the stand-in services. Before a block that begins with a key of before, it calls the function.
func followReadme(t *testing.T, clone *clitest.Workspace, home string, before map[string]func()) {
	t.Helper()
	delete(clone.Env, "TF_CLI_CONFIG_FILE")
	delete(clone.Env, "TF_CLI_ARGS")
	clone.Mirror = "/srv/terraform/providers" // the block itself replaces the folder of the page
	_, provider := clitest.Programs(t)
	// In place of Go, which would compile for minutes: the programs of two platforms are not the same.
	clone.Write("bin/go", "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\n"+
		"mkdir -p \"${2%/*}\"\ncp '"+provider+"' \"$2\"\nif [ \"$GOOS\" = darwin ]; then echo >>\"$2\"; fi\n")
	clone.Setenv("HOME="+home, "PATH="+clone.Path("bin")+string(os.PathListSeparator)+clone.Env["PATH"])
	state := "" // of the terminal
	for _, block := range shellBlock.FindAllStringSubmatch(read(t, "infrastructure/README.md"), -1) {
		if strings.Contains(block[1], "go run ./internal/cmd/standin") {
			continue
		}
		for begins, call := range before {
			if strings.HasPrefix(block[1], begins) {
				call()
			}
		}
		out, err := shell(t, clone, state+block[1])
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, block[1], cli.Unwrap(out))
		}
		switch {
		case strings.Contains(block[1], " plan "):
			streamstest.WantText(t, out, "No changes.")
		case strings.Contains(block[1], "existing/"):
			streamstest.WantText(t, out, "60 imported, 0 added, 0 changed, 0 destroyed")
		}
		for _, line := range regexp.MustCompile(`(?m)^(cd|export) .*\n`).FindAllString(block[1], -1) {
			state += line
		}
	}
}

// clients is a token endpoint with two clients: that of prod may update streams, and "reader" may only read them.
type clients struct {
	url            string
	writer, reader *streamstest.TokenServer
}

func newClients(t *testing.T) *clients {
	t.Helper()
	newClient := func(id, secret string) *streamstest.TokenServer {
		return &streamstest.TokenServer{
			ClientID: id, ClientSecret: secret, Scope: "streams", Audience: "https://streams.example.com", Shared: true,
		}
	}
	c := &clients{writer: newClient("terraform", "prod-secret"), reader: newClient("reader", "read-secret")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, _, _ := r.BasicAuth(); id == "reader" {
			c.reader.ServeHTTP(w, r)
			return
		}
		c.writer.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// authorize accepts the tokens of both clients, and those of the reader for reads.
func (c *clients) authorize(r *http.Request) error {
	if r.Method == http.MethodGet && c.reader.Authorize(r) == nil {
		return nil
	}
	return c.writer.Authorize(r)
}
