package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// output has each text that the stand-in prints.
type output chan string

func (o output) Write(text []byte) (int, error) {
	o <- string(text)
	return len(text), nil
}

// standIn is a run of the program.
type standIn struct {
	banner   string // printed before the first request
	address  string
	requests output
	stop     func() // ends the run, and waits for that
}

// start runs the stand-in until the test ends, or before.
func start(t *testing.T, args ...string) *standIn {
	t.Helper()
	late := time.AfterFunc(50*time.Second, func() { panic("the stand-in does not print or end") })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	s := &standIn{requests: make(output, 100)}
	go func() {
		ended <- run(ctx, args, s.requests)
		close(s.requests)
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
		late.Stop()
	})
	t.Cleanup(s.stop)
	for text := range s.requests {
		if s.banner += text; strings.HasSuffix(s.banner, "\nRequests:\n") {
			s.address = regexp.MustCompile(`STREAM_BASE_URL=(\S+)`).FindStringSubmatch(s.banner)[1]
			return s
		}
	}
	t.Fatalf("run returned and printed:\n%s", s.banner)
	return nil
}

// step is a request, "METHOD stream body", with a value of Authorization, and a pattern of the response.
type step struct{ authorization, request, response string }

// The stand-in prints how to use it, what it serves, and each request with the status, but not the token.
func TestRun(t *testing.T) {
	t.Parallel()
	const defaults = `^The stand-in service is running( on the next free port, because port 8420 is in use)?\. ` +
		`Press Ctrl-C to stop it\. In another terminal:

  export STREAM_BASE_URL=http://127\.0\.0\.1:8[45]\d\d

Streams:
  cam-1
  cam-2
  cam-3

Requests:
$`
	const options = `
  export STREAM_TOKEN='it'\\''s secret'
(.*\n)*  cam-7: p1, p2
  a=b
(.*\n)*Known processors: p1, p2, p3
`
	const token = "Bearer it's secret"
	for _, test := range []struct {
		args   []string
		banner string
		steps  []step
	}{
		{nil, defaults, []step{
			{"", `PATCH cam-1 {"processor_ids":["p1"]}`, `200 .*"processor_ids":\["p1"\]`},
			{"", `PATCH cam-1 {"processor_ids":["p2"]}`, `200 .*"processor_ids":\["p2"\]`},
			{"", `PATCH cam-3 {"processor_ids":[]}`, `200 .*"processor_ids":\[\]`},
			{"", `PATCH cam-4 {"processor_ids":[]}`, `404 .*"message"`},
			{"", `GET cam-1 `, `405 .*"message"`},
		}},
		{[]string{
			"-token", "it's secret", "-get", "-merge", "-refuse-empty", "-latency", "1ns", "-known", "p1,p2", "-known", "p3",
			"-stream", "cam-7=p1,p2", "-stream", "a=b=", "-keep-last-edited", "-fault", "PATCH a=b 2 500 applied", "-listen", "127.0.0.1:0",
		}, options, []step{
			{"", `GET cam-7 `, `401 `},
			{"Bearer other", `GET cam-7 `, `401 `},
			{token, `GET cam-7 `, `200 .*"processor_ids":\["p1","p2"\]`},
			{token, `GET a=b `, `200 .*"processor_ids":\[\]`},
			{token, `GET cam-1 `, `404 `},
			{token, `PATCH cam-7 {"processor_ids":["p3"]}`, `200 .*"processor_ids":\["p1","p2","p3"\]`},
			{token, `PATCH cam-7 {"processor_ids":["p4"]}`, `400 .*unknown processors`},
			{token, `PATCH cam-7 {"processor_ids":[]}`, `400 `},
			{token, `PATCH a=b {"processor_ids":["p1"]}`, `200 .*"last_edited":1735689600000`},
			{token, `PATCH a=b {"processor_ids":["p2"]}`, `500 .*injected`},
			{token, `GET a=b `, `200 .*"processor_ids":\["p1","p2"\]`},
		}},
		{[]string{"-basic", "alice:s3cret:x", "-listen", "127.0.0.1:0"}, `
  export STREAM_USERNAME='alice'
  export STREAM_PASSWORD='s3cret:x'
`, []step{
			{"", `PATCH cam-1 {"processor_ids":["p1"]}`, `401 `},
			{"Basic YWxpY2U6czNjcmV0Ong=", `PATCH cam-1 {"processor_ids":["p1"]}`, `200 `},
		}},
	} {
		s := start(t, test.args...)
		if !regexp.MustCompile(test.banner).MatchString(s.banner) {
			t.Fatalf("printed\n%s\nwant\n%s", s.banner, test.banner)
		}
		s.take(t, test.steps...)
	}
}

// A restart has the address of the first run, and still accepts its tokens. So does another stand-in with the same client.
func TestRestart(t *testing.T) {
	t.Parallel()
	first := start(t, "-oauth2", "terraform:it's:secret", "-listen", "127.0.0.1:0")
	for _, want := range []string{
		"STREAM_OAUTH2_TOKEN_URL=" + first.address + "/oauth2/token\n", "STREAM_OAUTH2_CLIENT_ID='terraform'\n",
		`STREAM_OAUTH2_CLIENT_SECRET='it'\''s:secret'` + "\n",
	} {
		if !strings.Contains(first.banner, "  export "+want) {
			t.Errorf("no %q in:\n%s", want, first.banner)
		}
	}
	token := first.token(t, url.Values{"client_id": {"terraform"}, "client_secret": {"it's:secret"}})
	use := []step{
		{"", `PATCH cam-1 {"processor_ids":["p1"]}`, `401 `},
		{"Bearer token-1", `PATCH cam-1 {"processor_ids":["p1"]}`, `401 `},
		{token, `PATCH cam-1 {"processor_ids":["p1"]}`, `200 `},
	}
	first.take(t, use...)
	first.stop()

	again := start(t, "-oauth2", "terraform:it's:secret", "-listen", strings.TrimPrefix(first.address, "http://"))
	if again.banner != first.banner {
		t.Errorf("printed\n%s\nand after a restart\n%s", first.banner, again.banner)
	}
	again.take(t, use...)
	_, assertion, _ := strings.Cut(again.banner, "STREAM_OAUTH2_CLIENT_ASSERTION=")
	assertion, _, _ = strings.Cut(assertion, "\n")
	token = again.token(t, url.Values{
		"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {assertion},
	})
	start(t, "-oauth2", "terraform:it's:secret", "-listen", "127.0.0.1:0").take(t, step{token, `PATCH cam-1 {"processor_ids":[]}`, `200 `})
}

// With -scope and -audience, a client gets a token only if it asks for both. What is printed says where to set them.
func TestScopeAndAudience(t *testing.T) {
	t.Parallel()
	s := start(t, "-oauth2", "me:s", "-scope", "streams", "-audience", "https://a", "-listen", "127.0.0.1:0")
	for _, want := range []string{`scopes = ["streams"]`, `endpoint_params = { audience = "https://a" }`} {
		if !strings.Contains(s.banner, "\nIn oauth2 of the provider block: "+want+"\n") {
			t.Errorf("no %s in:\n%s", want, s.banner)
		}
	}
	form := url.Values{"client_id": {"me"}, "client_secret": {"s"}, "grant_type": {"client_credentials"}, "scope": {"streams"}}
	if got := s.send(t, "POST", "/oauth2/token", "application/x-www-form-urlencoded", "", form.Encode()); !strings.HasPrefix(got, "400 ") {
		t.Errorf("without an audience: got %s", got)
	}
	s.wantPrinted(t, "POST /oauth2/token → 400")
	form.Set("audience", "https://a")
	s.take(t, step{s.token(t, form), `PATCH cam-1 {"processor_ids":[]}`, `200 `})
}

// The default port is the first one that nobody uses, and what is printed says if it is another one.
func TestDefaultPort(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		used       int
		port, note string
	}{
		{0, "127.0.0.1:8420", ""},
		{1, "127.0.0.1:8421", " on the next free port, because port 8420 is in use"},
		{triedPorts - 1, "127.0.0.1:8519", " on the next free port, because port 8420 is in use"},
		{triedPorts, "", ""},
	} {
		tried, port := 0, ""
		_, note, err := listenDefault(func(address string) (net.Listener, error) {
			if tried++; tried <= test.used {
				return nil, errors.New("in use")
			}
			port = address
			return nil, nil
		})
		if port != test.port || note != test.note || (err == nil) != (port != "") {
			t.Errorf("%d ports are in use: listens on %q%s, %v", test.used, port, note, err)
		}
	}
}

// take sends requests, and checks the responses and what is printed of each.
func (s *standIn) take(t *testing.T, steps ...step) {
	t.Helper()
	for _, step := range steps {
		part := strings.SplitN(step.request, " ", 3)
		got := s.send(t, part[0], "/v2/streams/"+part[1], "application/json", step.authorization, part[2])
		if !regexp.MustCompile("^" + step.response).MatchString(got) {
			t.Errorf("%s: got %s, want %s", step.request, got, step.response)
		}
		s.wantPrinted(t, strings.TrimSpace(strings.Replace(step.request, " ", " /v2/streams/", 1))+" → "+step.response[:3])
	}
}

// token gets a token, and returns the header that has it.
func (s *standIn) token(t *testing.T, form url.Values) string {
	t.Helper()
	form.Set("grant_type", "client_credentials")
	got := s.send(t, "POST", "/oauth2/token", "application/x-www-form-urlencoded", "", form.Encode())
	found := regexp.MustCompile(`^200 .*"access_token":"([^"]+)"`).FindStringSubmatch(got)
	if found == nil {
		t.Fatalf("got no token: %s", got)
	}
	s.wantPrinted(t, "POST /oauth2/token → 200")
	return "Bearer " + found[1]
}

// wantPrinted checks what the stand-in prints next.
func (s *standIn) wantPrinted(t *testing.T, line string) {
	t.Helper()
	if printed := <-s.requests; printed != "  "+line+"\n" {
		t.Errorf("printed %q, want %q", printed, line)
	}
}

// send returns the status and the body of a response.
func (s *standIn) send(t *testing.T, method, path, contentType, authorization, body string) string {
	t.Helper()
	req, err := http.NewRequest(method, s.address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Authorization", authorization)
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Status + " " + string(got)
}
