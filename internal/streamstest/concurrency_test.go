package streamstest_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestConcurrentUse is for the race detector. It also checks that no request and no fault is lost.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	const clients, rounds = 16, 8
	service, url := streamstest.Start(t, streamstest.Options{})
	ended := 0
	service.OnRequest(func(streamstest.Request) { ended++ })
	faults := make([]streamstest.Fault, clients)
	for i := range faults {
		faults[i].Status = http.StatusServiceUnavailable
	}
	service.Inject(faults...)
	asked := 0
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		asked++
		service.Stream(r.StreamID)
		return nil
	})

	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			id := "cam-" + strconv.Itoa(i)
			service.Seed(streamstest.Stream{ID: id})
			for n := range rounds {
				// Repeat the update until it is applied, because a fault may refuse it.
				for status := 0; status != http.StatusOK; {
					resp, _, err := roundTrip(t, newRequest(t, "PATCH", url+"/v2/streams/"+id, `{"processor_ids":["p`+strconv.Itoa(n)+`"]}`))
					if err != nil {
						t.Error(err)
						return
					}
					status = resp.StatusCode
				}
				service.Configure(func(o *streamstest.Options) { o.KeepLastEdited = !o.KeepLastEdited })
				service.Requests()
			}
		})
	}
	wg.Wait()

	const want = clients*rounds + clients // each fault needs one more request
	requests := service.Requests()
	if len(requests) != want || ended != want || asked != clients*rounds {
		t.Errorf("%d requests, %d OnRequest calls, %d InjectFunc calls; want %d, %d, %d", len(requests), ended, asked, want, want, clients*rounds)
	}
	for i, r := range requests {
		if refused := r.Status == http.StatusServiceUnavailable; refused != (i < clients) {
			t.Errorf("request %d has status %d; only the first %d requests have a fault", i, r.Status, clients)
		}
	}
	for i := range clients {
		if diff := cmp.Diff([]string{"p" + strconv.Itoa(rounds-1)}, attachedProcessors(t, service, "cam-"+strconv.Itoa(i))); diff != "" {
			t.Errorf("stream %d (-want +got):\n%s", i, diff)
		}
	}
}
