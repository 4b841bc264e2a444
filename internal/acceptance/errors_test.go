package acceptance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const (
	notChanged = "The stream was not changed."
	unknown    = "The stream may or may not have been changed; apply again: sending the same set twice is safe."
)

// failures are the kinds of errors in the interface, each on a stream of its own.
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
}

// A failed create is not in the state, a failed update changes nothing in the state, and a failed destroy keeps the resource.
// What may have been applied is sent again, also if the configuration goes back.
func TestAccErrors(t *testing.T) {
	s := startService(t, streamstest.Options{})
	faults := map[string]*streamstest.Fault{}
	var ids []string
	for _, f := range failures {
		faults[f.id], ids = &f.fault, append(ids, f.id)
	}
	s.Seed(streamstest.Streams(ids...)...)
	breakService := func() {
		s.InjectFunc(func(r streamstest.Request) *streamstest.Fault { return faults[r.StreamID] })
	}
	mend := func() { s.InjectFunc(nil); s.ForgetRequests() }
	config := func(set string) string {
		blocks := s.provider(`retry = { max_attempts = 2, min_backoff = "1ms", max_backoff = "1ms" }`)
		for _, id := range ids {
			blocks += resourceOf("_"+id, id, set, "")
		}
		return blocks
	}
	errorsOf := func(verb string) (texts []string) { // in the order of the configuration
		for _, f := range failures {
			texts = append(texts, "Error: "+f.summary, "with stream_processors._"+f.id+",", ": "+f.code,
				fmt.Sprintf("stream %q could not be %s", f.id, verb))
			if f.lastLine != unknown { // otherwise the error may repeat another's cause, and is short
				texts = append(texts, "PATCH "+s.url+"/v2/streams/"+f.id)
			}
			texts = append(texts, f.says, f.lastLine)
		}
		return texts
	}
	// planned is a plan that creates and updates the listed resources, and changes nothing of the others.
	planned := func(created, updated []string) (checks []plancheck.PlanCheck) {
		for _, id := range ids {
			action := plancheck.ResourceActionNoop
			if slices.Contains(created, id) {
				action = plancheck.ResourceActionCreate
			} else if slices.Contains(updated, id) {
				action = plancheck.ResourceActionUpdate
			}
			checks = append(checks, plancheck.ExpectResourceAction("stream_processors._"+id, action))
		}
		return checks
	}
	uncertain := []string{"408", "500", "502"}
	created := s.apply(config(`"p1"`), planned(ids, nil), updatesOf(sets(ids, `"p1"`))...)
	created.PreConfig = mend
	sentAgain := updatesOf(sets(uncertain, `"p1"`))
	recreated := s.apply(config(`"p1"`), planned([]string{"404"}, uncertain), append(sentAgain, updateOf("404", `"p1"`))...)
	recreated.PreConfig = mend
	parallelTest(t, resource.TestCase{Steps: []resource.TestStep{
		{
			PreConfig:   breakService,
			Config:      config(`"p1"`),
			ExpectError: says(errorsOf("set")...),
		},
		created,
		{
			PreConfig:   breakService,
			Config:      config(`"p2"`),
			ExpectError: says(errorsOf("updated")...),
		}, {
			PreConfig:          mend,
			RefreshState:       true,
			ExpectNonEmptyPlan: true,
			Check:              resource.TestCheckResourceAttr("stream_processors._500", "processor_ids.0", "p1"),
		},
		s.apply(config(`"p1"`), planned(nil, uncertain), sentAgain...),
		{
			PreConfig:   breakService,
			Config:      config(`"p1"`),
			Destroy:     true,
			ExpectError: says(`The processors of stream "500" could not be detached.`),
		},
		recreated,
	}})
}
