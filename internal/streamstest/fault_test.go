package streamstest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func TestFaultResponse(t *testing.T) {
	t.Parallel()
	type fault = streamstest.Fault
	const updated = `"processor_ids":["p1"]`
	edit := func(s *streamstest.Stream) { s.ID, s.ProcessorIDs = "other", nil }
	for name, test := range map[string]struct {
		fault    fault
		status   int
		contains string
		applied  bool
	}{
		"none":                {fault{}, 200, updated, true},
		"status":              {fault{Status: 503}, 503, `{"message":"injected: 503 Service Unavailable"}`, false},
		"status with message": {fault{Status: 403, Message: "not yours"}, 403, `{"message":"not yours"}`, false},
		"status, applied":     {fault{Status: 500, Apply: true}, 500, `{"message":"injected: 500 Internal Server Error"}`, true},
		"status with body":    {fault{Status: 502, Body: new("<html>")}, 502, "<html>", false},
		"empty body":          {fault{Status: 502, Body: new("")}, 502, "", false},
		"success, unapplied":  {fault{Status: 200}, 200, `"processor_ids":[]`, false},
		"success, applied":    {fault{Status: 202, Apply: true}, 202, updated, true},
		"garbage, applied":    {fault{Body: new("garbage")}, 200, "garbage", true},
		"no content":          {fault{Status: 204, Apply: true}, 204, "", true},
		"other stream":        {fault{Edit: edit}, 200, `"id":"other","terminal_id":"terminal-1","fragment_type_id":"image-jpg","processor_ids":[]`, true},
		"wrong type":          {fault{EditJSON: func(o map[string]any) { o["last_edited"] = "now" }}, 200, `"last_edited":"now"`, true},
		"null list":           {fault{EditJSON: func(o map[string]any) { o["processor_ids"] = nil }}, 200, `"processor_ids":null`, true},
		"header": {fault{Status: 301, Header: http.Header{"Location": {"/else"}, "Content-Type": {"text/html"}}, Body: new("")},
			301, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam")...)
			service.Inject(test.fault)
			resp, body, err := roundTrip(t.Context(), url+camera)
			if err != nil || resp.StatusCode != test.status || !strings.Contains(body, test.contains) || (test.contains == "") != (body == "") {
				t.Errorf("got %v %s, error %v; want %d with %s", resp, body, err, test.status, test.contains)
			}
			if resp.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("header %v", resp.Header)
			}
			for name := range test.fault.Header {
				if got, want := resp.Header.Get(name), test.fault.Header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if stream, _ := service.Stream("cam"); stream.ID != "cam" || len(stream.ProcessorIDs) > 0 != test.applied {
				t.Errorf("the stream is %+v, applied: want %t", stream, test.applied)
			}
			if r := service.Requests()[0]; r.Status != test.status || r.Applied != test.applied {
				t.Errorf("recorded as %s, applied: %t", r, r.Applied)
			}
		})
	}
}

func TestFaultClosesConnection(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault   streamstest.Fault
		applied bool
		status  int // of the header that arrives; 0 if none does
	}{
		"ResetBefore":          {streamstest.Fault{ResetBefore: true}, false, 0},
		"ResetAfter":           {streamstest.Fault{ResetAfter: true}, true, 0},
		"Truncate":             {streamstest.Fault{Truncate: true}, true, 200},
		"Truncate with Status": {streamstest.Fault{Truncate: true, Status: 502}, false, 502},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam")...)
			service.Inject(test.fault)
			resp, body, err := roundTrip(t.Context(), url+camera)
			switch {
			case err == nil:
				t.Errorf("a complete response arrived: %s %s", resp.Status, body)
			case resp == nil && (test.status != 0 || !errors.Is(err, syscall.ECONNRESET)):
				t.Errorf("got %v, want status %d, or else a TCP reset", err, test.status)
			case resp != nil && (resp.StatusCode != test.status || body == ""):
				t.Errorf("got %s with %q", resp.Status, body)
			}
			if r := service.Requests()[0]; r.Status != 0 || r.Applied != test.applied {
				t.Errorf("recorded as %s, applied: %t", r, r.Applied)
			}
		})
	}
}

// roundTrip sends an update without redirects and retries. With an error, the body is what arrived of it.
func roundTrip(ctx context.Context, url string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, "PATCH", url, strings.NewReader(attachP1))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func TestFaultOrder(t *testing.T) {
	t.Parallel()
	service := streamstest.New(streamstest.Options{}, streamstest.Streams("cam")...)
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if recorded := service.Requests(); recorded[len(recorded)-1].String() != r.String() || r.Status != 0 {
			t.Errorf("%s arrived; recorded: %v", r, recorded)
		}
		if r.Body == attachP1 {
			return nil
		}
		return &streamstest.Fault{Status: 504}
	})
	service.Inject(streamstest.Fault{Status: 500}, streamstest.Fault{})
	service.Inject(streamstest.Fault{Status: 502})
	const detach = `{"processor_ids":[]}`
	for i, test := range []struct {
		body string
		want int
	}{{detach, 500}, {detach, 200}, {detach, 502}, {detach, 504}, {attachP1, 200}, {detach, 504}} {
		if status := update(t, service, test.body); status != test.want {
			t.Errorf("request %d: got %d, want %d", i+1, status, test.want)
		}
	}
	service.InjectFunc(nil)
	if status := update(t, service, detach); status != 200 {
		t.Errorf("without a function: got %d", status)
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts    streamstest.Options
		fault   streamstest.Fault
		applied bool
	}{
		"Latency":       {streamstest.Options{Latency: time.Hour}, streamstest.Fault{}, false},
		"Delay":         {streamstest.Options{}, streamstest.Fault{Delay: time.Hour}, false},
		"ResponseDelay": {streamstest.Options{}, streamstest.Fault{ResponseDelay: time.Hour}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			service := streamstest.New(test.opts, streamstest.Streams("cam")...)
			service.Inject(test.fault)
			start := time.Now()
			if status := update(t, service, `{"processor_ids":[]}`); status != 200 || time.Since(start) != time.Hour {
				t.Errorf("%s: got %d after %s", name, status, time.Since(start))
			}

			// The wait ends when the client disconnects.
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			service.Inject(test.fault)
			defer func() {
				if r := service.Requests()[1]; recover() == nil || r.Status != 0 || r.Applied != test.applied || r.End.Sub(r.Start) != time.Minute {
					t.Errorf("%s: recorded as %s after %s, applied: %t", name, r, r.End.Sub(r.Start), r.Applied)
				}
			}()
			service.ServeHTTP(httptest.NewRecorder(), newRequest("PATCH", camera, attachP1).WithContext(ctx))
		})
	}
}
