package acceptance

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// requests_per_second bounds all requests together, including retries.
func TestAccRequestsPerSecond(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(fleetIDs(15)...)...)
	service.Inject(streamstest.Fault{Status: 503}, streamstest.Fault{Status: 429}) // 17 requests
	w := newWorkspace(t, url, `
provider "stream" {
  requests_per_second = 5
  retry               = { min_backoff = "1ms", max_backoff = "2ms" }
}
`+fleet(15))
	w.mustApply("-parallelism=15")

	requests := service.Requests()
	if len(requests) != 17 {
		t.Fatalf("%d requests, want 17", len(requests))
	}
	// 16 intervals of 200 ms, and some tolerance: the first request may arrive late.
	if took := requests[16].Start.Sub(requests[0].Start); took < 2900*time.Millisecond || took > 8*time.Second {
		t.Errorf("the requests took %s, want 3.2 s", took)
	}
}

// Each attempt has request_timeout, and max_attempts bounds the number of attempts.
func TestAccAttempts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		block    string
		fault    streamstest.Fault
		attempts int
		want     []string
	}{
		{
			"request_timeout", `
  request_timeout = "200ms"
  retry           = { max_attempts = 2, min_backoff = "1ms", max_backoff = "1ms" }`,
			streamstest.Fault{Delay: time.Hour}, 2,
			[]string{"Error: Timeout Error", "The service did not respond within 200ms.", "(2 attempts)", "The stream may or may not have been changed"},
		},
		{
			"one attempt", `
  retry = { max_attempts = 1 }`,
			streamstest.Fault{Status: 503, Message: "come back later"}, 1,
			[]string{"Error: Generic Error", "→ 503 Service Unavailable The service said: come back later"},
		},
		{
			"three attempts", `
  retry = { max_attempts = 3, max_backoff = "1ms" }`,
			streamstest.Fault{Status: 502, Message: "nobody there"}, 3,
			[]string{"Error: Bad Gateway Error", "→ 502 Bad Gateway (3 attempts) The service said: nobody there"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
			service.InjectFunc(func(streamstest.Request) *streamstest.Fault { return &test.fault })
			wantResult(t, newWorkspace(t, url, withProvider(test.block)).apply(), 1, test.want...)
			if got := len(service.Requests()); got != test.attempts {
				t.Errorf("%d requests, want %d", got, test.attempts)
			}
		})
	}
}

// request_timeout bounds an attempt, and timeouts bounds an operation with all its attempts.
func TestAccTimeouts(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("attempt", "create", "update", "delete", "told to wait")...)
	config := `
provider "stream" {
  request_timeout = "1m"
}
provider "stream" {
  alias           = "impatient"
  request_timeout = "100ms"
  retry           = { max_attempts = 2, min_backoff = "1ms", max_backoff = "5ms" }
}
resource "stream_processors" "attempt" {
  provider      = stream.impatient
  stream_id     = "attempt"
  processor_ids = %[1]s
}
resource "stream_processors" "told_to_wait" {
  stream_id     = "told to wait"
  processor_ids = %[1]s
}
resource "stream_processors" "this" {
  for_each      = toset(["create", "update", "delete"])
  stream_id     = each.key
  processor_ids = %[1]s
  timeouts      = { (each.key) = "300ms" }
}
`
	w := newWorkspace(t, url, fmt.Sprintf(config, `["p1"]`))
	noResponse := streamstest.Fault{Delay: time.Hour}
	service.InjectFunc(faultsByStream(map[string]streamstest.Fault{
		"attempt":      noResponse,
		"create":       noResponse,
		"told to wait": {Status: 503, Message: "come back later", Header: http.Header{"Retry-After": {"3600"}}},
	}))
	got := w.applyErrors()
	if len(got) != 3 {
		t.Errorf("want three errors, got %+v", got)
	}
	for address, want := range map[string]string{
		"stream_processors.attempt":      "The service did not respond within 100ms.",
		addressOf("create"):              "The operation did not finish within its time limit.",
		"stream_processors.told_to_wait": "The service asked to wait 1h0m0s, which is longer than the operation's time limit allows.",
	} {
		wantContains(t, got[address].Detail, want, inDoubt)
	}
	if got := got["stream_processors.attempt"].Summary; got != "Timeout Error" {
		t.Errorf("the summary is %q", got)
	}
	if diff := cmp.Diff(map[string]int{"attempt": 2, "create": 1, "told to wait": 1, "update": 1, "delete": 1}, drainRequestCounts(service)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	service.InjectFunc(nil)
	w.mustApply()

	service.InjectFunc(faultsByStream(map[string]streamstest.Fault{"update": noResponse}))
	w.writeConfig(fmt.Sprintf(config, `["p2"]`))
	got = w.applyErrors()
	wantContains(t, got[addressOf("update")].Detail, "The operation did not finish within its time limit.", inDoubt)
	service.InjectFunc(nil)
	w.mustApply()
	w.wantNoChanges()

	service.InjectFunc(faultsByStream(map[string]streamstest.Fault{"delete": noResponse}))
	got = w.applyErrors("-destroy") // the errors of a destroy have no address
	wantContains(t, got[""].Detail, `of stream "delete"`, "The operation did not finish within its time limit.", inDoubt)
	service.InjectFunc(nil)
	w.mustApply("-destroy")
	service.WantAttached(t, "delete")
}
