package masking_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// No text from outside shows a secret, whatever part of a response repeats it, and however.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	const (
		secret   = `s3cret/t0ken<b>+"&=`
		byDotNet = `s3cret/t0ken\u003Cb\u003E\u002B\u0022\u0026\u003D`
	)
	for name, response := range map[string]http.HandlerFunc{
		"message":    RespondError(401, "bad token "+secret),
		"text":       Respond(500, "bad "+secret),
		"other JSON": Respond(401, `{"Authorization": "ApiKey `+byDotNet+`"}`),
		"HTML":       Respond(502, "<p>"+html.EscapeString(secret)+"</p>"),
		"Location":   RespondError(302, "moved", "Location", "https://x.invalid/login?t="+url.QueryEscape(secret)),
		"header":     Respond(404, "", "X-Request-Id", url.QueryEscape(url.QueryEscape(secret))),
		"login page": Respond(200, "<p>"+secret),
		"stream":     Respond(200, StreamJSON(secret, nil)),
		"set":        Respond(200, StreamJSON("s1", []string{"p1", secret, byDotNet})),
		"no HTTP":    RespondRaw("HTTP/1.1 " + secret + " no\r\n\r\n"),
	} {
		RunVirtual(t, name, func(t *testing.T) {
			var attempts []requests.Attempt
			s := StartService(t, response)
			c := NewClient(t, requests.Config{
				BaseURL: s.URL, Headers: map[string]string{"Authorization": "ApiKey " + secret},
				Observe: func(_ context.Context, a requests.Attempt) { attempts = append(attempts, a) },
			})
			_, err := c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet("p1"))
			e := AsError(t, err)
			all := strings.Join([]string{e.Error(), e.Message, e.Reason, e.Location, e.RequestID, c.Redact(secret)}, "\n")
			if e.Stream != nil {
				all += e.Stream.ShownProcessors()
			}
			for _, a := range attempts {
				all += fmt.Sprint(a.Err, a.ResponseBody)
			}
			if strings.Contains(all, "s3cret") {
				t.Errorf("the secret is shown in\n%s", all)
			}
			streamstest.WantText(t, all, "***") // the response was shown
		})
	}
}

// A response that no log shows takes no more work if it is longer than an error can show.
func TestWorkForLongResponses(t *testing.T) { // not parallel, because it counts allocations
	work := func(length int) float64 {
		text := strings.Repeat(`\u003cp\u003e a\/b%2Fc &amp; `, length/30)
		s := StartService(t, Respond(503, `{"message": "`+text+`"}`))
		c := NewClient(t, requests.Config{
			BaseURL: s.URL, Headers: map[string]string{"X-Key": "a+b=s3cret", "X-Other": "c&d=s3cret"},
			Retry: requests.Retry{MaxAttempts: 1}, Observe: func(context.Context, requests.Attempt) {},
		})
		return testing.AllocsPerRun(3, func() { _, _ = c.UpdateStream(t.Context(), "s1", streams.NewProcessorSet()) })
	}
	if long, short := work(1<<20), work(30<<10); long > 2*short {
		t.Errorf("%g allocations for 1 MiB, %g for 30 KiB", long, short)
	}
}

// The provider's own words, the URL and the user's ids are shown as they are.
func TestNotMasked(t *testing.T) {
	t.Parallel()
	var attempts []requests.Attempt
	s := StartService(t, Respond(200, StreamJSON("acme-cam-1", []string{"acme-p1", "acme-p2"})))
	c := NewClient(t, requests.Config{
		BaseURL: s.URL, Headers: map[string]string{"X-Tenant": "acme"}, BasicAuth: &requests.BasicAuth{Username: "me", Password: "service"},
		Observe: func(_ context.Context, a requests.Attempt) { attempts = append(attempts, a) },
	})
	_, err := c.UpdateStream(t.Context(), "acme-cam-1", streams.NewProcessorSet("acme-p1", "acme-p3"))
	e := AsError(t, err)
	if e.URL != s.URL+"/v2/streams/acme-cam-1" || e.Stream.ShownProcessors() != `["acme-p1", "***-p2"]` ||
		e.Reason != `the service did not attach ["acme-p3"]; the service reports additional processors ["***-p2"]` {
		t.Errorf("error %#v", e)
	}
	if a := attempts[0]; a.URL != e.URL || a.RequestBody != `{"processor_ids":["acme-p1","acme-p3"]}` {
		t.Errorf("attempt %+v", a)
	}
	if got := e.Stream.ProcessorIDs.String(); got != `["acme-p1", "acme-p2"]` {
		t.Errorf("the fields of the stream are not what the service reported: %s", got)
	}
}

// What the files held is masked, as other secrets are, and so is a token that was received: also their parts.
func TestFoundSecretsAreMasked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "credential")
	if err := os.WriteFile(path, []byte("user:s3cret-part\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	echo := func(w http.ResponseWriter, r *http.Request) {
		RespondError(403, r.FormValue("client_assertion")+r.Header.Get("Authorization")+" s3cret-part")(w, r)
	}
	if e := StartService(t, echo).UpdateError(t, requests.Config{TokenFile: path}); e.Message != "Bearer *** ***" {
		t.Errorf("error %#v", e)
	}
	cfg := requests.Config{OAuth2: &requests.OAuth2{TokenURL: StartService(t, echo).URL, ClientAssertionFile: path}}
	if e := StartService(t, ApplyUpdate).UpdateError(t, cfg); e.Message != "*** ***" {
		t.Errorf("error %#v", e)
	}
	s := StartService(t, RespondError(403, "user:s3cret-part s3cret-part t0ken-2 t0ken-3 dXNlcjpzM2NyZXQtcGFydA dDBrZW4tMg== dDBrZW4tMw"))
	issue := Respond(200, `{"access_token":"user:s3cret-part","refresh_token":"t0ken-2","id_token":"t0ken-3"}`)
	if e := s.UpdateError(t, OAuth2Config(s, StartService(t, issue))); e.Message != "*** *** *** *** *** *** ***" {
		t.Errorf("error %#v", e)
	}
}
