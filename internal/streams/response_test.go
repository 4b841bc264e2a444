package streams_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// A 2xx is an error unless its body is the stream with the requested id.
func TestInvalidSuccess(t *testing.T) {
	t.Parallel()
	const login = "<!DOCTYPE html>\n<title>Log in</title>"
	for name, test := range map[string]struct {
		response   http.HandlerFunc
		reason     string
		message    string
		documented bool
	}{
		"204":                {respond(204, ""), "the response has no body", "", false},
		"200 without body":   {respond(200, ""), "the response has no body", "", false},
		"202 without body":   {respond(202, ""), "the response has no body", "", false},
		"205":                {respond(205, ""), "the response has no body", "", false},
		"login page":         {respond(200, login, "Content-Type", "text/html"), "the response is not a JSON object", "HTML page: Log in", false},
		"an error body":      {respond(200, `{"message":"not really"}`), "the response is not a stream: id is missing, terminal_id is missing, fragment_type_id is missing, processor_ids is missing, last_edited is missing, compatible_namespaces is missing", "not really", true},
		"null":               {respond(200, "null"), "the response is not a JSON object", "null", false},
		"a list of streams":  {respond(200, "["+streamJSON("s1", []string{"p1"})+"]"), "the response is not a JSON object", "[" + streamJSON("s1", []string{"p1"}) + "]", false},
		"not UTF-8":          {respond(200, "\xff"), "the response is not UTF-8 text", `\xff`, false},
		"another stream":     {respond(200, streamJSON("s2", []string{"p1"})), `the response describes another stream, "s2"`, streamJSON("s2", []string{"p1"}), false},
		"another case":       {respond(200, streamJSON("S1", []string{"p1"})), `the response describes another stream, "S1"`, streamJSON("S1", []string{"p1"}), false},
		"control characters": {respond(200, streamJSON("\x1b[2J\u202e", nil)), `the response describes another stream, "\x1b[2J\u202e"`, `{"compatible_namespaces":["ns1"],"fragment_type_id":"image-jpg","id":"\u001b[2J\u202e","last_edited":1718000000000,"processor_ids":[],"terminal_id":"t1"}`, false},
		"null in the set":    {respond(200, strings.Replace(streamJSON("s1", []string{"p1"}), `"p1"`, "null", 1)), "the response is not a stream: processor_ids is not an array of strings", strings.Replace(streamJSON("s1", []string{"p1"}), `"p1"`, "null", 1), false},
		"incomplete JSON":    {respond(299, streamJSON("s1", []string{"p1"})[:50]), "the response is not a JSON object", streamJSON("s1", []string{"p1"})[:50], false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startService(t, test.response)
			e := s.updateError(t, streams.Config{})
			if e.Status/100 != 2 {
				t.Errorf("status %d", e.Status)
			}
			e.Status = 0
			if diff := cmp.Diff(&streams.Error{
				Kind: streams.KindUnexpected, Method: "PATCH", URL: s.URL + "/v2/streams/s1",
				Message: test.message, Documented: test.documented, Reason: test.reason, Attempts: 1, Outcome: streams.Unknown,
			}, e); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			s.wantRequests(t, 1)

			stream, err := newClient(t, streams.Config{BaseURL: s.URL}).ReadStream(t.Context(), "s1")
			if e := asError(t, err); stream != nil || e.Outcome != streams.NotChanged || e.Reason != test.reason {
				t.Errorf("read: %v, %#v", stream, e)
			}
		})
	}
}

// The body alone decides on success: status codes and headers may differ.
func TestValidSuccess(t *testing.T) {
	t.Parallel()
	body := streamJSON("s1", []string{"p1"})
	for name, response := range map[string]http.HandlerFunc{
		"200":             respond(200, body),
		"201":             respond(201, body),
		"202":             respond(202, body),
		"299":             respond(299, body),
		"no content type": respond(200, body, "Content-Type", ""),
		"text/plain":      respond(200, body, "Content-Type", "text/plain; charset=latin1"),
		"more fields":     respond(200, `{"owner":null,`+body[1:]),
		"repeated ids":    respond(200, strings.Replace(body, `"p1"`, `"p1","p1"`, 1)),
		"a Location":      respond(201, body, "Location", "/v2/streams/other"),
		"early hints": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			respond(200, body)(w, r)
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
		s := startService(t, response)
		if stream, err := s.update(t, streams.Config{}); err != nil || stream.ID != "s1" {
			t.Errorf("%s: %v, %v", name, stream, err)
		}
		s.wantRequests(t, 1)
	}
}

// The body of a 101 is the connection. The client closes it and does not wait for its end.
func TestSwitchingProtocols(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	s := startService(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn) // until the client closes the connection
		close(closed)
	})
	if e := s.updateError(t, streams.Config{}); e.Status != 101 || e.Kind != streams.KindUnexpected || e.Outcome != streams.Unknown || e.Attempts != 1 {
		t.Errorf("error %#v", e)
	}
	<-closed
}

// respondPadded responds with a stream, padded with spaces to size bytes.
func respondPadded(size int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := streamJSON("s1", []string{"p1"})
		_, _ = io.CopyN(w, spaces{}, int64(size-len(body)))
		_, _ = io.WriteString(w, body)
	}
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat(" ", len(p))), nil
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	if _, err := startService(t, respondPadded(16<<20)).update(t, streams.Config{}); err != nil {
		t.Errorf("16 MiB: %v", err)
	}
	respondCompressed := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.CopyN(z, spaces{}, 1<<30) // fails when the client stops reading
		_ = z.Close()
	}
	for name, response := range map[string]http.HandlerFunc{
		"one byte more": respondPadded(16<<20 + 1), "1 GiB, compressed": respondCompressed,
	} {
		s := startService(t, response)
		if e := s.updateError(t, streams.Config{}); e.Reason != "the response is longer than 16 MiB" || e.Outcome != streams.Unknown || len(e.Message) > 4000 {
			t.Errorf("%s: %.300v", name, e)
		}
		s.wantRequests(t, 1)
	}
	// An error body may be longer: its beginning is enough.
	respondLongError := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, "<h1>No</h1>")
		_, _ = io.CopyN(w, spaces{}, 1<<30)
	}
	if e := startService(t, respondLongError).updateError(t, streams.Config{}); e.Message != "HTML page: No" || e.Status != 409 || e.Outcome != streams.NotChanged {
		t.Errorf("long error body: %.300v", e)
	}
}
