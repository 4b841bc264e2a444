package streams_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Each status is one kind, says something of the stream, and is tried once or as often as may be.
func TestStatus(t *testing.T) {
	t.Parallel()
	const (
		bad            = "Bad Request Error"
		authentication = "Authentication Error"
		unauthorized   = "Unauthorized Error"
		notFound       = "Resource Not Found Error"
		timeout        = "Timeout Error"
		gateway        = "Bad Gateway Error"
		generic        = "Error"
	)
	for status, want := range map[int]struct {
		kind     streams.Kind
		outcome  streams.Outcome
		attempts int
	}{
		400: {bad, streams.NotChanged, 1},
		401: {authentication, streams.NotChanged, 1},
		402: {bad, streams.NotChanged, 1},
		403: {unauthorized, streams.NotChanged, 1},
		404: {notFound, streams.NotChanged, 1},
		405: {bad, streams.NotChanged, 1},
		406: {bad, streams.NotChanged, 1},
		407: {bad, streams.NotChanged, 1},
		408: {timeout, streams.Unknown, 5},
		409: {bad, streams.NotChanged, 1},
		410: {bad, streams.NotChanged, 1},
		413: {bad, streams.NotChanged, 1},
		415: {bad, streams.NotChanged, 1},
		418: {bad, streams.NotChanged, 1},
		422: {bad, streams.NotChanged, 1},
		425: {bad, streams.NotChanged, 1},
		429: {bad, streams.NotChanged, 5},
		451: {bad, streams.NotChanged, 1},
		499: {bad, streams.NotChanged, 1},
		500: {generic, streams.Unknown, 5},
		501: {generic, streams.NotChanged, 1},
		502: {gateway, streams.Unknown, 5},
		503: {generic, streams.Unknown, 5},
		504: {timeout, streams.Unknown, 5},
		505: {generic, streams.Unknown, 1},
		507: {generic, streams.Unknown, 1},
		520: {generic, streams.Unknown, 1},
		599: {generic, streams.Unknown, 1},
		600: {generic, streams.Unknown, 1},
		999: {generic, streams.Unknown, 1},
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			s := serve(t, refuse(status, "said so"))
			e := s.fail(t, streams.Config{})
			got := *e
			got.Err = nil
			if diff := cmp.Diff(streams.Error{
				Kind: want.kind, Method: "PATCH", URL: s.URL + "/v2/streams/s1", Status: status,
				Message: "said so", Documented: true, Attempts: want.attempts, Outcome: want.outcome,
			}, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			line := fmt.Sprintf("%s: PATCH %s/v2/streams/s1: %s: said so", want.kind, s.URL, streams.StatusText(status))
			if e.Error() != line {
				t.Errorf("in one line: %q, want %q", e, line)
			}
			s.wantRequests(t, want.attempts)

			// A read changes nothing, whatever comes of it.
			stream, err := connect(t, streams.Config{BaseURL: s.URL}).ReadStream(t.Context(), "s1")
			if e := failure(t, err); stream != nil || e.Kind != want.kind || e.Outcome != streams.NotChanged || e.Method != "GET" {
				t.Errorf("read: %v, %#v", stream, e)
			}
		})
	}
}

// What the service says comes through as it was said, if it has the documented form; else as text.
func TestMessage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 5000)
	for name, test := range map[string]struct {
		body       string
		want       string
		documented bool
	}{
		"documented":            {`{"message":"no such processor: \"p9\""}`, `no such processor: "p9"`, true},
		"with more":             {`{"code":7,"message":"no"}`, "no", true},
		"empty message":         {`{"message":""}`, "", true},
		"white space in it":     {`{"message":"  a  b "}`, "  a  b ", true},
		"lines in it":           {`{"message":"a\r\n\tb"}`, `a\u000d\n\tb`, true},
		"long":                  {`{"message":"` + long + `"}`, long[:2*4000] + "…", true},
		"just fits":             {`{"message":"` + long[:2*4000] + `"}`, long[:2*4000], true},
		"another spelling":      {`{"Message":"No HTTP resource"}`, `{"Message":"No HTTP resource"}`, false},
		"message of no string":  {`{"message":{"a":1}}`, `{"message":{"a":1}}`, false},
		"null message":          {`{"message":null}`, `{"message":null}`, false},
		"another form":          {`{"error":"nope"}`, `{"error":"nope"}`, false},
		"in an array":           {`[{"message":"no"}]`, `[{"message":"no"}]`, false},
		"JSON text":             {`"no"`, `"no"`, false},
		"null":                  {`null`, `null`, false},
		"trailing garbage":      {`{"message":"no"}}`, `{"message":"no"}}`, false},
		"empty":                 {"", "", false},
		"white space":           {" \n ", "", false},
		"HTML":                  {"<html>\n  <h1>502\tBad Gateway</h1>\n</html>\n", "<html> <h1>502 Bad Gateway</h1> </html>", false},
		"long HTML":             {"<p>" + long, "<p>" + long[:2*297] + "…", false},
		"not UTF-8":             {"gr\xfcn", `gr\xfcn`, false},
		"not UTF-8 in JSON":     {"{\"message\":\"gr\xfcn\"}", "gr\ufffdn", true},
		"terminal escapes":      {`{"message":"\u001b[31mred\u001b[0m\u0007"}`, `\u001b[31mred\u001b[0m\u0007`, true},
		"terminal escapes raw":  {"\x1b]0;title\x07\x9b", `\u001b]0;title\u0007\x9b`, false},
		"bidirectional control": {`{"message":"p1\u202e1p\u2066\u200f"}`, `p1\u202e1p\u2066\u200f`, true},
		"invisible":             {`{"message":"a\u200bb\ufeff\u00ad\u2028\udb40\udc41"}`, `a\u200bb\ufeff\u00ad\u2028\U000e0041`, true},
		"every script":          {`{"message":"grün 流れ 😀 \u00a0 é"}`, "grün 流れ 😀 \u00a0 é", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, answer(http.StatusConflict, test.body)).fail(t, streams.Config{})
			if e.Message != test.want || e.Documented != test.documented {
				t.Errorf("%.100q is shown as %.200q, documented %t; want %.200q, %t",
					test.body, e.Message, e.Documented, test.want, test.documented)
			}
		})
	}
}

// A redirect is never followed: Go would turn the PATCH into a GET and take its answer for success.
func TestRedirect(t *testing.T) {
	t.Parallel()
	target := serve(t, accept)
	for _, status := range []int{300, 301, 302, 303, 304, 305, 307, 308, 399} {
		outcome := streams.Unknown
		switch status {
		case 301, 302, 307, 308:
			outcome = streams.NotChanged
		}
		for _, location := range []struct{ sent, shown string }{
			{target.URL + "/v2/streams/s1", target.URL + "/v2/streams/s1"},
			{"/login?next=%2Fv2", "/login?next=%2Fv2"},
			{"", ""},
			{"http://[::1", "http://[::1"},
			{":// %zz", ":// %zz"},
			{"https://x/\xff\xe2\x80\xae", `https://x/\xff\u202e`},
			{"https://x/" + strings.Repeat("a", 5000), "https://x/" + strings.Repeat("a", 290) + "…"},
		} {
			t.Run(fmt.Sprintf("%d to %.12q", status, location.sent), func(t *testing.T) {
				t.Parallel()
				var header []string
				if location.sent != "" {
					header = []string{"Location", location.sent}
				}
				s := serve(t, refuse(status, "moved", header...))
				e := s.fail(t, streams.Config{})
				said, documented := "moved", true
				if status == http.StatusNotModified {
					said, documented = "", false // it has no body
				}
				if diff := cmp.Diff(&streams.Error{
					Kind: streams.KindGeneric, Method: "PATCH", URL: s.URL + "/v2/streams/s1", Status: status,
					Message: said, Documented: documented, Location: location.shown,
					Reason:   "the response is a redirect, and redirects are never followed",
					Attempts: 1, Outcome: outcome,
				}, e); diff != "" {
					t.Errorf("error (-want +got):\n%s", diff)
				}
				s.wantRequests(t, 1)
			})
		}
	}
	t.Cleanup(func() { target.wantRequests(t, 0) }) // once the parallel tests are through
}

// After an attempt of unknown outcome, a redirect or a refusal does not make the stream unchanged.
func TestRefusalAfterUnknown(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]http.HandlerFunc{
		"reset": reset, "cut body": truncated(200), "cut refusal": truncated(400), "503": refuse(503, "later"), "408": refuse(408, "slow"),
	} {
		for _, status := range []int{302, 400, 401, 404, 501} {
			s := serve(t, first, refuse(status, "no"))
			if e := s.fail(t, streams.Config{}); e.Outcome != streams.Unknown || e.Status != status || e.Message != "no" || e.Attempts != 2 {
				t.Errorf("%d after %s: %#v", status, name, e)
			}
		}
	}
	// A limit that was exceeded says that nothing was taken.
	if e := serve(t, refuse(429, "slow down"), refuse(400, "no")).fail(t, streams.Config{}); e.Outcome != streams.NotChanged {
		t.Errorf("400 after 429: %#v", e)
	}
}

// A 2xx is a success only with a whole, valid stream that is as asked.
func TestSuccessThatIsNone(t *testing.T) {
	t.Parallel()
	const login = "<!DOCTYPE html>\n<title>Log in</title>"
	for name, test := range map[string]struct {
		step       http.HandlerFunc
		reason     string
		message    string
		documented bool
	}{
		"204":               {answer(204, ""), "the response has no body", "", false},
		"200 without body":  {answer(200, ""), "the response has no body", "", false},
		"202 without body":  {answer(202, ""), "the response has no body", "", false},
		"205":               {answer(205, ""), "the response has no body", "", false},
		"login page":        {answer(200, login, "Content-Type", "text/html"), "the response is not a JSON object", "<!DOCTYPE html> <title>Log in</title>", false},
		"an error body":     {answer(200, `{"message":"not really"}`), "the response is not a stream: id is missing, terminal_id is missing, fragment_type_id is missing, processor_ids is missing, last_edited is missing, compatible_namespaces is missing", "not really", true},
		"null":              {answer(200, "null"), "the response is not a JSON object", "null", false},
		"a list of streams": {answer(200, "["+streamJSON("s1", []string{"p1"})+"]"), "the response is not a JSON object", "[" + streamJSON("s1", []string{"p1"}) + "]", false},
		"not UTF-8":         {answer(200, "\xff"), "the response is not UTF-8 text", `\xff`, false},
		"another stream":    {answer(200, streamJSON("s2", []string{"p1"})), `the response describes another stream, "s2"`, streamJSON("s2", []string{"p1"}), false},
		"another case":      {answer(200, streamJSON("S1", []string{"p1"})), `the response describes another stream, "S1"`, streamJSON("S1", []string{"p1"}), false},
		"an ugly stream":    {answer(200, streamJSON("\x1b[2J\u202e", nil)), `the response describes another stream, "\x1b[2J\u202e"`, `{"compatible_namespaces":["ns1"],"fragment_type_id":"image-jpg","id":"\u001b[2J\u202e","last_edited":1718000000000,"processor_ids":[],"terminal_id":"t1"}`, false},
		"null in the set":   {answer(200, strings.Replace(streamJSON("s1", []string{"p1"}), `"p1"`, "null", 1)), "the response is not a stream: processor_ids is not an array of strings", strings.Replace(streamJSON("s1", []string{"p1"}), `"p1"`, "null", 1), false},
		"199 bytes of 299":  {answer(299, streamJSON("s1", []string{"p1"})[:50]), "the response is not a JSON object", streamJSON("s1", []string{"p1"})[:50], false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.step)
			e := s.fail(t, streams.Config{})
			if e.Status/100 != 2 {
				t.Errorf("status %d", e.Status)
			}
			e.Status = 0
			if diff := cmp.Diff(&streams.Error{
				Kind: streams.KindGeneric, Method: "PATCH", URL: s.URL + "/v2/streams/s1",
				Message: test.message, Documented: test.documented, Reason: test.reason, Attempts: 1, Outcome: streams.Unknown,
			}, e); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			s.wantRequests(t, 1)

			stream, err := connect(t, streams.Config{BaseURL: s.URL}).ReadStream(t.Context(), "s1")
			if e := failure(t, err); stream != nil || e.Outcome != streams.NotChanged || e.Reason != test.reason {
				t.Errorf("read: %v, %#v", stream, e)
			}
		})
	}
}

// Any 2xx will do, and so will any Content-Type: the body is what counts.
func TestEveryWholeSuccess(t *testing.T) {
	t.Parallel()
	body := streamJSON("s1", []string{"p1"})
	for name, step := range map[string]http.HandlerFunc{
		"200":             answer(200, body),
		"201":             answer(201, body),
		"202":             answer(202, body),
		"299":             answer(299, body),
		"no content type": answer(200, body, "Content-Type", ""),
		"text/plain":      answer(200, body, "Content-Type", "text/plain; charset=latin1"),
		"more fields":     answer(200, `{"owner":null,`+body[1:]),
		"repeated ids":    answer(200, strings.Replace(body, `"p1"`, `"p1","p1"`, 1)),
		"a Location":      answer(201, body, "Location", "/v2/streams/other"),
		"early hints": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			answer(200, body)(w, r)
		},
		"in pieces": func(w http.ResponseWriter, _ *http.Request) {
			for _, piece := range strings.SplitAfter(body, ",") {
				_, _ = io.WriteString(w, piece)
				_ = http.NewResponseController(w).Flush()
			}
		},
		"compressed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, body)
			_ = z.Close()
		},
	} {
		s := serve(t, step)
		if stream, err := s.update(t, streams.Config{}); err != nil || stream.ID != "s1" {
			t.Errorf("%s: %v, %v", name, stream, err)
		}
		s.wantRequests(t, 1)
	}
}

// Whether an update replaces or merges is not shown (section 4, rule 4): the difference is named.
func TestAnotherSet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sent, reported []string
		reason         string
	}{
		"merged": {[]string{"p1"}, []string{"p0", "p1"},
			`the service reports additional processors ["p0"]; it may have merged the set instead of replacing it`},
		"not emptied": {nil, []string{"p1", "p2"},
			`the service reports additional processors ["p1", "p2"]; it may have merged the set instead of replacing it`},
		"left out": {[]string{"p1", "p2", "p3"}, []string{"p2"},
			`the service did not attach ["p1", "p3"]`},
		"ignored": {[]string{"p1"}, nil,
			`the service did not attach ["p1"]`},
		"another": {[]string{"p1"}, []string{"P1"},
			`the service did not attach ["p1"]; the service reports additional processors ["P1"]`},
		"ugly": {nil, []string{"\x1b[2J\"\u202e"},
			`the service reports additional processors ["\x1b[2J\"\u202e"]; it may have merged the set instead of replacing it`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, answer(200, streamJSON("s1", test.reported)))
			got, err := connect(t, streams.Config{BaseURL: s.URL}).UpdateStream(t.Context(), "s1", streams.NewProcessorSet(test.sent...))
			e := failure(t, err)
			if got != nil {
				t.Errorf("a failed update returned %+v", got)
			}
			if diff := cmp.Diff(&streams.Error{
				Kind: streams.KindGeneric, Method: "PATCH", URL: s.URL + "/v2/streams/s1", Status: 200,
				Reason: test.reason, Attempts: 1, Outcome: streams.Changed,
				Stream: &streams.Stream{
					ID: "s1", TerminalID: "t1", FragmentTypeID: "image-jpg", LastEdited: 1718000000000,
					ProcessorIDs: streams.NewProcessorSet(test.reported...), CompatibleNamespaces: []string{"ns1"},
				},
			}, e); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			s.wantRequests(t, 1)
		})
	}
}

// The same by a service that really merges: what it reports is what it holds.
func TestMergingService(t *testing.T) {
	t.Parallel()
	service := streamstest.New(streamstest.Options{Merge: true}, streamstest.Stream{ID: "s1", ProcessorIDs: []string{"old"}})
	e := serve(t, refuse(503, "later"), service.ServeHTTP).fail(t, streams.Config{})
	held, _ := service.Stream("s1")
	if e.Message != "" || e.Attempts != 2 {
		t.Errorf("what was said before the answer is told with it: %#v", e)
	}
	if e.Stream == nil || e.Outcome != streams.Changed {
		t.Fatalf("error %#v", e)
	}
	if diff := cmp.Diff(held.ProcessorIDs, e.Stream.ProcessorIDs.IDs()); diff != "" {
		t.Errorf("processor ids (-held +reported):\n%s", diff)
	}
}

// A reason that quotes thousands of ids is cut.
func TestLongDifference(t *testing.T) {
	t.Parallel()
	var ids []string
	for i := range 2000 {
		ids = append(ids, fmt.Sprintf("processor-%d", i))
	}
	e := serve(t, answer(200, streamJSON("s1", append(ids, "p1")))).fail(t, streams.Config{})
	if n := len([]rune(e.Reason)); n != 4001 || e.Stream.ProcessorIDs.Len() != 2001 {
		t.Errorf("a reason of %d characters, %d ids", n, e.Stream.ProcessorIDs.Len())
	}
}

// filler sends size bytes of blanks around a stream, without ever holding them.
func filler(size int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := streamJSON("s1", []string{"p1"})
		_, _ = io.CopyN(w, blanks{}, int64(size-len(body)))
		_, _ = io.WriteString(w, body)
	}
}

type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat(" ", len(p))), nil
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	if _, err := serve(t, filler(16<<20)).update(t, streams.Config{}); err != nil {
		t.Errorf("16 MiB: %v", err)
	}
	squeezed := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.CopyN(z, blanks{}, 1<<30) // ends when the client has had enough
		_ = z.Close()
	}
	for name, step := range map[string]http.HandlerFunc{
		"one byte more": filler(16<<20 + 1), "a gibibyte, compressed": squeezed,
	} {
		s := serve(t, step)
		if e := s.fail(t, streams.Config{}); e.Reason != "the response is longer than 16 MiB" || e.Outcome != streams.Unknown || len(e.Message) > 4000 {
			t.Errorf("%s: %.300v", name, e)
		}
		s.wantRequests(t, 1)
	}
	// An error may be as long as it likes: its beginning is enough.
	page := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, "<h1>No</h1>")
		_, _ = io.CopyN(w, blanks{}, 1<<30)
	}
	if e := serve(t, page).fail(t, streams.Config{}); e.Message != "<h1>No</h1>" || e.Status != 409 || e.Outcome != streams.NotChanged {
		t.Errorf("a long error: %.300v", e)
	}
}

// An answer that turns the connection into something else has no body that ends.
func TestSwitchingProtocols(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn) // keeps the connection until the client ends it
		close(left)
	})
	if e := s.fail(t, streams.Config{}); e.Status != 101 || e.Kind != streams.KindGeneric || e.Outcome != streams.Unknown || e.Attempts != 1 {
		t.Errorf("error %#v", e)
	}
	<-left
}

// Errors are found by errors.As and errors.Is through any wrapping, and never panic when printed bare.
func TestErrorForm(t *testing.T) {
	t.Parallel()
	e := &streams.Error{Kind: streams.KindTimeout, Err: context.DeadlineExceeded}
	wrapped := fmt.Errorf("updating: %w", e)
	if got := failure(t, wrapped); got != e || !errors.Is(wrapped, context.DeadlineExceeded) {
		t.Errorf("found %v in %v", got, wrapped)
	}
	if got := (&streams.Error{}).Error(); !strings.Contains(got, ":") {
		t.Errorf("the zero error says %q", got)
	}
	for status, want := range map[int]string{404: "404 Not Found", 599: "599", 200: "200 OK"} {
		if got := streams.StatusText(status); got != want {
			t.Errorf("StatusText(%d) = %q", status, got)
		}
	}
}
