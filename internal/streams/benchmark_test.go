package streams_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// BenchmarkUpdateStream measures one update over loopback. Client and server allocate together.
func BenchmarkUpdateStream(b *testing.B) {
	const id = "7d444840-9dc0-11d1-b245-5ffdce74fad2"
	ids := []string{"f47ac10b-58cc-4372-a567-0e02b2c3d479", "9b2d1c1e-3b1a-4f0e-8c47-2f6a0a9d7b11", "0d9c6f3e-6b1f-4a47-b0a9-5f2a3c1d8e77"}
	respondStream := respond(http.StatusOK, streamJSON(id, []string{ids[2], ids[1], ids[0]}))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		respondStream(w, r)
	}))
	b.Cleanup(server.Close)
	c, err := streams.New(streams.Config{BaseURL: server.URL, Token: "t0ken", UserAgent: "terraform-provider-stream/1.2.3"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.UpdateStream(b.Context(), id, streams.NewProcessorSet(ids...)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHostileResponse measures an update whose error response has 15 MiB, and its text for a TRACE log. Each pattern
// must take at most twice the time of the plain text.
func BenchmarkHostileResponse(b *testing.B) {
	const secret = "s3cret-t0ken-s3cret-t0ken-of-some-length"
	for name, pattern := range map[string]string{
		"plain text": "plain text ", "backslash": `\`, "percent": "%25", "entity": "&amp;", "prefix of the secret": secret[:39],
		"escaped backslash": `\u005c`,
	} {
		body := bytes.Repeat([]byte(pattern), 15<<20/len(pattern))
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(body)
		}))
		b.Cleanup(server.Close)
		c, err := streams.New(streams.Config{
			BaseURL: server.URL, Token: secret, UserAgent: "terraform-provider-stream/1.2.3",
			Observe: func(_ context.Context, a streams.Attempt) { _ = a.ResponseBody.String() },
		})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var e *streams.Error
				if _, err := c.UpdateStream(b.Context(), "s", streams.NewProcessorSet()); !errors.As(err, &e) || e.Status != http.StatusBadRequest {
					b.Fatal(err)
				}
			}
		})
	}
}
