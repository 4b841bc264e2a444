package examples

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// example says how an example is run as a module of one configuration.
type example struct {
	folder    string
	options   streamstest.Options
	arguments string            // of the module
	edits     []string          // pairs of a text of the example and its replacement
	attached  map[string]string // the processors of each stream after an apply
	detached  map[string]string // and after a destroy
}

var (
	entrance = map[string]string{"cam-1": "object-detection people-counter"}
	oneEach  = map[string]string{"cam-1": "object-detection people-counter", "cam-2": "object-detection"}
	parking  = map[string]string{"cam-2": "object-detection plate-reader"}
	parkings = map[string]string{"cam-4": "object-detection plate-reader", "cam-5": "object-detection"}
	detected = map[string]string{"cam-1": "object-detection"}
	restored = map[string]string{"cam-2": "object-detection"}
)

var applied = []example{
	{folder: "provider", attached: entrance},
	{folder: "actions/stream_set_processors", attached: oneEach, detached: restored},
	{folder: "data-sources/stream_processors", options: streamstest.Options{ServeGet: true}},
	{folder: "data-sources/stream_processors_group", options: streamstest.Options{ServeGet: true}},
	{folder: "existing-streams/attached", options: streamstest.Options{ServeGet: true}},
	{folder: "existing-streams/create", options: streamstest.Options{ServeGet: true}, attached: oneEach, detached: oneEach},
	{folder: "fleet", attached: oneEach},
	{folder: "migrating/curl/after", attached: entrance},
	{folder: "migrating/restful/after", attached: entrance},
	{folder: "migrating/to-groups", attached: oneEach},
	{folder: "recipes/created-processors", attached: entrance},
	{folder: "recipes/created-streams", attached: oneEach},
	{folder: "recipes/daily", attached: map[string]string{
		"cam-1": "object-detection people-counter", "cam-2": "object-detection", "cam-3": "object-detection",
	}, detached: restored},
	{folder: "recipes/namespaces", attached: detected},
	{folder: "recipes/precondition", attached: oneEach},
	{folder: "recipes/send-again", attached: map[string]string{"cam-1": "object-detection", "cam-2": "object-detection"}},
	{folder: "resources/stream_processors", attached: map[string]string{
		"cam-1": "object-detection people-counter", "cam-2": "object-detection plate-reader",
		"cam-3": "object-detection", "cam-4": "face-blur object-detection",
	}, detached: parking},
	{folder: "resources/stream_processors_group", attached: map[string]string{
		"cam-1": "object-detection people-counter", "cam-2": "object-detection",
		"cam-4": "object-detection plate-reader", "cam-5": "object-detection",
	}, detached: parkings},
	{folder: "recipes/teams", attached: map[string]string{
		"cam-1": "face-blur object-detection plate-reader", "cam-2": "object-detection", "cam-3": "plate-reader",
	}},
	{folder: "terraform-test", arguments: "  cameras = { cam-1 = [\"face-blur\"] }\n", attached: map[string]string{"cam-1": "face-blur"}},
}

// elsewhere has the examples that need a root module or a state of their own, each with the test that runs it.
var elsewhere = map[string]func(*testing.T){
	"existing-streams/adopt":           TestAccPageAdoptFromAFile,
	"existing-streams/adopt-group":     TestAccPageAdoptFromAFile,
	"existing-streams/import":          TestAccPageExistingStreams,
	"existing-streams/lost-groups":     TestAccPageLostState,
	"infrastructure":                   TestAccInfrastructure,
	"infrastructure/opentofu":          TestAccInfrastructureOpenTofu,
	"list-resources/stream_processors": TestAccPageAdopt,
	"migrating/curl/before":            TestAccPageMigratingFromCurl,
	"two-regions":                      TestAccPageTwoRegions,
}

// TestEachExampleIsListed compares the lists with the folders that have a configuration.
func TestEachExampleIsListed(t *testing.T) {
	t.Parallel()
	listed, found := map[string]bool{}, map[string]bool{}
	for _, e := range append(schemes(t, map[string]string{}), applied...) {
		listed[e.folder] = true
	}
	for folder := range elsewhere {
		listed[folder] = true
	}
	for file := range texts(t, ".", ".tf", ".tofu", ".tfquery.hcl") {
		folder := filepath.ToSlash(filepath.Dir(file))
		if strings.HasPrefix(folder, "infrastructure/") && !listed[folder] {
			folder = "infrastructure" // one test runs the whole repository
		}
		found[folder] = true
	}
	if !maps.Equal(listed, found) {
		t.Errorf("the lists have %v, and the folders are %v", slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(found)))
	}
}

// TestAccApply installs the provider and applies all examples as modules of one configuration, each on a service of its
// own. It plans them again, makes a mistake in each of some, and destroys them all.
func TestAccApply(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "", "")
	w.Configure("")
	modules, services := []example{}, []*streamstest.Service{}
	for _, e := range append(schemes(t, w.Env), applied...) {
		if !supports(t, read(t, e.folder)) {
			continue
		}
		service, url := startService(t, e.options)
		addModule(t, w, e, url)
		modules, services = append(modules, e), append(services, service)
	}
	// What a spreadsheet adds changes nothing, and neither does a file without streams.
	for _, file := range []string{
		"existing-streams-create/cameras.csv", "fleet/cameras.csv", "recipes-precondition/cameras.csv", "recipes-teams/teams/traffic.csv",
	} {
		w.Edit(file, "stream_id", "\ufeffstream_id")
		w.Edit(file, "cam-1,", " cam-1 ,")
		w.Write(file, strings.ReplaceAll(w.Read(file), "object-detection people-counter", "\"object-detection,\tpeople-counter;\n\""))
	}
	w.Write("recipes-teams/teams/none.csv", "stream_id,processor_ids\n")
	w.MustRun("init")
	w.MustApply()
	for i, e := range modules {
		wantAttached(t, e.folder, services[i], e.attached)
		services[i].ForgetRequests()
	}
	w.Plan().Want(0)
	for _, atOnce := range [][]mistake{mistakes, invalid} {
		wrong := w.Copy(t)
		for _, m := range atOnce {
			wrong.Edit(filepath.Join(strings.ReplaceAll(m.folder, "/", "-"), m.file), m.from, m.to)
		}
		plan := wrong.Run("plan")
		for _, m := range atOnce {
			plan.Want(1, m.want)
		}
	}
	for i, e := range modules {
		for _, r := range services[i].Requests() {
			if !e.options.ServeGet || r.Method != http.MethodGet {
				t.Errorf("%s: the plans have sent %s", e.folder, r)
			}
		}
	}
	w.MustApply("-destroy")
	for i, e := range modules {
		wantAttached(t, e.folder, services[i], e.detached)
	}
}

// addModule copies an example and adds it to the configuration. Its provider has the given address.
func addModule(t *testing.T, w *clitest.Workspace, e example, url string) {
	t.Helper()
	name := strings.ReplaceAll(e.folder, "/", "-")
	copyExample(t, e.folder, filepath.Join(w.Dir, name))
	for i := 0; i < len(e.edits); i += 2 {
		w.Edit(filepath.Join(name, "provider.tf"), e.edits[i], e.edits[i+1])
	}
	text, address, file := read(t, filepath.Join(w.Dir, name)), fmt.Sprintf("provider \"stream\" {\n  base_url = %q\n}\n", url), "address.tf"
	if strings.Contains(text, `provider "stream" {`) {
		file = "address_override.tf" // Terraform merges it into the block of the example
	}
	w.Write(filepath.Join(name, file), address)
	w.Write("main.tf", w.Read("main.tf")+fmt.Sprintf("module %q {\n  source = %q\n%s}\n", name, "./"+name, e.arguments))
}

// mistake is a mistake that the documentation speaks of, with the message that it promises.
type mistake struct{ folder, file, from, to, want string }

// mistakes are what the plan finds.
var mistakes = []mistake{
	{"recipes/namespaces", "main.tf", `"acme.ptz"`, `"other.lidar"`,
		"Stream cam-1 is not compatible with acme.ptz, but with: acme.camera, acme.ptz."},
	{"provider", "provider.tf", `"people-counter"]`, `"people-counter"]` + "\n}\n" +
		"resource \"terraform_data\" \"command\" {\n  for_each = stream_processors.new.compatible_namespaces\n}\n" +
		"resource \"stream_processors\" \"new\" {\n  stream_id     = \"cam-2\"\n  processor_ids = []", "Invalid for_each argument"},
}

// invalid are what the validation before the plan finds: typos, and an id that is there twice.
var invalid = []mistake{
	{"recipes/precondition", "cameras.csv", "people-counter", "peeple-counter", "Unknown processors: peeple-counter."},
	{"fleet", "cameras.csv", "cam-2,", "cam-1,", "Two different items produced the key \"cam-1\""},
}

// schemes returns the examples of authentication, each with a service that demands the scheme, and sets what they need in
// the environment.
func schemes(t *testing.T, environment map[string]string) []example {
	t.Helper()
	file := func(content string) string {
		path := filepath.Join(t.TempDir(), "file")
		clitest.WriteFile(t, path, content)
		return filepath.ToSlash(path)
	}
	secrets := &streamstest.TokenServer{
		ClientID: "terraform", ClientSecret: "s3cret", Scope: "streams.write", Audience: "https://streams.example.com",
	}
	assertive := &streamstest.TokenServer{ClientID: "terraform"}
	withSecret, withAssertion := httptest.NewServer(secrets), httptest.NewServer(assertive)
	t.Cleanup(withSecret.Close)
	t.Cleanup(withAssertion.Close)
	environment["TFC_WORKLOAD_IDENTITY_TOKEN_STREAM"] = assertive.IssueAssertion("terraform") // used only where oauth2 has no other
	ca := streamstest.NewAuthority(t)
	client := ca.Issue(t, "terraform")
	scheme := func(name string, authorize func(*http.Request) error, argument string, edits ...string) example {
		return example{
			folder: "authentication/" + name, options: streamstest.Options{Authorize: authorize},
			arguments: argument, edits: edits, attached: entrance,
		}
	}
	const login = "https://login.example.com/token"
	return []example{
		scheme("token", streamstest.Bearer("t0ken"), "  token = \"t0ken\"\n"),
		scheme("token-file", streamstest.Bearer("t0ken"), "", "/var/run/secrets/streams/token", file("t0ken\n")),
		scheme("basic-auth", streamstest.Basic("terraform", "pass"), "  password = \"pass\"\n"),
		scheme("api-key-header", streamstest.APIKey("X-Api-Key", "k3y"), "  api_key = \"k3y\"\n"),
		scheme("oauth2", secrets.Authorize, "  client_secret = \"s3cret\"\n", login, withSecret.URL),
		scheme("client-assertion", assertive.Authorize, "", login, withAssertion.URL,
			"/var/run/secrets/streams/assertion", file(assertive.IssueAssertion("terraform"))),
		scheme("workload-identity", assertive.Authorize, "", login, withAssertion.URL),
		// The provider parses the certificates. That it uses them is tested in internal/streams.
		scheme("mutual-tls", nil, "", "ca.pem", file(ca.CertPEM), "client.pem", file(client.CertPEM), "client.key", file(client.KeyPEM)),
	}
}
