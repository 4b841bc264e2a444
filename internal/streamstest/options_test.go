package streamstest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func TestSection4ProcessorOptions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts    streamstest.Options
		body    string
		status  int
		want    []string
		message string // part of the error message
	}{
		"replaces":                   {streamstest.Options{}, `["p2","p3"]`, 200, []string{"p2", "p3"}, ""},
		"merges":                     {streamstest.Options{Merge: true}, `["p3","p2"]`, 200, []string{"p1", "p2", "p3"}, ""},
		"merges an empty set":        {streamstest.Options{Merge: true}, `[]`, 200, []string{"p1", "p2"}, ""},
		"accepts an empty set":       {streamstest.Options{}, `[]`, 200, []string{}, ""},
		"refuses an empty set":       {streamstest.Options{RefuseEmpty: true}, `[]`, 400, []string{"p1", "p2"}, "empty"},
		"refuses only an empty set":  {streamstest.Options{RefuseEmpty: true}, `["p3"]`, 200, []string{"p3"}, ""},
		"accepts any processor":      {streamstest.Options{}, `["","nope"]`, 200, []string{"", "nope"}, ""},
		"known processor":            {streamstest.Options{KnownProcessors: []string{"p3"}}, `["p3"]`, 200, []string{"p3"}, ""},
		"refuses unknown processors": {streamstest.Options{KnownProcessors: []string{"p3"}}, `["p3","p4"]`, 400, []string{"p1", "p2"}, "p4"},
		"no known processor":         {streamstest.Options{KnownProcessors: []string{}}, `["p3"]`, 400, []string{"p1", "p2"}, "p3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, test.opts, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p1", "p2"}})
			resp, body := patch(t, url+"/v2/streams/cam", `{"processor_ids":`+test.body+`}`)
			if resp.StatusCode != test.status {
				t.Errorf("got %s %s, want %d", resp.Status, body, test.status)
			}
			if test.status == http.StatusBadRequest && !strings.Contains(errorMessage(t, body), test.message) {
				t.Errorf("message %s does not contain %q", body, test.message)
			}
			if diff := cmp.Diff(test.want, attachedProcessors(t, service, "cam")); diff != "" {
				t.Errorf("stream (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSection4LastEdited(t *testing.T) {
	t.Parallel()
	future := time.Now().Add(time.Hour).UnixMilli()
	edited := func(t *testing.T, url string) int64 {
		t.Helper()
		_, body := patch(t, url+"/v2/streams/cam", `{"processor_ids":[]}`)
		ms, err := decodeObject(t, body)["last_edited"].(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		return ms
	}
	t.Run("increases", func(t *testing.T) {
		t.Parallel()
		_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
		start := time.Now().UnixMilli()
		first := edited(t, url)
		if second := edited(t, url); first < start || second <= first {
			t.Errorf("last_edited is %d, then %d; want an increase from %d each time", first, second, start)
		}
	})
	t.Run("increases from a future time", func(t *testing.T) {
		t.Parallel()
		_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam", LastEdited: future})
		if got := edited(t, url); got != future+1 {
			t.Errorf("last_edited changed from %d to %d, want one more", future, got)
		}
	})
	t.Run("is kept", func(t *testing.T) {
		t.Parallel()
		_, url := streamstest.Start(t, streamstest.Options{KeepLastEdited: true}, streamstest.Stream{ID: "cam", LastEdited: 5})
		if got := edited(t, url); got != 5 {
			t.Errorf("last_edited changed from 5 to %d", got)
		}
	})
}

func TestServeGet(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Stream{ID: "a/b", ProcessorIDs: []string{"p1"}})
	req := newRequest(t, "GET", url+"/v2/streams/a%2Fb", "")
	req.Header.Del("Content-Type")
	resp, body := sendChecked(t, req)
	want, _ := service.Stream("a/b")
	var got streamstest.Stream
	if err := json.Unmarshal([]byte(body), &got); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("got %s %s", resp.Status, body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"/gateway/eu%20west", "gateway/eu%20west/"} {
		_, url := streamstest.Start(t, streamstest.Options{Prefix: prefix}, streamstest.Stream{ID: "cam"})
		for path, want := range map[string]int{
			"/gateway/eu%20west/v2/streams/cam": http.StatusOK,
			"/v2/streams/cam":                   http.StatusNotFound,
		} {
			if resp, body := patch(t, url+path, `{"processor_ids":[]}`); resp.StatusCode != want {
				t.Errorf("prefix %s, path %s: got %s %s, want %d", prefix, path, resp.Status, body, want)
			}
		}
	}
}

func TestLatency(t *testing.T) {
	t.Parallel()
	const latency = 30 * time.Millisecond
	service, url := streamstest.Start(t, streamstest.Options{Latency: latency}, streamstest.Stream{ID: "cam"})
	for _, path := range []string{"/v2/streams/cam", "/nothing"} {
		start := time.Now()
		patch(t, url+path, `{"processor_ids":[]}`)
		if took := time.Since(start); took < latency {
			t.Errorf("%s: response after %s, want at least %s", path, took, latency)
		}
	}
	for _, r := range service.Requests() {
		if took := r.End.Sub(r.Start); took < latency {
			t.Errorf("%s: recorded with a duration of %s", r, took)
		}
	}
}

func TestConfigure(t *testing.T) {
	t.Parallel()
	known := []string{"p1"}
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
	service.Configure(func(o *streamstest.Options) { o.KnownProcessors = known })
	known[0] = "p2" // must not change the options
	if resp, body := patch(t, url+"/v2/streams/cam", `{"processor_ids":["p1"]}`); resp.StatusCode != http.StatusOK {
		t.Errorf("a known processor: got %s %s", resp.Status, body)
	}
	if resp, body := patch(t, url+"/v2/streams/cam", `{"processor_ids":["p2"]}`); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("an unknown processor: got %s %s", resp.Status, body)
	}
	service.Configure(func(o *streamstest.Options) { *o = streamstest.Options{Merge: true} })
	patch(t, url+"/v2/streams/cam", `{"processor_ids":["p2"]}`)
	if diff := cmp.Diff([]string{"p1", "p2"}, attachedProcessors(t, service, "cam")); diff != "" {
		t.Errorf("after Merge (-want +got):\n%s", diff)
	}
}
