package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// running is a stand-in started by start.
type running struct {
	baseURL string
	banner  string        // printed before the first request
	lines   <-chan string // printed later, line by line; closed when run has returned
	stop    func() error  // stops the stand-in and returns the error of run; can be called again
}

func start(t *testing.T, args ...string) running {
	t.Helper()
	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = run(ctx, args, in)
		in.Close()
	}()
	stop := func() error {
		cancel()
		<-ended
		return err
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("run: %v", err)
		}
	})

	// The service prints a request before it responds, so the output must be read all the time.
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	var banner strings.Builder
	for line := range lines {
		banner.WriteString(line + "\n")
		if line == "Requests:" {
			return running{exported(t, banner.String(), "STREAM_BASE_URL"), banner.String(), lines, stop}
		}
	}
	t.Fatalf("run returned %v and printed:\n%s", stop(), banner.String())
	panic("unreachable")
}

func exported(t *testing.T, banner, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(banner, "export "+name+"=")
	if !ok {
		t.Fatalf("no export of %s in:\n%s", name, banner)
	}
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

func (r running) nextLine(t *testing.T) string {
	t.Helper()
	line, ok := <-r.lines
	if !ok {
		t.Fatal("run returned before it printed another line")
	}
	return strings.TrimSpace(line)
}

// send makes a request and returns the status and the body.
func send(t *testing.T, method, url, token, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Transport: &http.Transport{}} // no proxy
	t.Cleanup(client.CloseIdleConnections)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(content)
}

func TestPrintsAddressStreamsAndRequests(t *testing.T) {
	t.Parallel()
	r := start(t)
	if !strings.HasPrefix(r.baseURL, "http://127.0.0.1:") || strings.HasSuffix(r.baseURL, ":0") {
		t.Errorf("base URL %q: want a port on 127.0.0.1 that is not 0", r.baseURL)
	}
	if strings.Contains(r.banner, "STREAM_TOKEN") {
		t.Errorf("without -token, a token is exported:\n%s", r.banner)
	}
	for _, id := range []string{"cam-1", "cam-2", "cam-3"} {
		if !strings.Contains(r.banner, "  "+id+"\n") {
			t.Errorf("stream %s is not listed in:\n%s", id, r.banner)
		}
		status, body := send(t, "PATCH", r.baseURL+"/v2/streams/"+id, "", `{"processor_ids":["p1"]}`)
		if status != 200 || !strings.Contains(body, `"processor_ids":["p1"]`) {
			t.Errorf("PATCH %s: got %d %s", id, status, body)
		}
		want := `PATCH /v2/streams/` + id + ` {"processor_ids":["p1"]} → 200`
		if got := r.nextLine(t); got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
	}
	if err := r.stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
}

func TestStreamFlagReplacesTheDefaultStreams(t *testing.T) {
	t.Parallel()
	r := start(t, "-stream", "a/b", "-stream", "ü x")
	for path, want := range map[string]int{"a%2Fb": 200, "%C3%BC%20x": 200, "cam-1": 404} {
		if status, body := send(t, "PATCH", r.baseURL+"/v2/streams/"+path, "", `{"processor_ids":[]}`); status != want {
			t.Errorf("%s: got %d %s, want %d", path, status, body, want)
		}
		r.nextLine(t)
	}
}

func TestStreamFlagWithProcessors(t *testing.T) {
	t.Parallel()
	r := start(t, "-get", "-stream", "cam-1=p1,p2", "-stream", "a=b=", "-stream", "cam-2")
	for _, line := range []string{"  cam-1: p1, p2\n", "  a=b\n", "  cam-2\n"} {
		if !strings.Contains(r.banner, line) {
			t.Errorf("no %q in:\n%s", line, r.banner)
		}
	}
	for id, want := range map[string]string{"cam-1": `["p1","p2"]`, "a=b": `[]`, "cam-2": `[]`} {
		status, body := send(t, "GET", r.baseURL+"/v2/streams/"+id, "", "")
		if status != 200 || !strings.Contains(body, `"processor_ids":`+want) {
			t.Errorf("%s: got %d %s, want the processors %s", id, status, body, want)
		}
		r.nextLine(t)
	}
}

func TestKnownFlag(t *testing.T) {
	t.Parallel()
	r := start(t, "-known", "p1,p2", "-known", "p3")
	if want := "\nKnown processors: p1, p2, p3\n"; !strings.Contains(r.banner, want) {
		t.Errorf("no %q in:\n%s", want, r.banner)
	}
	for body, want := range map[string]int{`["p1","p3"]`: 200, `["p4"]`: 400, `["p1","P2"]`: 400, `[]`: 200} {
		status, text := send(t, "PATCH", r.baseURL+"/v2/streams/cam-1", "", `{"processor_ids":`+body+`}`)
		if status != want {
			t.Errorf("%s: got %d %s, want %d", body, status, text, want)
		}
		r.nextLine(t)
	}
}

func TestTokenFlag(t *testing.T) {
	t.Parallel()
	r := start(t, "-token", "it's secret")
	if got, want := exported(t, r.banner, "STREAM_TOKEN"), `'it'\''s secret'`; got != want {
		t.Errorf("exported %s, want %s", got, want)
	}
	for token, want := range map[string]int{"": 401, "other": 401, "it's secret": 200} {
		if status, _ := send(t, "PATCH", r.baseURL+"/v2/streams/cam-1", token, `{"processor_ids":[]}`); status != want {
			t.Errorf("token %q: got %d, want %d", token, status, want)
		}
		if line := r.nextLine(t); strings.Contains(line, "secret") {
			t.Errorf("the token is printed: %s", line)
		}
	}
}

func TestSwitches(t *testing.T) {
	t.Parallel()
	t.Run("off", func(t *testing.T) {
		t.Parallel()
		r := start(t)
		if status, _ := send(t, "GET", r.baseURL+"/v2/streams/cam-1", "", ""); status != 405 {
			t.Errorf("GET: got %d, want 405", status)
		}
		r.nextLine(t)
	})
	t.Run("on", func(t *testing.T) {
		t.Parallel()
		r := start(t, "-get", "-merge", "-refuse-empty")
		for _, step := range []struct {
			method, body string
			status       int
			contains     string
		}{
			{"PATCH", `{"processor_ids":["p1"]}`, 200, `"processor_ids":["p1"]`},
			{"PATCH", `{"processor_ids":["p2"]}`, 200, `"processor_ids":["p1","p2"]`},
			{"PATCH", `{"processor_ids":[]}`, 400, `"message"`},
			{"GET", "", 200, `"processor_ids":["p1","p2"]`},
		} {
			status, body := send(t, step.method, r.baseURL+"/v2/streams/cam-1", "", step.body)
			if status != step.status || !strings.Contains(body, step.contains) {
				t.Errorf("%s %s: got %d %s, want %d with %s", step.method, step.body, status, body, step.status, step.contains)
			}
			r.nextLine(t)
		}
	})
}

func TestStopEndsTheWaitForLatency(t *testing.T) {
	t.Parallel()
	r := start(t, "-latency", "1h")
	body := &sentBody{Reader: strings.NewReader(`{"processor_ids":["p1"]}`), sent: make(chan struct{})}
	req, err := http.NewRequestWithContext(t.Context(), "PATCH", r.baseURL+"/v2/streams/cam-1", body)
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() {
		<-body.sent
		stopped <- r.stop()
	}()
	resp, err := (&http.Transport{}).RoundTrip(req)
	if err == nil {
		resp.Body.Close()
		t.Errorf("got the response %s, want a closed connection", resp.Status)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stopping: %v", err)
	}
}

// sentBody closes the channel when the transport has read the whole request body.
type sentBody struct {
	io.Reader
	sent chan struct{}
}

func (b *sentBody) Close() error {
	close(b.sent)
	return nil
}

func TestRefusesArguments(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"every interface":     {[]string{"-listen", ":8080"}, "not a loopback address"},
		"unspecified address": {[]string{"-listen", "0.0.0.0:8080"}, "not a loopback address"},
		"unspecified IPv6":    {[]string{"-listen", "[::]:8080"}, "not a loopback address"},
		"another machine":     {[]string{"-listen", "192.0.2.1:8080"}, "not a loopback address"},
		"a name":              {[]string{"-listen", "example.com:8080"}, "not a loopback address"},
		"no port":             {[]string{"-listen", "127.0.0.1"}, "missing port"},
		"an argument":         {[]string{"cam-1"}, `unexpected argument "cam-1"`},
		"empty stream id":     {[]string{"-stream", ""}, "must not be empty"},
		"no stream id":        {[]string{"-stream", "=p1"}, "must not be empty"},
		"empty processor id":  {[]string{"-stream", "cam-1=p1,,p2"}, "must not be empty"},
		"space in the list":   {[]string{"-stream", "cam-1=p1, p2"}, "white space"},
		"empty known id":      {[]string{"-known", "p1,"}, "must not be empty"},
		"no known id":         {[]string{"-known", ""}, "must not be empty"},
		"unknown flag":        {[]string{"-post"}, "not defined"},
		"junk latency":        {[]string{"-latency", "soon"}, "invalid value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // if run accepts the arguments, it returns at once
			err := run(ctx, test.args, io.Discard)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want an error that contains %q", err, test.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), []string{"-h"}, &out); err != nil || !strings.Contains(out.String(), "-refuse-empty") {
		t.Errorf("got error %v and:\n%s", err, out.String())
	}
}

// TestGuideHasEveryFlag compares the help with the guide for teams that test their own modules.
func TestGuideHasEveryFlag(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "templates", "guides", "testing-modules.md.tmpl"))
	if err != nil {
		t.Fatal(err)
	}
	var help strings.Builder
	if err := run(t.Context(), []string{"-help"}, &help); err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`(?m)^  (-[a-z-]+)`).FindAllStringSubmatch(help.String(), -1)
	if len(flags) == 0 {
		t.Fatalf("no flags in:\n%s", help.String())
	}
	for _, flag := range flags {
		if !regexp.MustCompile("(?m)^\\| `" + flag[1] + "[` ]").Match(guide) {
			t.Errorf("the guide has no row for %s", flag[1])
		}
	}
}

func TestAcceptsLoopbackAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "127.1.2.3:0", "localhost:0", "[::1]:0"} {
		if err := checkLoopback(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestSignalsExitWithZero runs the compiled command, because main handles signals and the exit status.
func TestSignalsExitWithZero(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "standin")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd := exec.CommandContext(t.Context(), binary)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", signal, err)
		}
	}
}
