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
	"strings"
	"testing"

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
	login := &streamstest.TokenServer{ClientID: "terraform", ClientSecret: "prod-secret"}
	loginServer := httptest.NewServer(login)
	t.Cleanup(loginServer.Close)
	dev, prod := newEnvironment(t, "dev", streamstest.Bearer("dev-secret")), newEnvironment(t, "prod", login.Authorize)
	addresses := strings.NewReplacer("http://127.0.0.1:8422/oauth2/token", loginServer.URL, "https://login.example.com/oauth2/token", loginServer.URL,
		"http://127.0.0.1:8420", dev.eu.url, "http://127.0.0.1:8421", dev.us.url, "http://127.0.0.1:8422", prod.eu.url, "http://127.0.0.1:8423", prod.us.url,
		"https://streams-eu.example.com", prod.eu.url, "https://streams-us.example.com", prod.us.url)
	copyExample(t, "infrastructure", clone.Path("examples/infrastructure"))
	for file, text := range texts(t, clone.Path("examples/infrastructure"), ".tfvars", ".hcl") {
		clitest.WriteFile(t, file, addresses.Replace(text))
	}
	home := followReadme(t, clone)
	clone.Setenv("TF_CLI_ARGS=-no-color", "TF_CLI_ARGS_init=-plugin-dir="+filepath.Join(home, "streams", "mirror"))
	in := func(folder string) *clitest.Workspace {
		w := *clone
		w.Dir = filepath.Join(home, "streams", folder)
		return &w
	}
	dev.wantCameras(t)
	prod.wantCameras(t)
	lock := in("environments/dev").Read(".terraform.lock.hcl")
	if providers, checksums := strings.Count(lock, "\nprovider "), strings.Count(lock, `"h1:`); providers != 1 || checksums != 2 {
		t.Errorf("the lock file has %d providers and %d checksums, want one provider for two platforms:\n%s", providers, checksums, lock)
	}
	runPipeline(t, in("environments/prod"), prod)
	makeMistakes(t, in("environments/dev"))
}

// runPipeline runs the jobs that the pipeline has for each environment.
func runPipeline(t *testing.T, root *clitest.Workspace, e *environment) {
	t.Helper()
	_, jobs, _ := strings.Cut(root.Read("../../.github/workflows/streams.yml"), "\n  plan:\n")
	removeAll(t, root.Path("terraform.tfstate")) // a runner has the one of the backend, which has none yet
	e.eu.ForgetRequests()
	e.us.ForgetRequests()
	root.Setenv("STREAM_DETECT_DRIFT=false", "TF_VAR_secret=unused")
	for _, line := range pipelineCommand.FindAllStringSubmatch(jobs, -1) {
		if strings.HasPrefix(line[1], "apply ") {
			e.eu.WantRequests(t)
			e.us.WantRequests(t)
			root.Setenv("TF_VAR_secret=prod-secret")
		}
		root.MustRun(strings.Fields(line[1])...)
		if strings.HasPrefix(line[1], "apply ") {
			e.wantCameras(t)
			root.Setenv("STREAM_DETECT_DRIFT=true")
		}
	}
	e.eu.Seed(streamstest.Stream{ID: "cam-1"})
	root.Plan().Want(2, "0 to add, 1 to change, 0 to destroy")
}

// makeMistakes makes mistakes in the list of a repository that is applied. All are found before anything is sent.
func makeMistakes(t *testing.T, root *clitest.Workspace) {
	t.Helper()
	root.Setenv("STREAM_DETECT_DRIFT=false", "TF_VAR_secret=unused")
	list := root.Read("cameras.csv")
	for _, m := range []struct{ from, to, want string }{
		{"cam-2,", "cam-1 ,", "Streams with more than one row: cam-1 in eu."},
		{"cam-2,eu", "cam-2,ue", `Unknown regions: "ue" of "cam-2". The regions are eu and us.`},
		{"face-blur", "face-blurr", `Unknown processors: "face-blurr" of cam-3.`},
		{"cam-2", "\"cam\r-2\"", `Cells with a line break or a carriage return: {"processor_ids":"object-detection","region":"eu","stream_id":"cam\n-2"}.`},
		{list[strings.Index(list, "\n"):], "\n", "There are no cameras."},
		{"region", "site", `attribute "region" is required`},
	} {
		root.Write("cameras.csv", strings.Replace(list, m.from, m.to, 1))
		root.Run("validate").Want(1, m.want)
	}
	root.Write("cameras.csv", "\ufeff"+strings.ReplaceAll(strings.ReplaceAll(list, "cam-1,", " cam-1 ,"), "\n", "\r\n"))
	root.Plan("-var-file=stand-in.tfvars").Want(0)
	root.Edit("../../modules/cameras/main.tf", "  provider = stream.us\n", "")
	root.Run("plan", "-var-file=stand-in.tfvars").Want(1, "base_url is missing", "A resource or data source without provider = …")
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
		"  cam-1 = { region = \"eu\", processor_ids = [\"object-detection\"] }\n  cam-2 = { region = \"us\", processor_ids = [] }\n}\n", euURL, usURL))
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
	url string
}

// environment has the deployment of an environment of the repository.
type environment struct {
	name   string
	eu, us region
}

func (e *environment) region(name string) region {
	return map[string]region{"eu": e.eu, "us": e.us}[name]
}

// newEnvironment starts the services with the streams of the environment's list.
func newEnvironment(t *testing.T, name string, authorize func(*http.Request) error) *environment {
	t.Helper()
	e := &environment{name: name}
	for _, r := range []*region{&e.eu, &e.us} {
		r.Service, r.url = streamstest.Start(t, streamstest.Options{Authorize: authorize, ServeGet: true})
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
// start the stand-in services. It returns the HOME, which was empty.
func followReadme(t *testing.T, clone *clitest.Workspace) (home string) {
	t.Helper()
	home = t.TempDir()
	delete(clone.Env, "TF_CLI_CONFIG_FILE")
	delete(clone.Env, "TF_CLI_ARGS")
	_, provider := clitest.Programs(t)
	// In place of Go, which would compile for minutes: the programs of two platforms are not the same.
	clone.Write("bin/go", "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\n"+
		"mkdir -p \"${2%/*}\"\ncp '"+provider+"' \"$2\"\nif [ \"$GOOS\" = darwin ]; then echo >>\"$2\"; fi\n")
	clone.Setenv("HOME="+home, "PATH="+clone.Path("bin")+string(os.PathListSeparator)+clone.Env["PATH"])
	before := ""
	for _, block := range shellBlock.FindAllStringSubmatch(read(t, "infrastructure/README.md"), -1) {
		if strings.Contains(block[1], "go run ./internal/cmd/standin") {
			continue
		}
		out, err := shell(t, clone, before+block[1])
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, block[1], cli.Unwrap(out))
		}
		if strings.Contains(block[1], " plan ") {
			streamstest.WantText(t, out, "No changes.")
		}
		for _, line := range regexp.MustCompile(`(?m)^(cd|export) .*\n`).FindAllString(block[1], -1) {
			before += line
		}
	}
	return home
}
