package main

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// latency is how long the service waits before each response.
const latency = 20 * time.Millisecond

// The tasks, in the order in which a round runs them.
const (
	create = "create"
	noop   = "plan, no change"
	one    = "one change" // of the first stream
	update = "update"     // of the other streams
)

var tasks = []string{create, noop, one, update}

//go:embed main.tf
var configuration embed.FS

// workspace is a contender with a folder, a service and a state of its own.
type workspace struct {
	contender
	streams int
	dir     string
	sandbox cli.Sandbox
	service *streamstest.Service
	url     string                 // of the service
	state   atomic.Pointer[[]byte] // nil before the first apply
	close   func()                 // stops the servers
}

// newWorkspace writes the configuration for a number of streams and runs init.
func newWorkspace(ctx context.Context, dir string, sandbox cli.Sandbox, c contender, streams int) (*workspace, error) {
	w := &workspace{contender: c, streams: streams, sandbox: sandbox}
	w.service = streamstest.New(streamstest.Options{Latency: latency})
	for i := range streams {
		w.service.Seed(streamstest.Stream{ID: "stream-" + strconv.Itoa(i)})
	}
	service, state := httptest.NewServer(w.service), httptest.NewServer(http.HandlerFunc(w.serveState))
	w.url = service.URL
	w.close = func() {
		service.Close()
		state.Close()
	}
	if c.name == loop {
		return w, nil
	}
	var err error
	if w.dir, err = os.MkdirTemp(dir, "workspace-"); err != nil {
		return nil, err
	}
	if err := os.CopyFS(w.dir, configuration); err != nil {
		return nil, err
	}
	w.sandbox.Env = maps.Clone(sandbox.Env)
	w.sandbox.Env["STREAM_BASE_URL"] = service.URL
	w.sandbox.Env["TF_HTTP_ADDRESS"] = state.URL
	w.sandbox.Env["TF_VAR_form"] = c.form
	w.sandbox.Env["TF_VAR_size"] = strconv.Itoa(cmp.Or(c.size, streams))
	w.sandbox.Env["TF_VAR_streams"] = strconv.Itoa(streams)
	_, err = w.runCLI(ctx, "init")
	return w, err
}

// serveState is the remote end of Terraform's "http" backend.
func (w *workspace) serveState(resp http.ResponseWriter, req *http.Request) {
	state := w.state.Load()
	switch {
	case req.Method == http.MethodPost:
		content, _ := io.ReadAll(req.Body) // the CLI reports an incomplete state as such
		w.state.Store(&content)
	case state == nil:
		resp.WriteHeader(http.StatusNoContent)
	default:
		_, _ = resp.Write(*state) // fails only if the CLI has gone
	}
}

// runCLI returns the CPU time of the CLI and all processes that it started. The error has the CLI's output.
func (w *workspace) runCLI(ctx context.Context, args ...string) (time.Duration, error) {
	cmd := w.sandbox.Command(ctx, w.dir, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s: %s: %w\n%s", w.name, strings.Join(args, " "), err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// measure runs one task. It returns an error unless the service received exactly the requests that
// the task has to send.
func (w *workspace) measure(ctx context.Context, task string) (measurement, error) {
	args := []string{"apply", "-auto-approve"}
	changed, requests := 0, 0
	switch task {
	case create:
		w.state.Store(nil)
		requests = w.streams
	case noop:
		args = []string{"plan", "-detailed-exitcode"} // fails if there is a change
	case one:
		changed, requests = 1, 1
	case update:
		changed, requests = w.streams, w.streams-1
	}
	w.sandbox.Env["TF_VAR_changed"] = strconv.Itoa(changed)
	w.service.ForgetRequests()
	m, start := measurement{contender: w.name, task: task}, time.Now()
	var err error
	if w.name == loop {
		err = sendAll(ctx, w.url, requests)
	} else {
		m.cpu, err = w.runCLI(ctx, append(args, "-parallelism="+strconv.Itoa(w.parallelism))...)
	}
	m.wall = time.Since(start)
	if state := w.state.Load(); state != nil {
		m.state = float64(len(*state)) / float64(w.streams)
	}
	if got := len(w.service.Requests()); err == nil && got != requests && w.name != data {
		err = fmt.Errorf("%s: %s sent %d requests, want %d", w.name, task, got, requests)
	}
	return m, err
}

// sendAll sends a set to each of the first streams, 64 at a time. Terraform cannot be faster than that.
func sendAll(ctx context.Context, url string, streams int) error {
	body := `{"processor_ids":["` + strings.Repeat("p", 36) + `","` + strings.Repeat("q", 36) + `","` + strings.Repeat("r", 36) + `"]}`
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	defer transport.CloseIdleConnections()
	senders, ctx := errgroup.WithContext(ctx)
	senders.SetLimit(64)
	for i := range streams {
		senders.Go(func() error {
			req, err := http.NewRequestWithContext(ctx, http.MethodPatch, fmt.Sprintf("%s/v2/streams/stream-%d", url, i), strings.NewReader(body))
			if err != nil {
				return err
			}
			req.Header.Set("Content-Type", "application/json")
			resp, err := transport.RoundTrip(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				return fmt.Errorf("%s: %s", req.URL, resp.Status)
			}
			_, err = io.Copy(io.Discard, resp.Body)
			return err
		})
	}
	return senders.Wait()
}
