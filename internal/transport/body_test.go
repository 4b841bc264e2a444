package transport_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// A body that ends before its length or its last chunk is retried. What has no length is whole, whatever it is.
func TestCutBody(t *testing.T) {
	t.Parallel()
	whole := StreamJSON("s1", []string{"p1"})
	for name, head := range map[string]string{
		"length": fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(whole)),
		"chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n",
	} {
		s := StartService(t, RespondRaw(head+whole[:40]), ApplyUpdate)
		if _, err := s.Update(t, requests.Config{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		e := StartService(t, RespondRaw(head+whole[:40])).UpdateError(t, requests.Config{})
		WantFailed(t, e, streams.KindConnection, streams.Unknown, 5)
		WantEqual(t, name, "the response is incomplete: unexpected EOF", e.Reason)
	}
	const noLength = "HTTP/1.0 200 OK\r\n\r\n"
	for _, body := range []string{"<html><body>", "", "junk", whole + "}", whole[:40]} {
		e := StartService(t, RespondRaw(noLength+body)).UpdateError(t, requests.Config{})
		if WantFailed(t, e, streams.KindUnexpected, streams.Unknown, 1); t.Failed() {
			t.Fatalf("%.20q", body)
		}
	}
	if _, err := StartService(t, RespondRaw(noLength+"\ufeff"+whole)).Update(t, requests.Config{}); err != nil {
		t.Error(err)
	}
}

// respondOpen sends bytes, and leaves the connection to the client.
func respondOpen(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
		_, _ = io.Copy(io.Discard, conn)
	}
}

// The status of a response says what became of the request, although its body has another length than the response says. Its
// message is shown if it is there.
func TestWrongLength(t *testing.T) {
	t.Parallel()
	const message, eof, late = `{"message":"no such processor"}`, "unexpected EOF", "its end did not arrive within 5s"
	length := func(status, length int, body string) string {
		return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s", status, length, body)
	}
	chunk := fmt.Sprintf("HTTP/1.1 422 X\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(message), message)
	for name, test := range map[string]struct {
		response http.HandlerFunc
		reason   string
		kind     streams.Kind
		outcome  streams.Outcome
		status   int
		attempts int
	}{
		"one more, open":      {respondOpen(length(400, len(message)+1, message)), late, streams.KindBadRequest, streams.NotChanged, 400, 1},
		"one more, closed":    {RespondRaw(length(404, len(message)+1, message)), eof, streams.KindNotFound, streams.NotChanged, 404, 1},
		"no last chunk":       {RespondRaw(chunk), eof, streams.KindBadRequest, streams.NotChanged, 422, 1},
		"no last chunk, open": {respondOpen(chunk), late, streams.KindBadRequest, streams.NotChanged, 422, 1},
		"a redirect":          {RespondRaw(length(307, 1000, message)), eof, streams.KindRedirect, streams.NotChanged, 307, 1},
		"one less":            {RespondRaw(length(403, len(message), message+" ")), "", streams.KindUnauthorized, streams.NotChanged, 403, 1},
		"not registered":      {RespondRaw(length(499, 1000, message)), eof, streams.KindBadRequest, streams.Unknown, 499, 1},
		"retried":             {RespondRaw(length(503, 1000, message)), eof, streams.KindGeneric, streams.Unknown, 503, 5},
		"HTTP/2": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(400)
			_, _ = io.WriteString(w, message)
		}, eof, streams.KindBadRequest, streams.NotChanged, 400, 1},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			s := NewService(t, test.response)
			if name == "HTTP/2" {
				s.StartTLS()
			} else {
				s.Start()
			}
			want := requests.Result{Status: test.status, Message: "no such processor", Form: masking.FormDocumented, Attempts: test.attempts}
			if test.reason != "" {
				want.Reason = "the response is incomplete: " + test.reason
			}
			cfg := requests.Config{RequestTimeout: 5 * time.Second, TLS: transport.TLS{InsecureSkipVerify: true}}
			s.WantError(t, s.UpdateError(t, cfg), test.kind, test.outcome, want)
		})
	}
	e := StartService(t, RespondRaw(length(400, 1000, message[:20]))).UpdateError(t, requests.Config{})
	if WantFailed(t, e, streams.KindBadRequest, streams.NotChanged, 1); e.Status != 400 || e.Form != masking.FormText {
		t.Errorf("%#v", e)
	}
}

// The client asks for gzip. A body in another coding, or in gzip without its header, is shown as text.
func TestCodings(t *testing.T) {
	t.Parallel()
	zipped := func(text string) string {
		var b strings.Builder
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		return b.String()
	}
	const zstd = "\x28\xb5\x2f\xfd\x04\x00"
	whole := StreamJSON("s1", []string{"p1"})
	for name, test := range map[string]struct{ coding, body, message string }{
		"gzip": {"gzip", zipped("\ufeff" + whole), ""}, "plain": {"", whole, ""}, "identity": {"identity", whole, ""},
		"zstd": {"zstd", zstd, `(\xb5/\xfd\x04\x00`}, "gzip without its header": {"", zipped(whole), `\x1f\x8b`},
	} {
		head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n", test.coding, len(test.body))
		s := StartService(t, RespondRaw(head+test.body))
		if _, err := s.Update(t, requests.Config{}); (err == nil) != (test.message == "") {
			t.Errorf("%s: %v", name, err)
		}
		WantEqual(t, "Accept-Encoding", "gzip", s.Requests()[0].Header.Get("Accept-Encoding"))
		if test.message == "" {
			continue
		}
		e := s.UpdateError(t, requests.Config{})
		WantFailed(t, e, streams.KindUnexpected, streams.Unknown, 1)
		streamstest.WantText(t, e.Message, test.message)
		WantEqual(t, "reason", "the response is not UTF-8 text", e.Reason)
	}
	compressed := func(body string) *Service { return StartService(t, Respond(200, body, "Content-Encoding", "gzip")) }
	for _, test := range []struct{ body, reason string }{
		{zipped(whole)[:50], "the response is incomplete: unexpected EOF"}, {whole, "the response is incomplete: gzip: invalid header"},
	} {
		e := compressed(test.body).UpdateError(t, requests.Config{})
		WantFailed(t, e, streams.KindConnection, streams.Unknown, 5)
		WantEqual(t, "reason", test.reason, e.Reason)
	}
	if bomb := zipped(strings.Repeat(" ", 16<<20)); len(bomb) > 1<<20 {
		t.Error("too long")
	} else if e := compressed(bomb).UpdateError(t, requests.Config{}); e.Reason != "the response is longer than 1 MiB" {
		t.Errorf("%#v", e)
	}
	if e := compressed(zipped(whole[:40])).UpdateError(t, requests.Config{}); e.Kind != streams.KindUnexpected { // all of it came
		t.Errorf("%#v", e)
	}
}

// A response of 16 MiB takes less than 8 MiB, counting what is freed at once, and what the race detector needs. A group reads 64
// responses at a time.
func TestMemoryOfLongResponses(t *testing.T) { // not parallel, because it counts what is allocated
	s := StartService(t, Respond(200, strings.Repeat(" ", 16<<20)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := s.UpdateError(t, requests.Config{})
	runtime.ReadMemStats(&after)
	if WantFailed(t, e, streams.KindUnexpected, streams.Unknown, 1); e.Reason != "the response is longer than 1 MiB" {
		t.Errorf("error %.300v", e)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
		t.Errorf("%d bytes", got)
	}
}
