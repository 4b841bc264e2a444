package streamstest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// protocols differ in how a connection is closed.
var protocols = map[string]struct {
	proto string
	start func(*httptest.Server)
}{
	"HTTP/1.1":          {"HTTP/1.1", (*httptest.Server).Start},
	"HTTP/1.1 over TLS": {"HTTP/1.1", (*httptest.Server).StartTLS},
	"HTTP/2 over TLS": {"HTTP/2.0", func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.StartTLS()
	}},
}

func TestFaultClosesConnection(t *testing.T) {
	t.Parallel()
	for protocol, connection := range protocols {
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
			t.Run(protocol+"/"+name, func(t *testing.T) {
				t.Parallel()
				service := streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "cam"})
				server := httptest.NewUnstartedServer(service)
				connection.start(server)
				t.Cleanup(server.Close)
				service.Inject(test.fault)

				resp, err := server.Client().Transport.RoundTrip(newRequest(t, "PATCH", server.URL+"/v2/streams/cam", `{"processor_ids":["p1"]}`))
				switch {
				case err == nil:
					defer resp.Body.Close()
					checkResponseHeaders(t, resp)
					body, readErr := io.ReadAll(resp.Body)
					if resp.StatusCode != test.status || readErr == nil || len(body) == 0 {
						t.Errorf("got %s, %d bytes, then %v; want %d and a part of the body", resp.Status, len(body), readErr, test.status)
					}
					if declared, _ := strconv.Atoi(resp.Header.Get("Content-Length")); len(body) != declared/2 {
						t.Errorf("%d of %d bytes arrived, want half of them", len(body), declared)
					}
				case test.status != 0:
					t.Errorf("no header arrived: %v", err)
				case connection.proto == "HTTP/1.1" && !errors.Is(err, syscall.ECONNRESET):
					t.Errorf("got error %v, want a TCP reset", err)
				}

				if applied := len(attachedProcessors(t, service, "cam")) > 0; applied != test.applied {
					t.Errorf("applied: %t, want %t", applied, test.applied)
				}
				r := service.Requests()[0]
				if r.Status != 0 || !strings.HasSuffix(r.String(), "→ connection closed") || r.Proto != connection.proto {
					t.Errorf("recorded as %s over %s", r, r.Proto)
				}

				// The next request has no fault.
				resp, err = server.Client().Transport.RoundTrip(newRequest(t, "PATCH", server.URL+"/v2/streams/cam", `{"processor_ids":["p2"]}`))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Errorf("the next request: %s", resp.Status)
				}
			})
		}
	}
}

func TestFaultResponse(t *testing.T) {
	t.Parallel()
	raw := func(s string) *string { return &s }
	const updated = `"processor_ids":["p1"]`
	for name, test := range map[string]struct {
		fault    streamstest.Fault
		status   int
		contains string
		applied  bool
	}{
		"none":                {streamstest.Fault{}, 200, updated, true},
		"status":              {streamstest.Fault{Status: 503}, 503, `{"message":"injected: 503 Service Unavailable"}`, false},
		"status with message": {streamstest.Fault{Status: 403, Message: "not <you>"}, 403, `{"message":"not`, false},
		"status, applied":     {streamstest.Fault{Status: 500, Apply: true}, 500, `{"message":"injected: 500 Internal Server Error"}`, true},
		"status with body":    {streamstest.Fault{Status: 502, Body: raw("<html>")}, 502, "<html>", false},
		"empty body":          {streamstest.Fault{Status: 502, Body: raw("")}, 502, "", false},
		"success, unapplied":  {streamstest.Fault{Status: 200}, 200, `"processor_ids":[]`, false},
		"success, applied":    {streamstest.Fault{Status: 202, Apply: true}, 202, updated, true},
		"success with body":   {streamstest.Fault{Status: 200, Body: raw("<login>")}, 200, "<login>", false},
		"garbage, applied":    {streamstest.Fault{Body: raw("garbage")}, 200, "garbage", true},
		"no content":          {streamstest.Fault{Status: 204, Apply: true}, 204, "", true},
		"other stream":        {streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ID = "other" }}, 200, `"id":"other"`, true},
		"wrong type":          {streamstest.Fault{EditJSON: func(o map[string]any) { o["last_edited"] = "now" }}, 200, `"last_edited":"now"`, true},
		"null list":           {streamstest.Fault{EditJSON: func(o map[string]any) { o["processor_ids"] = nil }}, 200, `"processor_ids":null`, true},
		"both edits": {streamstest.Fault{
			Edit:     func(s *streamstest.Stream) { s.LastEdited = 1790000000123 },
			EditJSON: func(o map[string]any) { o["copy"] = o["last_edited"].(json.Number) },
		}, 200, `"copy":1790000000123`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
			service.Inject(test.fault)
			resp, body, err := roundTrip(t, newRequest(t, "PATCH", url+"/v2/streams/cam", `{"processor_ids":["p1"]}`))
			if err != nil {
				t.Fatal(err)
			}
			checkResponseHeaders(t, resp)
			if resp.StatusCode != test.status || !strings.Contains(body, test.contains) || (test.contains == "") != (body == "") {
				t.Errorf("got %s %s, want %d with %s", resp.Status, body, test.status, test.contains)
			}
			if applied := len(attachedProcessors(t, service, "cam")) > 0; applied != test.applied {
				t.Errorf("applied: %t, want %t", applied, test.applied)
			}
			if r := service.Requests()[0]; r.Status != test.status {
				t.Errorf("recorded as %s", r)
			}
		})
	}
}

func TestFaultMessage(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	const message = "no <b>way</b> & \x1b[31m \"ü\""
	service.Inject(streamstest.Fault{Status: 422, Message: message})
	if _, body := patch(t, url+"/v2/streams/cam", `{"processor_ids":[]}`); errorMessage(t, body) != message {
		t.Errorf("got %s, want the message %q", body, message)
	}
}

func TestFaultEditsOnlyTheResponse(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{KeepLastEdited: true}, streamstest.Stream{ID: "cam"})
	want, _ := service.Stream("cam")
	want.ProcessorIDs = []string{"p1"}
	service.Inject(
		streamstest.Fault{Edit: func(s *streamstest.Stream) {
			s.ProcessorIDs[0], s.CompatibleNamespaces[0], s.TerminalID = "x", "x", "x"
		}},
		streamstest.Fault{EditJSON: func(o map[string]any) { delete(o, "terminal_id") }},
	)
	for range 2 {
		patch(t, url+"/v2/streams/cam", `{"processor_ids":["p1"]}`)
		got, _ := service.Stream("cam")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("stream (-want +got):\n%s", diff)
		}
	}
}

func TestFaultDoesNotEditErrors(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{})
	service.Inject(streamstest.Fault{
		Edit:     func(*streamstest.Stream) { t.Error("Edit was called") },
		EditJSON: func(map[string]any) { t.Error("EditJSON was called") },
	})
	if resp, body := patch(t, url+"/v2/streams/cam", `{"processor_ids":[]}`); resp.StatusCode != http.StatusNotFound {
		t.Errorf("got %s %s, want 404", resp.Status, body)
	}
}

func TestFaultHeader(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
	service.Inject(streamstest.Fault{Status: 301, Header: http.Header{
		"Location":                    {"/elsewhere"},
		"content-type":                {"text/html"},
		"Access-Control-Allow-Origin": nil,
	}})
	resp, body, err := roundTrip(t, newRequest(t, "PATCH", url+"/v2/streams/cam", `{"processor_ids":["p1"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 301 || resp.Header.Get("Location") != "/elsewhere" {
		t.Errorf("got %s to %q: %s", resp.Status, resp.Header.Get("Location"), body)
	}
	if got := resp.Header.Values("Content-Type"); len(got) != 1 || got[0] != "text/html" {
		t.Errorf("Content-Type %q, want the fault's", got)
	}
	if got, ok := resp.Header["Access-Control-Allow-Origin"]; ok {
		t.Errorf("the header was not removed: %q", got)
	}
}

func TestFaultOrder(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if strings.Contains(r.Body, "pass") {
			return nil
		}
		return &streamstest.Fault{Status: 504}
	})
	service.Inject(streamstest.Fault{Status: 500}, streamstest.Fault{})
	service.Inject(streamstest.Fault{Status: 502})
	for i, want := range []int{500, 200, 502, 504, 504} {
		if resp, _ := patch(t, url+"/v2/streams/cam", `{"processor_ids":[]}`); resp.StatusCode != want {
			t.Errorf("request %d: got %s, want %d", i+1, resp.Status, want)
		}
	}
	if resp, _ := patch(t, url+"/v2/streams/cam", `{"processor_ids":["pass"]}`); resp.StatusCode != 200 {
		t.Errorf("the function returned nil: got %s", resp.Status)
	}
	service.InjectFunc(nil)
	if resp, _ := patch(t, url+"/v2/streams/cam", `{"processor_ids":[]}`); resp.StatusCode != 200 {
		t.Errorf("after InjectFunc(nil): got %s", resp.Status)
	}
}

func TestFaultDelay(t *testing.T) {
	t.Parallel()
	const delay = 30 * time.Millisecond
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
	service.Inject(streamstest.Fault{Delay: delay})
	start := time.Now()
	resp, _ := patch(t, url+"/v2/streams/cam", `{"processor_ids":["p1"]}`)
	if took := time.Since(start); resp.StatusCode != http.StatusOK || took < delay {
		t.Errorf("%s after %s, want 200 after at least %s", resp.Status, took, delay)
	}
}

func TestWaitEndsWhenClientDisconnects(t *testing.T) {
	t.Parallel()
	for protocol, connection := range protocols {
		for name, test := range map[string]struct {
			opts  streamstest.Options
			fault streamstest.Fault
		}{
			"Latency": {opts: streamstest.Options{Latency: time.Hour}},
			"Delay":   {fault: streamstest.Fault{Delay: time.Hour, Status: 500, Apply: true}},
		} {
			t.Run(protocol+"/"+name, func(t *testing.T) {
				t.Parallel()
				service := streamstest.New(test.opts, streamstest.Stream{ID: "cam"})
				server := httptest.NewUnstartedServer(service)
				connection.start(server)
				t.Cleanup(server.Close)

				ctx, disconnect := context.WithCancel(t.Context())
				service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
					disconnect()
					return &test.fault
				})
				ended := make(chan streamstest.Request, 1)
				service.OnRequest(func(r streamstest.Request) { ended <- r })
				req := newRequest(t, "PATCH", server.URL+"/v2/streams/cam", `{"processor_ids":["p1"]}`).WithContext(ctx)
				if resp, err := server.Client().Transport.RoundTrip(req); err == nil {
					resp.Body.Close()
					t.Errorf("got a response: %s", resp.Status)
				} else if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				select {
				case r := <-ended:
					if r.Status != 0 {
						t.Errorf("recorded as %s", r)
					}
				case <-time.After(time.Minute):
					t.Fatal("the service still waits")
				}
				if got := attachedProcessors(t, service, "cam"); len(got) != 0 {
					t.Errorf("applied: %q", got)
				}
			})
		}
	}
}

func TestIncompleteRequest(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam"})
	service.Inject(streamstest.Fault{Status: 503}) // for the next complete request
	ended := make(chan streamstest.Request, 1)
	service.OnRequest(func(r streamstest.Request) { ended <- r })

	body, bodyWriter := io.Pipe()
	req := newRequest(t, "PATCH", url+"/v2/streams/cam", "")
	req.Body, req.ContentLength = body, -1
	go func() {
		_, _ = io.WriteString(bodyWriter, `{"processor_ids":["p1"]}`)
		bodyWriter.CloseWithError(errors.New("the client fails"))
	}()
	if _, _, err := roundTrip(t, req); err == nil {
		t.Error("an incomplete request got a response")
	}
	select {
	case r := <-ended:
		if r.Status != 0 || r.Body != `{"processor_ids":["p1"]}` {
			t.Errorf("recorded as %s", r)
		}
	case <-time.After(time.Minute):
		t.Fatal("the request is not recorded")
	}
	if got := attachedProcessors(t, service, "cam"); len(got) != 0 {
		t.Errorf("applied: %q", got)
	}
	if resp, _ := patch(t, url+"/v2/streams/cam", `{"processor_ids":[]}`); resp.StatusCode != 503 {
		t.Errorf("the next complete request: got %s, want the queued fault", resp.Status)
	}
}
