package streamstest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func TestRequests(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "a/b"})
	service.Inject(streamstest.Fault{}, streamstest.Fault{ResetBefore: true})

	req := newRequest(t, "PATCH", url+"/v2/streams/a%2Fb?x=%20y", `{"processor_ids":["p1"]}`)
	req.Header.Set("X-Test", "yes")
	before := time.Now()
	sendChecked(t, req)
	after := time.Now()
	if _, _, err := roundTrip(t, newRequest(t, "PATCH", url+"/v2/streams/a%2Fb", `{"processor_ids":[]}`)); err == nil {
		t.Error("the second request got a response")
	}
	sendChecked(t, newRequest(t, "POST", url+"/else", ""))

	requests := service.Requests()
	var got []string
	for _, r := range requests {
		got = append(got, r.String())
	}
	want := []string{
		`PATCH /v2/streams/a%2Fb?x=%20y {"processor_ids":["p1"]} → 200`,
		`PATCH /v2/streams/a%2Fb {"processor_ids":[]} → connection closed`,
		`POST /else → 404`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("requests (-want +got):\n%s", diff)
	}
	first := requests[0]
	if first.StreamID != "a/b" || requests[2].StreamID != "" {
		t.Errorf("stream ids %q and %q", first.StreamID, requests[2].StreamID)
	}
	if first.Header.Get("X-Test") != "yes" || first.Host != req.URL.Host || first.Proto != "HTTP/1.1" || first.TLS != nil {
		t.Errorf("the request differs from the one sent: %+v", first)
	}
	if !strings.HasPrefix(first.RemoteAddr, "127.0.0.1:") {
		t.Errorf("remote address %q", first.RemoteAddr)
	}
	if first.Start.Before(before) || first.End.Before(first.Start) || after.Before(first.End) {
		t.Errorf("times %s to %s, want within %s to %s", first.Start, first.End, before, after)
	}

	first.Header.Set("X-Test", "changed")
	if got := service.Requests()[0].Header.Get("X-Test"); got != "yes" {
		t.Errorf("the recorded header changed to %q", got)
	}
	service.ForgetRequests()
	if left := service.Requests(); len(left) != 0 {
		t.Errorf("after ForgetRequests: %v", left)
	}
}

func TestRequestIsRecordedOnArrival(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		const want = `PATCH /v2/streams/cam {"processor_ids":[]} → no response yet`
		if r.String() != want || len(service.Requests()) != 1 {
			t.Errorf("on arrival: %s of %v", r, service.Requests())
		}
		return nil
	})
	patch(t, url+"/v2/streams/cam", `{"processor_ids":[]}`)
}

// TestRecordIsCompleteBeforeResponse reads the record without waiting.
func TestRecordIsCompleteBeforeResponse(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
	var ended []string
	service.OnRequest(func(r streamstest.Request) { ended = append(ended, r.String()) })
	long := `{"processor_ids":["` + strings.Repeat("p", 1<<20) + `"]}` // a response larger than any buffer
	patch(t, url+"/v2/streams/cam", long)
	if r := service.Requests()[0]; r.Status != http.StatusOK || r.End.IsZero() || len(ended) != 1 {
		t.Errorf("status %d, end %s, %d OnRequest calls", r.Status, r.End, len(ended))
	}
	service.OnRequest(nil)
	patch(t, url+"/v2/streams/cam", `{"processor_ids":[]}`)
	if len(ended) != 1 {
		t.Errorf("calls after OnRequest(nil): %s", ended[1:])
	}
}

func TestRequestString(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, test := range map[string]struct {
		request streamstest.Request
		want    string
	}{
		"no body":            {streamstest.Request{Method: "GET", Target: "/v2/streams/x", Status: 405, End: now}, `GET /v2/streams/x → 405`},
		"JSON over lines":    {streamstest.Request{Method: "PATCH", Target: "/", Body: "{\n  \"a\": [1, 2]\n}\n", Status: 200, End: now}, `PATCH / {"a":[1,2]} → 200`},
		"control characters": {streamstest.Request{Method: "PATCH", Target: "/", Body: "a\r\n\x1b[2Jb", Status: 400, End: now}, `PATCH / a\r\n\x1b[2Jb → 400`},
		"letters and quotes": {streamstest.Request{Method: "PATCH", Target: "/", Body: `"ü 'x'"`, Status: 400, End: now}, `PATCH / "ü 'x'" → 400`},
		"long body":          {streamstest.Request{Method: "PATCH", Target: "/", Body: strings.Repeat("ü", 1001), Status: 400, End: now}, `PATCH / ` + strings.Repeat("ü", 1000) + `… → 400`},
		"connection closed":  {streamstest.Request{Method: "PATCH", Target: "/", End: now}, `PATCH / → connection closed`},
		"in progress":        {streamstest.Request{Method: "PATCH", Target: "/"}, `PATCH / → no response yet`},
	} {
		if got := test.request.String(); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}
