package acceptance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const (
	notChanged = "The stream was not changed."
	unknown    = "The stream may or may not have been changed; apply again: sending the same set twice is safe."
	reported   = "The service reports that the stream now has [%s, \"p9\"]."
)

// failures are what the service does to each request on one stream, and what the error then says.
var failures = []struct {
	id       string
	fault    streamstest.Fault
	summary  string
	code     string // the line of the configuration that the error shows, behind its number
	says     string
	lastLine string // what is true of the stream now
}{
	{"400", streamstest.Fault{Status: 400}, "Bad Request Error", "processor_ids", "injected: 400 Bad Request", notChanged},
	{"401", streamstest.Fault{Status: 401}, "Authentication Error", "resource", "injected: 401 Unauthorized", notChanged},
	{"403", streamstest.Fault{Status: 403}, "Unauthorized Error", "resource", "injected: 403 Forbidden", notChanged},
	{"404", streamstest.Fault{Status: 404}, "Resource Not Found Error", "stream_id", "injected: 404 Not Found", notChanged},
	{"408", streamstest.Fault{Status: 408}, "Timeout Error", "resource", "injected: 408 Request Timeout", unknown},
	{"500", streamstest.Fault{Status: 500, Apply: true, Message: "out of cheese"}, "Generic Error", "resource", "out of cheese", unknown},
	{"502", streamstest.Fault{Status: 502}, "Bad Gateway Error", "resource", "injected: 502 Bad Gateway", unknown},
	{"reset", streamstest.Fault{ResetAfter: true}, "Connection Failed", "resource", "The connection failed", unknown},
	{"moved", streamstest.Fault{Status: 301, Header: http.Header{"Location": {"/login"}}},
		"Redirect Refused", "resource", "/login", notChanged},
	{"merged", streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ProcessorIDs = append(s.ProcessorIDs, "p9") }},
		"Unexpected Answer", "resource", "may merge sets instead of replacing them", reported},
}

// A failed create is not in the state, a failed update changes nothing in the state but to what the service reported, and a
// failed destroy keeps the resource. What may have been applied is sent again, also if the configuration goes back.
func TestAccErrors(t *testing.T) {
	service, url := streamstest.Start(t, streamstest.Options{})
	faults := map[string]*streamstest.Fault{}
	var ids []string
	for _, f := range failures {
		faults[f.id], ids = &f.fault, append(ids, f.id)
	}
	service.Seed(streamstest.Streams(ids...)...)
	breakService := func() {
		service.InjectFunc(func(r streamstest.Request) *streamstest.Fault { return faults[r.StreamID] })
	}
	mend := func() { service.InjectFunc(nil); service.ForgetRequests() }
	config := func(set string) string {
		blocks := providerAt(url, `retry = { max_attempts = 2, min_backoff = "1ms", max_backoff = "1ms" }`)
		for _, id := range ids {
			blocks += resourceOf("_"+id, id, set, "")
		}
		return blocks
	}
	errorsOf := func(verb, set string) (texts []string) { // in the order of the configuration
		for _, f := range failures {
			texts = append(texts, "Error: "+f.summary, "with stream_processors._"+f.id+",", ": "+f.code,
				fmt.Sprintf("stream %q could not be %s", f.id, verb))
			if f.lastLine != unknown { // otherwise the error may repeat another's cause, and is short
				texts = append(texts, "PATCH "+url+"/v2/streams/"+f.id)
			}
			texts = append(texts, f.says, strings.Replace(f.lastLine, "%s", set, 1))
		}
		return texts
	}
	// planned is a plan that creates and updates the listed resources, and changes nothing of the others.
	planned := func(created, updated []string) (c resource.ConfigPlanChecks) {
		for _, id := range ids {
			action := plancheck.ResourceActionNoop
			if slices.Contains(created, id) {
				action = plancheck.ResourceActionCreate
			} else if slices.Contains(updated, id) {
				action = plancheck.ResourceActionUpdate
			}
			c.PreApply = append(c.PreApply, plancheck.ExpectResourceAction("stream_processors._"+id, action))
		}
		return c
	}
	uncertain := []string{"408", "500", "502", "reset", "merged"}
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		{
			PreConfig:   breakService,
			Config:      config(`"p1"`),
			ExpectError: says(errorsOf("set", `"p1"`)...),
		}, {
			PreConfig:        mend,
			Config:           config(`"p1"`),
			ConfigPlanChecks: planned(ids, nil),
		}, {
			PreConfig:   breakService,
			Config:      config(`"p2"`),
			ExpectError: says(errorsOf("updated", `"p2"`)...),
		}, {
			PreConfig:          mend,
			RefreshState:       true,
			ExpectNonEmptyPlan: true,
			Check: resource.ComposeAggregateTestCheckFunc(
				resource.TestCheckResourceAttr("stream_processors._400", "processor_ids.0", "p1"),
				resource.TestCheckResourceAttr("stream_processors._500", "processor_ids.0", "p1"),
				resource.TestCheckResourceAttr("stream_processors._merged", "processor_ids.0", "p2"),
				resource.TestCheckResourceAttr("stream_processors._merged", "processor_ids.1", "p9"),
			),
		}, {
			Config:           config(`"p1"`),
			ConfigPlanChecks: planned(nil, uncertain),
			PostApplyFunc:    func() { service.WantRequests(t, updatesOf(sets(uncertain, `"p1"`))...) },
		}, {
			PreConfig:   breakService,
			Config:      config(`"p1"`),
			Destroy:     true,
			ExpectError: says(`The processors of stream "500" could not be detached.`),
		}, {
			PreConfig:        mend,
			Config:           config(`"p1"`),
			ConfigPlanChecks: planned([]string{"404"}, uncertain),
		},
	}})
}
