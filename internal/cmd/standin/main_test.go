package main

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// output has each text that the stand-in prints.
type output chan string

func (o output) Write(text []byte) (int, error) {
	o <- string(text)
	return len(text), nil
}

// start runs the stand-in until the test ends. It returns what the stand-in prints before the first request, and then
// prints.
func start(t *testing.T, args ...string) (banner string, requests output) {
	t.Helper()
	late := time.AfterFunc(50*time.Second, func() { panic("the stand-in does not print or end") })
	out, ended := make(output, 100), make(chan error, 1)
	go func() {
		ended <- run(t.Context(), args, out)
		close(out)
	}()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
		late.Stop()
	})
	for text := range out {
		if banner += text; strings.HasSuffix(banner, "\nRequests:\n") {
			return banner, out
		}
	}
	t.Fatalf("run returned and printed:\n%s", banner)
	return "", nil
}

// The stand-in prints how to use it, what it serves, and each request with the status, but not the token.
func TestRun(t *testing.T) {
	t.Parallel()
	const defaults = `^The stand-in service is running\. Press Ctrl-C to stop it\. In another terminal:

  export STREAM_BASE_URL=http://127\.0\.0\.1:[1-9]\d*

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
	type steps []struct{ token, request, response string }
	for _, test := range []struct {
		args   []string
		banner string
		steps  steps
	}{
		{nil, defaults, steps{
			{"", `PATCH cam-1 {"processor_ids":["p1"]}`, `200 .*"processor_ids":\["p1"\]`},
			{"", `PATCH cam-1 {"processor_ids":["p2"]}`, `200 .*"processor_ids":\["p2"\]`},
			{"", `PATCH cam-3 {"processor_ids":[]}`, `200 .*"processor_ids":\[\]`},
			{"", `PATCH cam-4 {"processor_ids":[]}`, `404 .*"message"`},
			{"", `GET cam-1 `, `405 .*"message"`},
		}},
		{[]string{
			"-token", "it's secret", "-get", "-merge", "-refuse-empty", "-latency", "1ns", "-known", "p1,p2", "-known", "p3",
			"-stream", "cam-7=p1,p2", "-stream", "a=b=", "-keep-last-edited", "-fault", "PATCH a=b 2 500 applied",
		}, options, steps{
			{"", `GET cam-7 `, `401 `},
			{"other", `GET cam-7 `, `401 `},
			{"it's secret", `GET cam-7 `, `200 .*"processor_ids":\["p1","p2"\]`},
			{"it's secret", `GET a=b `, `200 .*"processor_ids":\[\]`},
			{"it's secret", `GET cam-1 `, `404 `},
			{"it's secret", `PATCH cam-7 {"processor_ids":["p3"]}`, `200 .*"processor_ids":\["p1","p2","p3"\]`},
			{"it's secret", `PATCH cam-7 {"processor_ids":["p4"]}`, `400 .*unknown processors`},
			{"it's secret", `PATCH cam-7 {"processor_ids":[]}`, `400 `},
			{"it's secret", `PATCH a=b {"processor_ids":["p1"]}`, `200 .*"last_edited":1735689600000`},
			{"it's secret", `PATCH a=b {"processor_ids":["p2"]}`, `500 .*injected`},
			{"it's secret", `GET a=b `, `200 .*"processor_ids":\["p1","p2"\]`},
		}},
	} {
		banner, requests := start(t, test.args...)
		if !regexp.MustCompile(test.banner).MatchString(banner) {
			t.Fatalf("printed\n%s\nwant\n%s", banner, test.banner)
		}
		address := regexp.MustCompile("http://.*").FindString(banner)
		for _, step := range test.steps {
			wantResponse(t, address, step.token, step.request, step.response)
			want := "  " + strings.TrimSpace(strings.Replace(step.request, " ", " /v2/streams/", 1)) + " → " + step.response[:3] + "\n"
			if printed := <-requests; printed != want {
				t.Errorf("printed %q, want %q", printed, want)
			}
		}
	}
}

// wantResponse sends a request, "METHOD stream body", and compares the status and the body with a pattern.
func wantResponse(t *testing.T, address, token, request, pattern string) {
	t.Helper()
	part := strings.SplitN(request, " ", 3)
	req, err := http.NewRequest(part[0], address+"/v2/streams/"+part[1], strings.NewReader(part[2]))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if got := resp.Status + " " + string(body); err != nil || !regexp.MustCompile("^"+pattern).MatchString(got) {
		t.Errorf("%s: got %s, %v, want %s", request, got, err, pattern)
	}
}

func TestRefusesArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-fault=PATCH cam-1 0 500":  "must be 1 or more",
		"-fault=PATCH cam-1 1 5000": `no fault "5000", only ["200 not applied"`,
		"-listen=:8080":             "not a loopback address",
		"-listen=0.0.0.0:8080":      "not a loopback address",
		"-listen=example.com:80":    "not a loopback address",
		"-listen=127.0.0.1":         "missing port",
		"cam-1":                     `unexpected argument "cam-1"`,
		"-stream==p1":               "must not be empty",
		"-stream=cam-1=p1,,p2":      "must not be empty",
		"-known=p1,":                "must not be empty",
		"-post":                     "not defined",
		"-fault=PATCH":              "a fault must be like",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // if run accepts the arguments, it returns at once
		if err := run(ctx, []string{args}, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want an error that contains %q", args, err, want)
		}
	}
	for _, address := range []string{"127.1.2.3:0", "localhost:0", "[::1]:0"} {
		if err := checkLoopback(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}
