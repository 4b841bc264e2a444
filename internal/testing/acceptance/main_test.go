// Package acceptance tests the provider with a real Terraform or OpenTofu CLI: most tests with terraform-plugin-testing,
// whose provider runs in the process of the test, and the others with clitest. .github/CONTRIBUTING.md has the rule.
package acceptance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/stream-management/terraform-provider-stream/internal/server"
	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

func TestMain(m *testing.M) {
	d, err := realDeployment()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); d == nil && strings.HasPrefix(name, "STREAM_") {
			os.Unsetenv(name) // the stand-in service needs none
		}
	}
	os.Setenv("TF_CLI_CONFIG_FILE", os.DevNull) // as in the Makefile
	if program, err := cli.Find(); err == nil {
		os.Setenv("TF_ACC_TERRAFORM_PATH", program)
		if cli.IsTofu(program) {
			os.Setenv("TF_ACC_PROVIDER_HOST", cmp.Or(os.Getenv("TF_ACC_PROVIDER_HOST"), "registry.opentofu.org"))
			os.Setenv("TF_ACC_PROVIDER_NAMESPACE", cmp.Or(os.Getenv("TF_ACC_PROVIDER_NAMESPACE"), "hashicorp"))
		}
	}
	os.Exit(clitest.RunTests(m))
}

// parallelTest is [resource.ParallelTest] with the provider of this tree. The test is skipped on a real deployment.
func parallelTest(t *testing.T, c resource.TestCase) {
	t.Helper()
	skipOnRealDeployment(t)
	c.ProtoV6ProviderFactories = providers
	resource.ParallelTest(t, c)
}

var providers = map[string]func() (tfprotov6.ProviderServer, error){
	"stream": func() (tfprotov6.ProviderServer, error) { return server.New("test", nil)(), nil },
}

func skipOnRealDeployment(t *testing.T) {
	t.Helper()
	if d, _ := realDeployment(); d != nil {
		t.Skip("needs the switches of the stand-in service, and STREAM_BASE_URL names another one")
	}
}

// testService is the service of one test. Its steps check what it receives.
type testService struct {
	*streamstest.Service
	url string
	t   *testing.T
}

func startService(t *testing.T, opts streamstest.Options, seed ...streamstest.Stream) testService {
	t.Helper()
	service, url := streamstest.Start(t, opts, seed...)
	return testService{service, url, t}
}

// provider is a provider block with the address of the service and other attributes.
func (s testService) provider(others string) string {
	return providerWith(fmt.Sprintf("base_url = %q\n  %s", s.url, others))
}

// apply is a step that checks the plan of a configuration, and the requests since the step before.
func (s testService) apply(config string, plan []plancheck.PlanCheck, requests ...string) resource.TestStep {
	return resource.TestStep{
		Config:           config,
		ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: plan},
		PostApplyFunc:    s.received(requests...),
	}
}

func (s testService) received(requests ...string) func() {
	return func() { s.WantRequests(s.t, requests...) }
}

// newWorkspace makes a root module with a configuration and runs init. Its provider talks to a service at baseURL. The test
// is skipped unless TF_ACC is set, and on a real deployment.
func newWorkspace(t *testing.T, baseURL, hcl string) *clitest.Workspace {
	t.Helper()
	skipOnRealDeployment(t)
	w := clitest.New(t, "magodo/restful")
	w.Setenv("STREAM_BASE_URL=" + baseURL)
	w.Write("versions.tf", clitest.RequireProvider)
	w.Configure(hcl)
	w.MustRun("init")
	return w
}

// skipOnTofu skips a test of a feature that OpenTofu does not have. Its versions are not those of Terraform.
func skipOnTofu(t *testing.T, feature string) {
	t.Helper()
	if program, _ := cli.Find(); cli.IsTofu(program) {
		t.Skip("OpenTofu has no " + feature)
	}
}

// says matches an error that has all of the texts in this order. A CLI breaks lines where the terminal ends.
func says(texts ...string) *regexp.Regexp {
	for i, text := range texts {
		texts[i] = strings.ReplaceAll(regexp.QuoteMeta(text), " ", `\s+`)
	}
	return regexp.MustCompile("(?s)" + strings.Join(texts, ".*"))
}

// setOf is a set of exactly these texts.
func setOf(texts ...string) knownvalue.Check {
	checks := []knownvalue.Check{}
	for _, text := range texts {
		checks = append(checks, knownvalue.StringExact(text))
	}
	return knownvalue.SetExact(checks)
}

// The addresses of the one resource in many configurations.
const (
	this  = "stream_processors.this"
	group = "stream_processors_group.this"
)

// providerWith is a provider block.
func providerWith(body string) string { return "provider \"stream\" {\n  " + body + "\n}\n" }

// resourceOf is a resource with one stream, and other attributes.
func resourceOf(name, streamID, set, others string) string {
	return fmt.Sprintf("resource \"stream_processors\" %q {\n  stream_id     = %s\n  processor_ids = [%s]\n  %s\n}\n",
		name, hcl(streamID), set, others)
}

// resourceForEach has a resource for each stream, all with the same set and other attributes.
func resourceForEach(ids []string, set, others string) string {
	return fmt.Sprintf("resource \"stream_processors\" \"this\" {\n  for_each      = toset(%s)\n  stream_id     = each.key\n"+
		"  processor_ids = [%s]\n  %s\n}\n", hcl(ids), set, others)
}

// groupOf is a group with these streams, and other attributes.
func groupOf(streams map[string]string, others string) string {
	text := "resource \"stream_processors_group\" \"this\" {\n  streams = {\n"
	for id, set := range streams {
		text += fmt.Sprintf("    %s = [%s]\n", hcl(id), set)
	}
	return text + "  }\n  " + others + "\n}\n"
}

// sets gives streams one set.
func sets(ids []string, set string) map[string]string {
	streams := map[string]string{}
	for _, id := range ids {
		streams[id] = set
	}
	return streams
}

// updatesOf are the requests that give streams their sets.
func updatesOf(streams map[string]string) []string {
	var lines []string
	for id, set := range streams {
		lines = append(lines, updateOf(id, set))
	}
	return lines
}

func updateOf(id, set string) string {
	return fmt.Sprintf(`PATCH /v2/streams/%s {"processor_ids":[%s]}`, id, strings.ReplaceAll(set, ", ", ","))
}

// fleetIDs are the ids of n streams.
func fleetIDs(n int) []string {
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprintf("cam-%d", i+1))
	}
	return ids
}

// hcl writes a text, a list or a map of them as an expression.
func hcl(value any) string {
	encoded, _ := json.Marshal(value) // JSON is HCL, except for templates
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(string(encoded))
}
