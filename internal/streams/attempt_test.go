package streams_test

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// interruptedUpdate updates stream s1 within a time limit, cancels the operation after the given time, and returns what
// the update returned, and how long it took after the cancellation.
func interruptedUpdate(t *testing.T, c *streams.Client, limit, after time.Duration) (*streams.Stream, time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	time.AfterFunc(after, cancel)
	start := time.Now()
	got, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet("p1"))
	return got, time.Since(start) - after, err
}

// An attempt under way may end within five seconds after an interrupt, and its response counts. Nothing new starts.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	const (
		second, hour = time.Second, time.Hour
		stopped      = streams.KindInterrupted
		rejected     = streams.KindAuthentication
		notRetried   = "the request was not retried, because the operation was interrupted or its time limit had passed"
		interrupted  = "the operation was interrupted"
		noAnswer     = "the service did not respond within 4s; " + notRetried
	)
	unknown := streams.Error{Outcome: streams.Unknown}
	later := streams.Error{Status: 503, Message: "later", Documented: true, Outcome: streams.Unknown}
	for name, test := range map[string]struct {
		response http.HandlerFunc
		limit    time.Duration // of the operation
		timeout  time.Duration // of an attempt
		took     time.Duration
		kind     streams.Kind // of the error; none for a success
		reason   string
		want     streams.Error
	}{
		"success in time":     {respondAfter(5*second, applyUpdate), hour, 0, 4 * second, "", "", streams.Error{}},
		"rejection in time":   {respondAfter(5*second, respond(401, "")), hour, 0, 4 * second, rejected, "", streams.Error{Status: 401}},
		"no retry":            {respondAfter(2*second, respondError(503, "later")), hour, 0, second, streams.KindGeneric, notRetried, later},
		"no response":         {neverRespond, hour, 0, 5 * second, stopped, interrupted, unknown},
		"request timeout":     {neverRespond, hour, 4 * second, 3 * second, streams.KindTimeout, noAnswer, unknown},
		"wait before a retry": {respondError(503, "later", "Retry-After", "3500"), hour, 0, 0, stopped, interrupted, later},
		"near the limit":      {neverRespond, 3 * second, 0, 2 * second, stopped, interrupted, unknown},
	} {
		runVirtual(t, name, func(t *testing.T) {
			s := startService(t, test.response)
			c := newClient(t, requests.Config{BaseURL: s.URL, RequestTimeout: test.timeout})
			got, took, err := interruptedUpdate(t, c, test.limit, second)
			s.wantRequests(t, 1)
			if (got != nil) != (test.kind == "") || took != test.took {
				t.Fatalf("stream %v, error %v after %s", got, err, took)
			}
			if got == nil {
				test.want.Kind, test.want.Reason, test.want.Attempts = test.kind, test.reason, 1
				s.wantError(t, err, test.want)
			}
		})
	}
	s := startService(t, applyUpdate) // gets nothing, because the operation has ended before it begins
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newClient(t, requests.Config{BaseURL: s.URL}).UpdateStream(ctx, "s1", streams.NewProcessorSet())
	s.wantError(t, err, streams.Error{Kind: streams.KindInterrupted, Reason: interrupted})
	_, err = s.updateWithin(t, requests.Config{}, time.Nanosecond)
	s.wantError(t, err, streams.Error{Kind: streams.KindTimeout, Reason: "the operation did not finish within its time limit"})
	s.wantRequests(t, 0)
}

// The request timeout covers the body of the response. HTTP/1.1 and HTTP/2 report it in different ways.
func TestRequestTimeout(t *testing.T) {
	virtual(t, func(t *testing.T) {
		noBody := func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
		cfg := requests.Config{RequestTimeout: time.Second, TLS: requests.TLS{InsecureSkipVerify: true}}
		for _, s := range []*service{startService(t, noBody), startTLSService(t, nil, noBody), startTLSService(t, nil, neverRespond)} {
			e := s.updateError(t, cfg)
			switch e.Status {
			case 0:
				if e.Kind != streams.KindTimeout || e.Reason != "the service did not respond within 1s" || !errors.Is(e.Err, requests.ErrRequestTimeout) {
					t.Errorf("%s: error %#v", s.URL, e)
				}
			default:
				if e.Kind != streams.KindConnection || e.Reason != "the response is incomplete: its end did not arrive within 1s" ||
					!errors.Is(e.Err, requests.ErrIncomplete) || e.Outcome != streams.Unknown {
					t.Errorf("%s: error %#v", s.URL, e)
				}
			}
		}
	})
}

// However short a request timeout is, it ends each attempt, and nothing else.
func TestShortRequestTimeout(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{1, 2, time.Microsecond} {
		runVirtual(t, timeout.String(), func(t *testing.T) {
			s := startService(t, neverRespond)
			for _, err := range updateAll(t, newClient(t, requests.Config{BaseURL: s.URL, RequestTimeout: timeout}), 20) {
				if e := asError(t, err); e.Kind != streams.KindTimeout || !errors.Is(e, requests.ErrRequestTimeout) {
					t.Errorf("error %#v", e)
				}
			}
		})
	}
}

// The limit applies to each attempt, retries included. An operation fails at once if its time limit ends
// before its next attempt is allowed.
func TestRateLimit(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := startService(t, respondError(503, "later"))
		_ = s.updateError(t, requests.Config{RequestsPerSecond: 2, RequestTimeout: time.Millisecond})
		for _, wait := range s.waits() {
			if wait.Round(time.Millisecond) != 500*time.Millisecond {
				t.Errorf("waits %s, want half a second each", s.waits())
			}
		}
		start := time.Now()
		attempts := 0
		_, err := s.updateWithin(t, requests.Config{
			RequestsPerSecond: 0.01, Observe: func(context.Context, requests.Attempt) { attempts++ },
		}, 10*time.Second)
		s.wantError(t, err, streams.Error{
			Kind: streams.KindTimeout, Attempts: 1, Status: 503, Message: "later", Documented: true, Outcome: streams.Unknown,
			Reason: "the operation's time limit ends before the limit of requests per second allows another request",
		})
		if took := time.Since(start); took > time.Millisecond || !errors.Is(err, requests.ErrRateLimit) || attempts != 1 {
			t.Errorf("%v after %s, %d attempts in the log", err, took, attempts)
		}
		c := newClient(t, requests.Config{BaseURL: s.URL, RequestsPerSecond: 0.001, MaxConcurrent: 1, Retry: requests.Retry{MaxAttempts: 1}})
		_, _ = c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet("p1"))
		_, took, err := interruptedUpdate(t, c, time.Hour, time.Second)
		if e := asError(t, err); e.Attempts != 0 || e.Outcome != streams.NotChanged || took != 0 || !errors.Is(e, context.Canceled) {
			t.Errorf("interrupted after %s: %#v", took, e)
		}
		if _, _, err = interruptedUpdate(t, c, time.Minute, time.Hour); !errors.Is(err, requests.ErrRateLimit) {
			t.Errorf("the next one: %v", err)
		}
	})
}

// No more than MaxConcurrent requests are under way at the same time. An operation that waits before a retry
// does not keep others from sending, and one that ends while it waits for its turn has sent nothing.
func TestMaxConcurrent(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := startService(t, respondAfter(time.Second, applyUpdate))
		c := newClient(t, requests.Config{BaseURL: s.URL, MaxConcurrent: 2})
		start := time.Now()
		mustUpdateAll(t, c, 6)
		if took := time.Since(start); took != 3*time.Second || c.MaxConcurrent() != 2 {
			t.Errorf("six requests of a second took %s", took)
		}
		s = startService(t, respondError(503, "later", "Retry-After", "60"), neverRespond)
		c = newClient(t, requests.Config{BaseURL: s.URL, MaxConcurrent: 1, RequestTimeout: time.Minute})
		go updateAll(t, c, 2)
		<-time.After(time.Second)
		s.wantRequests(t, 2)
		_, _, err := interruptedUpdate(t, c, time.Hour, time.Second)
		if e := asError(t, err); e.Attempts != 0 || e.Outcome != streams.NotChanged || !errors.Is(e.Err, requests.ErrSlotWait) {
			t.Errorf("error %#v", e)
		}
		s.wantRequests(t, 2)

		s = startService(t, neverRespond)
		c = newClient(t, requests.Config{BaseURL: s.URL, RequestTimeout: time.Minute})
		go updateAll(t, c, 3) // with credentials that may be wrong
		synctest.Wait()
		_, took, err := interruptedUpdate(t, c, time.Hour, time.Second)
		if e := asError(t, err); e.Kind != streams.KindInterrupted || e.Attempts != 0 || took != 0 {
			t.Errorf("after %s: %#v", took, e)
		}
		s.wantRequests(t, 3)
	})
}

// Temporary faults and a success take no other requests, and all are the same. Observe gets each attempt once, with its
// result and the wait before the next one.
func TestObserve(t *testing.T) {
	virtual(t, func(t *testing.T) {
		later := respondError(503, "later")
		s := startService(t, later, resetConnection, respondTruncated(200), applyUpdate)
		var got []string
		key := struct{ name string }{"key"}
		ctx := context.WithValue(t.Context(), key, "value")
		c := newClient(t, requests.Config{BaseURL: s.URL, Observe: func(ctx context.Context, a requests.Attempt) {
			if ctx.Value(key) != "value" || a.Method != "PATCH" || a.URL != s.URL+"/v2/streams/s1" || a.Retry != (a.RetryWait > 0) {
				t.Errorf("attempt %+v", a)
			}
			got = append(got, fmt.Sprintf("%d: %s → %d %s %s, retry %t", a.Number, a.RequestBody, a.Status, a.Err, a.ResponseBody, a.Retry))
		}})
		if _, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet("p1")); err != nil {
			t.Fatal(err)
		}
		const sent = `{"processor_ids":["p1"]}`
		wantEqual(t, "attempts", []string{
			"1: " + sent + ` → 503  {"message":"later"}, retry true`,
			"2: " + sent + " → 0 EOF , retry true",
			"3: " + sent + " → 0 the response is incomplete: unexpected EOF {, retry true",
			"4: " + sent + " → 200  " + streamJSON("s1", []string{"p1"}) + ", retry false",
		}, got)
		first := s.requests()[0]
		s.wantReceived(t, first, first, first, first)
	})
}

// A redirect is never followed: Go would send a GET instead of the PATCH, and its response would look like a success.
func TestRedirect(t *testing.T) {
	t.Parallel()
	target := startService(t, applyUpdate)
	for location, shown := range map[string]string{
		target.URL + "/v2/streams/s1":                 target.URL + "/v2/streams/s1",
		"/login?next=%2Fv2":                           "/login?next=%2Fv2",
		"http://[::1":                                 "http://[::1",
		"https://x/\xff\xe2\x80\xae":                  `https://x/\xff\u202e`,
		"https://x/" + strings.Repeat("a", 5000):      "https://x/" + strings.Repeat("a", 290) + "…",
		"https://x/login?token=" + "t0ken%2F" + "abc": "https://x/login?***",
	} {
		for status, outcome := range map[int]streams.Outcome{
			301: streams.NotChanged, 302: streams.NotChanged, 303: streams.Unknown,
			307: streams.NotChanged, 308: streams.NotChanged, 399: streams.Unknown,
		} {
			s := startService(t, respondError(status, "moved", "Location", location))
			s.wantError(t, s.updateError(t, requests.Config{Token: "t0ken/abc"}), streams.Error{
				Kind: streams.KindRedirect, Status: status, Message: "moved", Documented: true, Location: shown,
				Attempts: 1, Outcome: outcome,
			})
			s.wantRequests(t, 1)
		}
	}
	target.wantRequests(t, 0)
}

// What a response says about a proxy and media types is kept for the hint.
func TestHeadersOfAResponse(t *testing.T) {
	t.Parallel()
	s := startService(t, respondError(415, "no", "Via", "1.1 proxy", "Accept-Patch", "application/t0ken\u202e ::add-mask::"))
	s.wantError(t, s.updateError(t, requests.Config{Token: "t0ken"}), streams.Error{
		Kind: streams.KindBadRequest, Status: 415, Message: "no", Documented: true, Proxied: true,
		Accepts: `application/***\u202e \x3a:add-mask::`, Attempts: 1,
	})
}

// A 304 is no redirect: the service says that nothing changes. It does not show the stream.
func TestNotModified(t *testing.T) {
	t.Parallel()
	s := startService(t, respond(http.StatusNotModified, ""))
	s.wantError(t, s.updateError(t, requests.Config{}), streams.Error{
		Kind: streams.KindUnexpected, Status: 304, Reason: "the response says that nothing changes, and does not show the stream",
		Attempts: 1, Outcome: streams.NotChanged,
	})
	s.wantRequests(t, 1)
	_, err := newClient(t, requests.Config{BaseURL: s.URL}).ReadStream(t.Context(), "s1")
	wantFailed(t, asError(t, err), streams.KindUnexpected, streams.NotChanged, 1)
}

// A body that the connection ends is retried if it was cut, whatever shows its end: a length, chunks, or only JSON.
func TestCutBody(t *testing.T) {
	t.Parallel()
	whole := streamJSON("s1", []string{"p1"})
	for name, head := range map[string]string{
		"length": fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(whole)), "chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n",
		"HTTP/1.0": "HTTP/1.0 200 OK\r\n\r\n", "connection": "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
		"an error": "HTTP/1.0 503 Down\r\n\r\n", "byte order mark": "HTTP/1.0 200 OK\r\n\r\n\ufeff",
	} {
		s := startService(t, respondRaw(head+whole[:40]), applyUpdate)
		if _, err := s.update(t, requests.Config{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		e := startService(t, respondRaw(head+whole[:40])).updateError(t, requests.Config{})
		kind := map[int]streams.Kind{200: streams.KindConnection, 503: streams.KindGeneric}[e.Status]
		wantFailed(t, e, kind, streams.Unknown, 5)
		if e.Reason != "the response is incomplete: unexpected EOF" {
			t.Errorf("%s: %s", name, e.Reason)
		}
	}
	for _, body := range []string{"<html><body>", "", "junk", whole + "}", `"` + strings.Repeat("a", 2<<20)} {
		e := startService(t, respondRaw("HTTP/1.0 200 OK\r\n\r\n"+body)).updateError(t, requests.Config{})
		if wantFailed(t, e, streams.KindUnexpected, streams.Unknown, 1); t.Failed() {
			t.Fatalf("%.20q", body)
		}
	}
	partOfJSON := func(w http.ResponseWriter, _ *http.Request) { // in chunks, or over HTTP/2 in frames, which have an end
		_, _ = io.WriteString(w, whole[:40])
		_ = http.NewResponseController(w).Flush()
	}
	over2 := startTLSService(t, nil, partOfJSON)
	for _, e := range []*streams.Error{
		startService(t, partOfJSON).updateError(t, requests.Config{}),
		over2.updateError(t, requests.Config{TLS: requests.TLS{CACertPEM: over2.caPEM()}}),
	} {
		wantFailed(t, e, streams.KindUnexpected, streams.Unknown, 1)
	}
	if _, err := startService(t, respondRaw("HTTP/1.0 200 OK\r\n\r\n"+whole)).update(t, requests.Config{}); err != nil {
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
	const message, eof = `{"message":"no such processor"}`, "unexpected EOF"
	length := func(status, length int, body string) string {
		return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s", status, length, body)
	}
	chunk := fmt.Sprintf("HTTP/1.1 422 X\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(message), message)
	for name, test := range map[string]struct {
		response http.HandlerFunc
		reason   string
		want     streams.Error
	}{
		"one more, open":      {respondOpen(length(400, len(message)+1, message)), "its end did not arrive within 5s", streams.Error{Kind: streams.KindBadRequest, Status: 400}},
		"one more, closed":    {respondRaw(length(404, len(message)+1, message)), eof, streams.Error{Kind: streams.KindNotFound, Status: 404}},
		"no last chunk":       {respondRaw(chunk), eof, streams.Error{Kind: streams.KindBadRequest, Status: 422}},
		"no last chunk, open": {respondOpen(chunk), "its end did not arrive within 5s", streams.Error{Kind: streams.KindBadRequest, Status: 422}},
		"a redirect":          {respondRaw(length(307, 1000, message)), eof, streams.Error{Kind: streams.KindRedirect, Status: 307}},
		"one less":            {respondRaw(length(403, len(message), message+" ")), "", streams.Error{Kind: streams.KindUnauthorized, Status: 403}},
		"not registered":      {respondRaw(length(499, 1000, message)), eof, streams.Error{Kind: streams.KindBadRequest, Status: 499, Outcome: streams.Unknown}},
		"retried":             {respondRaw(length(503, 1000, message)), eof, streams.Error{Kind: streams.KindGeneric, Status: 503, Outcome: streams.Unknown, Attempts: 5}},
		"HTTP/2": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(400)
			_, _ = io.WriteString(w, message)
		}, eof, streams.Error{Kind: streams.KindBadRequest, Status: 400}},
	} {
		runVirtual(t, name, func(t *testing.T) {
			s := newService(t, test.response)
			if name == "HTTP/2" {
				s.StartTLS()
			} else {
				s.Start()
			}
			test.want.Message, test.want.Documented = "no such processor", true
			test.want.Attempts = max(test.want.Attempts, 1)
			if test.reason != "" {
				test.want.Reason = "the response is incomplete: " + test.reason
			}
			cfg := requests.Config{RequestTimeout: 5 * time.Second, TLS: requests.TLS{InsecureSkipVerify: true}}
			s.wantError(t, s.updateError(t, cfg), test.want)
		})
	}
	e := startService(t, respondRaw(length(400, 1000, message[:20]))).updateError(t, requests.Config{})
	if wantFailed(t, e, streams.KindBadRequest, streams.NotChanged, 1); e.Status != 400 || e.Documented {
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
		s := startService(t, respondRaw(fmt.Sprintf("HTTP/1.1 400 Bad Request\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", test.coding, len(test.body), test.body)))
		e := s.updateError(t, requests.Config{Token: "s3cret"})
		if !strings.HasPrefix(e.Message, test.want) || e.Documented != test.documented || e.Status != 400 || e.Outcome != streams.NotChanged || e.Attempts != 1 {
			t.Errorf("%s: %#v", name, e)
		}
		wantEqual(t, "Accept-Encoding", "identity", s.requests()[0].Header.Get("Accept-Encoding"))
	}
	whole := streamJSON("s1", []string{"p1"})
	for coding, body := range map[string]string{"gzip": zipped(whole), "Gzip": whole, "deflate": whole} {
		if _, err := startService(t, respond(200, body, "Content-Encoding", coding)).update(t, requests.Config{}); err != nil {
			t.Errorf("%s: %v", coding, err)
		}
	}
	e := startService(t, respond(200, zipped(whole))).updateError(t, requests.Config{})
	wantFailed(t, e, streams.KindUnexpected, streams.Unknown, 1)
	streamstest.WantText(t, e.Message, "(compressed with gzip, although the response does not say so)")
	e = startService(t, respond(200, zipped(whole)[:50], "Content-Encoding", "gzip")).updateError(t, requests.Config{})
	wantFailed(t, e, streams.KindConnection, streams.Unknown, 5)
	if bomb := zipped(strings.Repeat(" ", 16<<20)); len(bomb) > 1<<20 {
		t.Error("too long")
	} else if e := startService(t, respond(200, bomb, "Content-Encoding", "gzip")).updateError(t, requests.Config{}); e.Reason != "the response is longer than 1 MiB" {
		t.Errorf("%#v", e)
	}
	endpoint := startService(t, respond(200, `{"access_token":"t"}`, "Content-Encoding", "gzip"))
	s := startService(t, applyUpdate)
	if _, err := s.update(t, oauth2Config(s, endpoint)); err != nil {
		t.Error(err)
	}
}

// If TLS fails on a connection that was used before, the service may have read the request.
func TestTLSFailureOfAReusedConnection(t *testing.T) {
	t.Parallel()
	s := startTLSService(t, &tls.Config{NextProtos: []string{"http/1.1"}}, applyUpdate, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		raw := conn.(*tls.Conn).NetConn()
		defer raw.Close()
		_, _ = io.WriteString(raw, "220 mail.example ready\r\n")
	})
	c := newClient(t, requests.Config{BaseURL: s.URL, TLS: requests.TLS{InsecureSkipVerify: true}})
	mustUpdateAll(t, c, 1)
	e := asError(t, updateAll(t, c, 1)[0])
	wantFailed(t, e, streams.KindConnection, streams.Unknown, 1)
	if !requests.IsTLSFailure(e.Err) {
		t.Error(e)
	}
}

// damagedConn damages all that is written from some time on.
type damagedConn struct {
	net.Conn
	damage atomic.Bool
}

func (c *damagedConn) Write(b []byte) (int, error) {
	if c.damage.Load() {
		b = slices.Clone(b)
		b[len(b)-1] ^= 1
	}
	return c.Conn.Write(b)
}

// An alert on a connection that was used before does not say that the service has read nothing of the request.
func TestAlertOnAReusedConnection(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := startTLSService(t, &tls.Config{NextProtos: []string{"http/1.1"}}, applyUpdate)
		var damaged damagedConn
		c := newClient(t, requests.Config{
			BaseURL: s.URL, TLS: requests.TLS{InsecureSkipVerify: true},
			DialContext: func(ctx context.Context, network, address string) (conn net.Conn, err error) {
				damaged.Conn, err = streamstest.Dial(ctx, network, address)
				return &damaged, err
			},
		})
		mustUpdateAll(t, c, 1)
		damaged.damage.Store(true)
		e := asError(t, updateAll(t, c, 1)[0])
		wantFailed(t, e, streams.KindConnection, streams.Unknown, 1)
		streamstest.WantText(t, e.Reason, "remote error: tls: bad record MAC")
	})
}

// The body of a 101 is the connection. The client closes it and does not wait for its end.
func TestSwitchingProtocols(t *testing.T) {
	virtual(t, func(t *testing.T) {
		closed := make(chan struct{})
		s := startService(t, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Upgrade\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn) // until the client closes the connection
			close(closed)
		})
		s.wantError(t, s.updateError(t, requests.Config{}),
			streams.Error{Kind: streams.KindUnexpected, Status: 101, Outcome: streams.Unknown, Attempts: 1})
		<-closed
	})
}

// A response of 16 MiB takes less than 8 MiB, counting what is freed at once, and what the race detector needs. A group reads 64 responses at a time.
func TestMemoryOfLongResponses(t *testing.T) { // not parallel, because it counts what is allocated
	s := startService(t, respond(200, strings.Repeat(" ", 16<<20)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := s.updateError(t, requests.Config{})
	runtime.ReadMemStats(&after)
	if wantFailed(t, e, streams.KindUnexpected, streams.Unknown, 1); e.Reason != "the response is longer than 1 MiB" {
		t.Errorf("error %.300v", e)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
		t.Errorf("%d bytes", got)
	}
}
