package streams_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// respondRaw sends bytes that need not be HTTP.
func respondRaw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
	}
}

// No text that leaves the client contains a secret, whatever part of a response echoes it.
func TestSecretsAreRedacted(t *testing.T) {
	t.Parallel()
	const secret = `s3cret/t0ken+"<&>=`
	basic := base64.StdEncoding.EncodeToString([]byte("me:" + secret))
	schemes := map[string]struct {
		cfg    streams.Config
		secret string
	}{
		"token":        {streams.Config{Token: secret}, secret},
		"password":     {streams.Config{BasicAuth: &streams.BasicAuth{Username: "me", Password: secret}}, secret},
		"basic header": {streams.Config{BasicAuth: &streams.BasicAuth{Username: "me", Password: secret}}, basic},
		"header":       {streams.Config{Headers: map[string]string{"X-Api-Key": secret}}, secret},
		"credential":   {streams.Config{Headers: map[string]string{"Authorization": "ApiKey " + secret}}, secret},
	}
	jsonString := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b)
	}
	for scheme, test := range schemes {
		for name, response := range map[string]http.HandlerFunc{
			"message":       respondError(401, "bad token "+test.secret),
			"other JSON":    respond(403, `{"error":`+jsonString("bad "+test.secret)+`}`),
			"text":          respond(500, "bad "+test.secret),
			"HTML":          respond(502, "<p>"+html.EscapeString(test.secret)+"</p>"),
			"URL in HTML":   respond(404, "<a href='/?t="+url.QueryEscape(test.secret)+"'>"),
			"Location":      respondError(302, "moved", "Location", "https://x.invalid/login?t="+url.QueryEscape(test.secret)),
			"Location path": respondError(302, "moved", "Location", "/"+url.PathEscape(test.secret)),
			"login page":    respond(200, "<p>"+test.secret),
			"other stream":  respond(200, streamJSON(test.secret, nil)),
			"other set":     respond(200, streamJSON("s1", []string{"p1", test.secret})),
			"no HTTP":       respondRaw("HTTP/1.1 " + test.secret + " no\r\n\r\n"),
			"no header":     respondRaw("HTTP/1.1 200 OK\r\n" + test.secret + "\r\n\r\n"),
		} {
			t.Run(scheme+"/"+name, func(t *testing.T) {
				t.Parallel()
				var attempts []streams.Attempt
				cfg := test.cfg
				cfg.Observe = func(_ context.Context, a streams.Attempt) { attempts = append(attempts, a) }
				e := startService(t, response).updateError(t, cfg)
				texts := []string{e.Error(), e.Message, e.Reason, e.Location, e.URL, string(e.Kind)}
				for _, a := range attempts {
					texts = append(texts, a.Err, a.RequestBody.String(), a.ResponseBody.String(), a.URL)
				}
				if len(attempts) != e.Attempts {
					t.Errorf("%d of %d attempts were observed", len(attempts), e.Attempts)
				}
				all := strings.Join(texts, "\n")
				for _, spelled := range []string{
					test.secret, jsonString(test.secret), fmt.Sprintf("%q", test.secret)[1 : len(test.secret)+1],
					html.EscapeString(test.secret), url.QueryEscape(test.secret), url.PathEscape(test.secret), test.secret[:10],
				} {
					if strings.Contains(all, spelled) {
						t.Errorf("%q is shown in\n%s", spelled, all)
					}
				}
				wantText(t, all, "***") // the response was shown
			})
		}
	}
}

// An id that is equal to a secret is redacted in the URL and in the logged request body.
func TestSecretAsID(t *testing.T) {
	t.Parallel()
	const secret = "s3cret/id"
	var attempts []streams.Attempt
	s := startService(t, respondError(404, "no stream "+secret))
	c := newClient(t, streams.Config{BaseURL: s.URL, Token: secret, Observe: func(_ context.Context, a streams.Attempt) { attempts = append(attempts, a) }})
	_, err := c.UpdateStream(t.Context(), secret, streams.NewProcessorSet(secret))
	e := asError(t, err)
	if shown := fmt.Sprintf("%s %+v", e, attempts); strings.Contains(shown, "s3cret") || e.URL != s.URL+"/v2/streams/***" || len(attempts) != 1 ||
		attempts[0].RequestBody.String() != `{"processor_ids":["***"]}` {
		t.Errorf("shown: %s", shown)
	}
	if got := s.requests()[0]; got.Target != "/v2/streams/s3cret%2Fid" || got.Body != `{"processor_ids":["s3cret/id"]}` {
		t.Errorf("the request that was sent is redacted: %+v", got)
	}
}
