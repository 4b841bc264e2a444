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
	. "github.com/stream-management/terraform-provider-stream/internal/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// A body that the connection ends is retried if it was cut, whatever shows its end: a length, chunks, or only JSON.
func TestCutBody(t *testing.T) {
	t.Parallel()
	whole := StreamJSON("s1", []string{"p1"})
	for name, head := range map[string]string{
		"length": fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(whole)), "chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n",
		"HTTP/1.0": "HTTP/1.0 200 OK\r\n\r\n", "connection": "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
		"an error": "HTTP/1.0 503 Down\r\n\r\n", "byte order mark": "HTTP/1.0 200 OK\r\n\r\n\ufeff",
	} {
		s := StartService(t, RespondRaw(head+whole[:40]), ApplyUpdate)
		if _, err := s.Update(t, requests.Config{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		e := StartService(t, RespondRaw(head+whole[:40])).UpdateError(t, requests.Config{})
		kind := map[int]streams.Kind{200: streams.KindConnection, 503: streams.KindGeneric}[e.Status]
		WantFailed(t, e, kind, streams.Unknown, 5)
		if e.Reason != "the response is incomplete: unexpected EOF" {
			t.Errorf("%s: %s", name, e.Reason)
		}
	}
	for _, body := range []string{"<html><body>", "", "junk", whole + "}", `"` + strings.Repeat("a", 2<<20)} {
		e := StartService(t, RespondRaw("HTTP/1.0 200 OK\r\n\r\n"+body)).UpdateError(t, requests.Config{})
		if WantFailed(t, e, streams.KindUnexpected, streams.Unknown, 1); t.Failed() {
			t.Fatalf("%.20q", body)
		}
	}
	partOfJSON := func(w http.ResponseWriter, _ *http.Request) { // in chunks, or over HTTP/2 in frames, which have an end
		_, _ = io.WriteString(w, whole[:40])
		_ = http.NewResponseController(w).Flush()
	}
	over2 := StartTLSService(t, nil, partOfJSON)
	for _, e := range []*streams.Error{
		StartService(t, partOfJSON).UpdateError(t, requests.Config{}),
		over2.UpdateError(t, requests.Config{TLS: transport.TLS{CACertPEM: over2.CAPEM()}}),
	} {
		WantFailed(t, e, streams.KindUnexpected, streams.Unknown, 1)
	}
	if _, err := StartService(t, RespondRaw("HTTP/1.0 200 OK\r\n\r\n"+whole)).Update(t, requests.Config{}); err != nil {
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
	if WantFailed(t, e, streams.KindBadRequest, streams.NotChanged, 1); e.Status != 400 || e.Form != masking.FormPart {
		t.Errorf("%#v", e)
	}
}

// The request asks for no compression. A body counts as it is if its header is wrong, and gzip is undone if its header is right.
// What cannot be read says so.
func TestCodings(t *testing.T) {
	t.Parallel()
	zipped := func(text string) string {
		var b strings.Builder
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		return b.String()
	}
	const message, zstd = `{"message":"no such processor"}`, "\x28\xb5\x2f\xfd\x04\x00"
	for name, test := range map[string]struct {
		coding, body, want string
		documented         bool
	}{
		"plain":                   {"", message, "no such processor", true},
		"identity":                {"identity", message, "no such processor", true},
		"plain as gzip":           {"gzip", message, "no such processor", true},
		"plain as br":             {"br", message, "no such processor", true},
		"gzip":                    {"gzip", zipped("\ufeff" + message), "no such processor", true},
		"x-gzip":                  {"X-GZIP", zipped(message), "no such processor", true},
		"gzip without its header": {"", zipped(message), "(compressed with gzip, although the response does not say so)", false},
		"zstd without its header": {"", zstd, "(compressed with zstd, although the response does not say so)", false},
		"zstd":                    {"zstd", zstd, "(compressed with zstd, although the request asks for no compression)", false},
		"br":                      {"br", "\x8b\x0f\x80{}\x03", "(compressed with br, although the request asks for no compression)", false},
		"a secret as the coding":  {"s3cret", "\xff", "(compressed with ***, although the request asks for no compression)", false},
	} {
		s := StartService(t, RespondRaw(fmt.Sprintf("HTTP/1.1 400 Bad Request\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", test.coding, len(test.body), test.body)))
		e := s.UpdateError(t, requests.Config{Token: "s3cret"})
		if !strings.HasPrefix(e.Message, test.want) || e.Documented() != test.documented || e.Status != 400 || e.Outcome != streams.NotChanged || e.Attempts != 1 {
			t.Errorf("%s: %#v", name, e)
		}
		WantEqual(t, "Accept-Encoding", "identity", s.Requests()[0].Header.Get("Accept-Encoding"))
	}
	whole := StreamJSON("s1", []string{"p1"})
	for coding, body := range map[string]string{"gzip": zipped(whole), "Gzip": whole, "deflate": whole} {
		if _, err := StartService(t, Respond(200, body, "Content-Encoding", coding)).Update(t, requests.Config{}); err != nil {
			t.Errorf("%s: %v", coding, err)
		}
	}
	e := StartService(t, Respond(200, zipped(whole))).UpdateError(t, requests.Config{})
	WantFailed(t, e, streams.KindUnexpected, streams.Unknown, 1)
	streamstest.WantText(t, e.Message, "(compressed with gzip, although the response does not say so)")
	e = StartService(t, Respond(200, zipped(whole)[:50], "Content-Encoding", "gzip")).UpdateError(t, requests.Config{})
	WantFailed(t, e, streams.KindConnection, streams.Unknown, 5)
	WantEqual(t, "reason", "the response is incomplete: unexpected EOF", e.Reason)
	if bomb := zipped(strings.Repeat(" ", 16<<20)); len(bomb) > 1<<20 {
		t.Error("too long")
	} else if e := StartService(t, Respond(200, bomb, "Content-Encoding", "gzip")).UpdateError(t, requests.Config{}); e.Reason != "the response is longer than 1 MiB" {
		t.Errorf("%#v", e)
	}
	endpoint := StartService(t, Respond(200, `{"access_token":"t"}`, "Content-Encoding", "gzip"))
	s := StartService(t, ApplyUpdate)
	if _, err := s.Update(t, OAuth2Config(s, endpoint)); err != nil {
		t.Error(err)
	}
}

// A response of 16 MiB takes less than 8 MiB, counting what is freed at once, and what the race detector needs. A group reads 64 responses at a time.
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
