package streams_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Two temporary faults and a success take exactly three requests.
func TestRetrySucceeds(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]streamstest.Fault{
		"408":            {Status: 408},
		"429":            {Status: 429},
		"500":            {Status: 500},
		"502":            {Status: 502},
		"503":            {Status: 503},
		"504":            {Status: 504},
		"500 applied":    {Status: 500, Apply: true},
		"reset before":   {ResetBefore: true},
		"reset after":    {ResetAfter: true},
		"incomplete":     {Truncate: true},
		"incomplete 400": {Status: 400, Truncate: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "s1", ProcessorIDs: []string{"old"}})
			service.Inject(fault, fault)
			s := startService(t, service.ServeHTTP)
			stream, err := s.update(t, streams.Config{})
			if err != nil || stream.ProcessorIDs.Len() != 1 {
				t.Errorf("%v, %v", stream, err)
			}
			s.wantRequests(t, 3)
			if actual, _ := service.Stream("s1"); len(actual.ProcessorIDs) != 1 || actual.ProcessorIDs[0] != "p1" {
				t.Errorf("the service has %q", actual.ProcessorIDs)
			}
		})
	}
}

func TestConnectionFaults(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]http.HandlerFunc{"reset": resetConnection, "incomplete 200": respondTruncated(200), "incomplete 404": respondTruncated(404)} {
		s := startService(t, response)
		e := s.updateError(t, streams.Config{})
		if e.Kind != streams.KindConnection || e.Status != 0 || e.Attempts != 5 || e.Outcome != streams.Unknown || e.Reason == "" || e.Err == nil {
			t.Errorf("%s: %#v", name, e)
		}
		if name != "reset" {
			wantText(t, e.Reason, "the response is incomplete: unexpected EOF")
		}
		s.wantRequests(t, 5)
	}
}

// Not parallel: a server of another test could get the port that this test closes.
func TestConnectionRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	_, err = newClient(t, streams.Config{BaseURL: "http://" + address}).UpdateStream(t.Context(), "s1", streams.NewProcessorSet())
	e := asError(t, err)
	if e.Kind != streams.KindConnection || e.Status != 0 || e.Attempts != 5 || e.Outcome != streams.NotChanged || e.Message != "" {
		t.Errorf("error %#v", e)
	}
	wantText(t, e.Reason, "dial tcp "+address, "refused")
	if strings.Contains(e.Reason, "/v2/") {
		t.Errorf("the reason %q has the URL, which the error shows already", e.Reason)
	}
}

func TestMaxAttempts(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]int{1: 1, 2: 2, 12: 12, 0: 1} {
		s := startService(t, respondError(503, "later"))
		retry := retryAtOnce
		retry.MaxAttempts = attempts
		if e := s.updateError(t, streams.Config{Retry: retry}); e.Attempts != want || e.Message != "later" {
			t.Errorf("MaxAttempts %d: %#v", attempts, e)
		}
		s.wantRequests(t, want)
	}
}
