package acceptance

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

const (
	notChanged = "The stream was not changed."
	unknown    = "The stream may or may not have been changed; run the command again: sending the same set twice is safe."
)

// failures are the kinds of errors in the interface. The id of a stream is the status of its responses.
var failures = []struct {
	id       string
	summary  string
	code     string // the line of the configuration that the error shows, behind its number
	lastLine string // what is true of the stream now
}{
	{"400", "Bad Request Error", "processor_ids", notChanged},
	{"401", "Authentication Error", "resource", notChanged},
	{"403", "Unauthorized Error", "resource", notChanged},
	{"404", "Resource Not Found Error", "stream_id", notChanged},
	{"408", "Timeout Error", "resource", unknown},
	{"500", "Generic Error", "resource", unknown}, // the service makes the update
	{"502", "Bad Gateway Error", "resource", unknown},
}

// A failed create is not in the state, and a failed update changes nothing in the state. What may have been applied is sent
// again, also if the configuration goes back.
func TestAccErrors(t *testing.T) {
	s := startService(t, streamstest.Options{})
	var ids []string
	for _, f := range failures {
		ids = append(ids, f.id)
	}
	s.Seed(streamstest.Streams(ids...)...)
	breakService := func() {
		s.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
			status, _ := strconv.Atoi(r.StreamID)
			return &streamstest.Fault{Status: status, Apply: status == 500}
		})
	}
	mend := func() {
		s.InjectFunc(nil)
		s.ForgetRequests()
	}
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
			texts = append(texts, "injected: "+f.id, f.lastLine)
		}
		return texts
	}
	planned := func(action plancheck.ResourceActionType, ids []string) (checks []plancheck.PlanCheck) {
		for _, id := range ids {
			checks = append(checks, plancheck.ExpectResourceAction("stream_processors._"+id, action))
		}
		return checks
	}
	uncertain := []string{"408", "500", "502"}
	created := s.apply(config(`"p1"`), planned(plancheck.ResourceActionCreate, ids), updatesOf(sets(ids, `"p1"`))...)
	back := s.apply(config(`"p1"`), planned(plancheck.ResourceActionUpdate, uncertain), updatesOf(sets(uncertain, `"p1"`))...)
	created.PreConfig, back.PreConfig = mend, mend
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
		},
		back,
	}})
}
