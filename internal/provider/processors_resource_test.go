package provider

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const this = "stream_processors.this"

// What a plan cannot know beforehand: anything of a stream not seen yet, or what an update may touch.
const (
	createPlanned  = "create compatible_namespaces fragment_type_id last_edited terminal_id"
	replacePlanned = "replace compatible_namespaces fragment_type_id last_edited terminal_id"
	updatePlanned  = "update compatible_namespaces last_edited"
	silentPlanned  = "update" // everything is known, because nothing is sent
)

// quick makes a lost attempt cost next to nothing.
const quick = `
provider "stream" {
  retry = { max_attempts = 3, min_backoff = "1ms", max_backoff = "5ms" }
}
`

// one is a configuration with a single resource.
func one(attributes string) string {
	return quick + "resource \"stream_processors\" \"this\" {\n" + attributes + "\n}\n"
}

// many is a configuration with a resource for each stream, all with the same set.
func many(ids []string, attributes string) string {
	return one(fmt.Sprintf("for_each = toset(%s)\nstream_id = each.key\n%s", hcl(ids), attributes))
}

// hcl writes texts without ${ or %{ as a list.
func hcl(texts []string) string {
	var b strings.Builder
	for _, text := range texts {
		fmt.Fprintf(&b, "%q, ", text)
	}
	return "[" + b.String() + "]"
}

// each is the address of an instance of many.
func each(id string) string { return fmt.Sprintf("%s[%q]", this, id) }

// all maps the address of each instance to the same text.
func all(ids []string, text string) map[string]string {
	m := map[string]string{}
	for _, id := range ids {
		m[each(id)] = text
	}
	return m
}

func TestAccCreateSendsOnePatchAStream(t *testing.T) {
	t.Parallel()
	ids := []string{"a/b", "ü x", "%2e%2e", "q?x=1#f", "...", "cam-1", `"\`}
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, `
resource "stream_processors" "this" {
  for_each      = toset(["a/b", "ü x", "%2e%2e", "q?x=1#f", "...", "cam-1", "\"\\"])
  stream_id     = each.key
  processor_ids = ["p2", "p1"]
}
`)
	w.mustApply()
	service.WantRequests(t,
		`PATCH /v2/streams/a%2Fb {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/%C3%BC%20x {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/%252e%252e {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/q%3Fx=1%23f {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/... {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/cam-1 {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/%22%5C {"processor_ids":["p1","p2"]}`,
	)
	for _, id := range ids {
		service.WantAttached(t, id, "p1", "p2")
	}
	w.wantNoChanges()
	service.WantRequests(t)
}

// One resource through all that a user changes on it, one after the other.
func TestAccChanges(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam")...)
	w := newWorkspace(t, url, "")
	for _, step := range []struct {
		name       string
		attributes string
		planned    string   // empty: no change
		sent       []string // the bodies, in order
	}{
		{"create", `processor_ids = ["p2", "p1"]`, createPlanned, []string{`["p1","p2"]`}},
		{"reordered", `processor_ids = ["p1", "p2"]`, "", nil},
		{"repeated", `processor_ids = ["p1", "p2", "p1"]`, "", nil},
		{"defaults spelled out", `
			processor_ids = ["p1", "p2"]
			on_destroy    = "detach"
			triggers      = null
			timeouts      = null`, "", nil},
		{"another id", `processor_ids = ["p1", "p3"]`, updatePlanned, []string{`["p1","p3"]`}},
		{"none of the old ids", `processor_ids = ["p4"]`, updatePlanned, []string{`["p4"]`}},
		{"on_destroy alone", `
			processor_ids = ["p4"]
			on_destroy    = "keep"`, silentPlanned, nil},
		{"timeouts alone", `
			processor_ids = ["p4"]
			on_destroy    = "keep"
			timeouts      = { update = "10m" }`, silentPlanned, nil},
		{"on_destroy and timeouts away", `processor_ids = ["p4"]`, silentPlanned, nil},
		{"a trigger", `
			processor_ids = ["p4"]
			triggers      = { version = "1" }`, updatePlanned, []string{`["p4"]`}},
		{"another value of the trigger", `
			processor_ids = ["p4"]
			triggers      = { version = "2" }`, updatePlanned, []string{`["p4"]`}},
		{"no trigger", `processor_ids = ["p4"]`, updatePlanned, []string{`["p4"]`}},
		{"the empty set", `processor_ids = []`, updatePlanned, []string{`[]`}},
		{"all at once", `
			processor_ids = ["p5"]
			on_destroy    = "keep"
			triggers      = { version = "3" }
			timeouts      = { delete = "1m" }`, updatePlanned, []string{`["p5"]`}},
	} {
		w.write(one("stream_id = \"cam\"\n" + step.attributes))
		want := map[string]string{}
		if step.planned != "" {
			want[this] = step.planned
		}
		var requests []string
		for _, ids := range step.sent {
			requests = append(requests, `PATCH /v2/streams/cam {"processor_ids":`+ids+`}`)
		}
		t.Log(step.name)
		w.wantPlanned(want)
		service.WantRequests(t)
		w.mustApply("tfplan")
		service.WantRequests(t, requests...)
	}
	w.wantNoChanges()
}

// The computed values are those of the service, and follow it.
func TestAccComputedValues(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{
		ID: "cam", TerminalID: "t-9", FragmentTypeID: "f-9", LastEdited: 1767225600000,
		CompatibleNamespaces: []string{"b", "a", "b"},
	})
	service.Configure(func(o *streamstest.Options) { o.KeepLastEdited = true })
	w := newWorkspace(t, url, one(`
  stream_id     = "cam"
  processor_ids = []
`))
	want := func(namespaces []any, edited float64) {
		t.Helper()
		state := w.resources()[this].AttributeValues
		for name, want := range map[string]any{
			"id": "cam", "terminal_id": "t-9", "fragment_type_id": "f-9", "compatible_namespaces": namespaces, "last_edited": edited,
		} {
			if diff := cmp.Diff(want, state[name]); diff != "" {
				t.Errorf("%s in the state (-want +got):\n%s", name, diff)
			}
		}
	}
	w.mustApply()
	want([]any{"a", "b"}, 1767225600000)

	service.Seed(streamstest.Stream{ID: "cam", LastEdited: 1767225600001, CompatibleNamespaces: []string{}})
	w.wantNoChanges() // nobody looked
	w.write(one(`
  stream_id     = "cam"
  processor_ids = ["p1"]
`))
	w.mustApply()
	want([]any{}, 1767225600001)
	w.wantNoChanges()
}

func TestAccChangedStream(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("a", "b", "c", "d")...)
	config := `
resource "stream_processors" "detach" {
  stream_id     = %q
  processor_ids = ["p1"]
}
resource "stream_processors" "keep" {
  stream_id     = %q
  processor_ids = ["p2"]
  on_destroy    = "keep"
}
`
	w := newWorkspace(t, url, fmt.Sprintf(config, "a", "b"))
	w.mustApply()
	service.ForgetRequests()

	w.write(fmt.Sprintf(config, "c", "d"))
	w.wantPlanned(map[string]string{"stream_processors.detach": replacePlanned, "stream_processors.keep": replacePlanned})
	service.WantRequests(t)
	w.mustApply("tfplan")
	var order []string
	for _, r := range service.Requests() {
		if r.StreamID != "d" {
			order = append(order, r.String())
		}
	}
	if got := strings.Join(order, "\n"); got != `PATCH /v2/streams/a {"processor_ids":[]} → 200`+"\n"+
		`PATCH /v2/streams/c {"processor_ids":["p1"]} → 200` {
		t.Errorf("the old stream, then the new one; got\n%s", got)
	}
	service.WantRequests(t,
		`PATCH /v2/streams/a {"processor_ids":[]}`,
		`PATCH /v2/streams/c {"processor_ids":["p1"]}`,
		`PATCH /v2/streams/d {"processor_ids":["p2"]}`,
	)
	service.WantAttached(t, "a")
	service.WantAttached(t, "b", "p2")
	w.wantNoChanges()
}

func TestAccDestroy(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("detach", "keep", "changed mind", "gone", "lost")...)
	config := `
resource "stream_processors" "this" {
  for_each      = toset(["detach", "keep", "changed mind", "gone", "lost"])
  stream_id     = each.key
  processor_ids = ["p1"]
  on_destroy    = %s
}
`
	w := newWorkspace(t, url, fmt.Sprintf(config, `each.key == "keep" ? "keep" : null`))
	w.mustApply()
	w.write(fmt.Sprintf(config, `endswith(each.key, "e") || each.key == "changed mind" ? "keep" : "detach"`))
	w.mustApply("-target=" + each("changed mind"))
	service.ForgetRequests()

	service.Remove("gone")
	page := "404 page not found\n"
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if r.StreamID == "lost" {
			return &streamstest.Fault{Status: http.StatusNotFound, Body: &page}
		}
		return nil
	})
	w.write("")
	r, complaints := w.complaints("apply", "-auto-approve")
	if r.code != 0 {
		t.Fatalf("apply: %v", r)
	}
	service.WantRequests(t,
		`PATCH /v2/streams/detach {"processor_ids":[]}`,
		`PATCH /v2/streams/gone {"processor_ids":[]}`,
		`PATCH /v2/streams/lost {"processor_ids":[]}`,
	)
	service.WantAttached(t, "detach")
	service.WantAttached(t, "keep", "p1")
	service.WantAttached(t, "changed mind", "p1")
	if len(complaints) != 1 || complaints[0].Severity != "warning" {
		t.Errorf("want one warning, about the 404 that is not the service's own; got %+v", complaints)
	} else {
		wantIn(t, complaints[0].Detail, `"lost"`, "404 page not found", "base_url")
	}
	if left := w.resources(); len(left) > 0 {
		t.Errorf("the state still has %v", left)
	}
}

// Values that come from other resources are known only when they are needed.
func TestAccUnknownAtPlan(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("a", "b", "c")...)
	config := `
resource "terraform_data" "ids" {
  input = { a = "a", set = ["p1", "%[1]s"], one = "%[1]s" }
}
resource "stream_processors" "stream" {
  stream_id     = terraform_data.ids.output.a
  processor_ids = ["p1"]
}
resource "stream_processors" "set" {
  stream_id     = "b"
  processor_ids = terraform_data.ids.output.set
}
resource "stream_processors" "element" {
  stream_id     = "c"
  processor_ids = ["p1", terraform_data.ids.output.one]
}
`
	w := newWorkspace(t, url, fmt.Sprintf(config, "p2"))
	w.wantPlanned(map[string]string{
		"terraform_data.ids":        "create id output",
		"stream_processors.stream":  "create compatible_namespaces fragment_type_id id last_edited stream_id terminal_id",
		"stream_processors.set":     "create compatible_namespaces fragment_type_id last_edited processor_ids terminal_id",
		"stream_processors.element": "create compatible_namespaces fragment_type_id last_edited processor_ids terminal_id",
	})
	w.mustApply("tfplan")
	service.WantAttached(t, "a", "p1")
	service.WantAttached(t, "b", "p1", "p2")
	service.WantAttached(t, "c", "p1", "p2")
	w.wantNoChanges()
	service.ForgetRequests()

	w.write(fmt.Sprintf(config, "p3"))
	w.mustApply("-target=stream_processors.set", "-target=stream_processors.element")
	service.WantRequests(t,
		`PATCH /v2/streams/b {"processor_ids":["p1","p3"]}`,
		`PATCH /v2/streams/c {"processor_ids":["p1","p3"]}`,
	)
	w.wantNoChanges()
}

// Sensitive values work like others, and stay hidden.
func TestAccSensitiveValues(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("hush-1")...)
	config := `
variable "stream" {
  default   = "hush-1"
  sensitive = true
}
variable "ids" {
  default   = ["hush-2", %q]
  sensitive = true
}
resource "stream_processors" "this" {
  stream_id     = var.stream
  processor_ids = var.ids
  triggers      = { ids = join(",", var.ids) }
}
`
	w := newWorkspace(t, url, fmt.Sprintf(config, "hush-3"))
	for _, last := range []string{"hush-3", "hush-4"} {
		w.write(fmt.Sprintf(config, last))
		r := w.mustApply()
		if strings.Contains(r.text(), "hush-2") || strings.Contains(r.text(), last) {
			t.Errorf("a sensitive value is shown: %v", r)
		}
		service.WantRequests(t, `PATCH /v2/streams/hush-1 {"processor_ids":["hush-2","`+last+`"]}`)
		w.wantNoChanges()
	}
}

func TestAccBaseURL(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("0", "1", "2", "3", "environment")...)
	behind, gateway := streamstest.Start(t, streamstest.Options{Prefix: "/gateway/eu%2F1"}, streamstest.Streams("4", "5")...)
	config := "resource \"stream_processors\" \"environment\" {\n  stream_id = \"environment\"\n  processor_ids = []\n}\n"
	for i, base := range []string{
		url, url + "/", url + "/v2", url + "/v2/", gateway + "/gateway/eu%2F1", gateway + "/gateway/eu%2F1/v2/",
	} {
		config += fmt.Sprintf(`
provider "stream" {
  alias    = "p%[1]d"
  base_url = %[2]q
}
resource "stream_processors" "p%[1]d" {
  provider      = stream.p%[1]d
  stream_id     = "%[1]d"
  processor_ids = []
}
`, i, base)
	}
	w := newWorkspace(t, url, config)
	w.mustApply()
	var want []string
	for _, id := range []string{"0", "1", "2", "3", "environment"} {
		want = append(want, "PATCH /v2/streams/"+id+` {"processor_ids":[]}`)
	}
	service.WantRequests(t, want...)
	behind.WantRequests(t,
		`PATCH /gateway/eu%2F1/v2/streams/4 {"processor_ids":[]}`,
		`PATCH /gateway/eu%2F1/v2/streams/5 {"processor_ids":[]}`,
	)
}

// The same life in the form of terraform-plugin-testing, which most providers use.
func TestAccLifecycle(t *testing.T) {
	t.Parallel()
	onStandIn(t)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam", TerminalID: "t-1"})
	config := func(ids string) string {
		return fmt.Sprintf("provider \"stream\" {\n  base_url = %q\n}\n", url) + `
resource "stream_processors" "this" {
  stream_id     = "cam"
  processor_ids = ` + ids + `
}
`
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"stream": func() (tfprotov6.ProviderServer, error) { return NewServer("test")(), nil },
		},
		Steps: []resource.TestStep{
			{
				Config: config(`["p2", "p1"]`),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(this, tfjsonpath.New("id"), knownvalue.StringExact("cam")),
					statecheck.ExpectKnownValue(this, tfjsonpath.New("terminal_id"), knownvalue.StringExact("t-1")),
					statecheck.ExpectKnownValue(this, tfjsonpath.New("on_destroy"), knownvalue.StringExact("detach")),
					statecheck.ExpectKnownValue(this, tfjsonpath.New("processor_ids"), knownvalue.SetExact([]knownvalue.Check{
						knownvalue.StringExact("p1"), knownvalue.StringExact("p2"),
					})),
				},
			},
			{
				Config: config(`["p1", "p2"]`),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
			},
			{
				Config: config(`["p3"]`),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply: []plancheck.PlanCheck{
						plancheck.ExpectResourceAction(this, plancheck.ResourceActionUpdate),
						plancheck.ExpectKnownValue(this, tfjsonpath.New("terminal_id"), knownvalue.StringExact("t-1")),
						plancheck.ExpectUnknownValue(this, tfjsonpath.New("last_edited")),
					},
				},
			},
			{
				ResourceName:  this,
				ImportState:   true,
				ImportStateId: "cam",
				// The interface document has no read: the id is all that an import can know.
				ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{
					"processor_ids", "terminal_id", "fragment_type_id", "compatible_namespaces", "last_edited",
				},
			},
		},
	})
	service.WantRequests(t,
		`PATCH /v2/streams/cam {"processor_ids":["p1","p2"]}`,
		`PATCH /v2/streams/cam {"processor_ids":["p3"]}`,
		`PATCH /v2/streams/cam {"processor_ids":[]}`,
	)
}
