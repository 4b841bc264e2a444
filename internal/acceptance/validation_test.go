package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Validate reports all wrong values of resources at once, each on its attribute.
func TestAccValidate(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		attributes string
		attribute  string // of the error
		want       string
	}{
		"empty_stream":         {`stream_id = ""`, "stream_id", "must not be empty"},
		"dot":                  {`stream_id = "."`, "stream_id", `must not be "."`},
		"dots":                 {`stream_id = ".."`, "stream_id", `must not be ".."`},
		"padded_before":        {`stream_id = " cam"`, "stream_id", "must not begin or end with white space"},
		"padded_after":         {`stream_id = "cam\n"`, "stream_id", "must not"},
		"only_space":           {`stream_id = " "`, "stream_id", "must not begin or end with white space"},
		"line_break":           {`stream_id = "a\nb"`, "stream_id", "must not contain control characters"},
		"delete_character":     {`stream_id = "a\u007fb"`, "stream_id", "must not contain control characters"},
		"null_stream":          {`stream_id = null`, "stream_id", "Must set a configuration value for the stream_id attribute"},
		"empty_processor":      {`processor_ids = ["p1", ""]`, "processor_ids", "must not be empty"},
		"padded_processor":     {`processor_ids = ["p1 "]`, "processor_ids", "must not begin or end with white space"},
		"null_processor":       {`processor_ids = [null]`, "processor_ids", "contains a null value"},
		"null_set":             {`processor_ids = null`, "processor_ids", "Must set a configuration value for the processor_ids attribute"},
		"no_set":               {`on_destroy = null`, "processor_ids", `The argument "processor_ids" is required`},
		"a_text_for_a_set":     {`processor_ids = "p1"`, "processor_ids", "set of string required"},
		"unknown_on_destroy":   {`on_destroy = "Detach"`, "on_destroy", `["detach" "keep"]`},
		"no_duration":          {`timeouts = { create = "soon" }`, "timeouts.create", `"30s"`},
		"negative_duration":    {`timeouts = { update = "-1m" }`, "timeouts.update", `"30s"`},
		"zero_duration":        {`timeouts = { delete = "0s" }`, "timeouts.delete", `"30s"`},
		"computed":             {`last_edited = 5`, "last_edited", "read-only"},
		"a_list_for_a_trigger": {`triggers = { a = ["b"] }`, "triggers", "element \"a\": string required"},
	}
	w := newWorkspace(t, "", "")
	var config strings.Builder
	for name, c := range cases {
		fmt.Fprintf(&config, "resource \"stream_processors\" %q {\n  %s\n", name, c.attributes)
		if !strings.HasPrefix(c.attributes, "stream_id") {
			config.WriteString("  stream_id = \"cam\"\n")
		}
		if !strings.HasPrefix(c.attributes, "processor_ids") && name != "no_set" {
			config.WriteString("  processor_ids = []\n")
		}
		config.WriteString("}\n")
	}
	w.writeConfig(config.String())
	_, diags := w.diagnostics("validate")
	for name, c := range cases {
		var found []diagnostic
		for _, d := range diags {
			if d.Severity == "error" && d.Snippet.Context == fmt.Sprintf("resource %q %q", "stream_processors", name) {
				found = append(found, d)
			}
		}
		if len(found) != 1 {
			t.Errorf("%s: want one error, got %+v", name, found)
			continue
		}
		d := found[0]
		wantContains(t, d.Detail, c.want)
		if !strings.Contains(d.Detail+d.Snippet.Code, c.attribute) {
			t.Errorf("%s: %s is not named in %+v", name, c.attribute, d)
		}
	}
}

// Validate reports all wrong values of one resource.
func TestAccValidateOneResource(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "", oneResource(`
  stream_id     = ".."
  processor_ids = ["", " p"]
  on_destroy    = "forget"
  timeouts      = { create = "1", read = "2" }
`))
	_, diags := w.diagnostics("validate")
	if len(diags) != 6 {
		t.Errorf("want 6 errors, got %+v", diags)
	}
}

// Plan reports wrong values from variables.
func TestAccValidateAtPlan(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam")...)
	w := newWorkspace(t, url, `
variable "stream" {}
variable "processor" {}
resource "stream_processors" "this" {
  stream_id     = var.stream
  processor_ids = [var.processor]
}
`)
	w.mustRun("validate", "-no-color")
	wantResult(t, w.plan("-var=stream=..", "-var=processor= p"), 1,
		`stream_id: ".." is not a stream id`, `processor_ids: " p" is not a processor id`)
	service.WantRequests(t)
}
