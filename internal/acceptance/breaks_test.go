//go:build unix

package acceptance

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A CLI is ended in each way in which shells, CI systems and users do that, with ten requests under way. State and
// service agree, or an error names the stream and the next apply sends its set again. No process stays behind.
func TestAccEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(cli int) error{
		"normally":             nil,
		"SIGINT to the CLI":    func(cli int) error { return syscall.Kill(cli, syscall.SIGINT) },
		"SIGTERM to the CLI":   func(cli int) error { return syscall.Kill(cli, syscall.SIGTERM) },
		"SIGTERM to the group": func(cli int) error { return syscall.Kill(-cli, syscall.SIGTERM) },
		"SIGHUP to the group":  func(cli int) error { return syscall.Kill(-cli, syscall.SIGHUP) },
		"SIGKILL to the CLI":   func(cli int) error { return syscall.Kill(cli, syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ids := fleetIDs(20)
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
			w := newWorkspace(t, url, resourceForEach(ids, `"p1"`))
			w.mustApply()

			arrived := make(chan struct{})
			var arrivals atomic.Int32
			service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
				if arrivals.Add(1) == 10 {
					close(arrived)
				}
				return &streamstest.Fault{ResponseDelay: time.Second} // the service has applied the update
			})
			w.writeConfig(resourceForEach(ids, `"p2"`))
			cmd := w.command("apply", "-auto-approve", "-input=false", "-no-color")
			var output bytes.Buffer
			cmd.Stdout, cmd.Stderr = &output, &output
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-arrived
			if end != nil {
				if err := end(cmd.Process.Pid); err != nil {
					t.Fatal(err)
				}
			}
			err := cmd.Wait()
			waitForEndOfGroup(t, cmd)
			if dead := strings.HasPrefix(name, "SIGKILL") || strings.HasPrefix(name, "SIGHUP"); dead {
				return // the CLI wrote no state
			}
			if strings.Contains(output.String(), "Plugin did not respond") || (err == nil) != (end == nil) {
				t.Errorf("%v: %s", err, &output)
			}
			service.InjectFunc(nil)
			w.writeConfig(resourceForEach(ids, `"p1"`))
			w.mustApply()
			for _, id := range ids {
				service.WantAttached(t, id, "p1")
			}
		})
	}
}

// waitForEndOfGroup waits until no process of a program's group runs any more. Processes that nobody waited for do not
// run.
func waitForEndOfGroup(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-again.C {
		running := ""
		stats, err := filepath.Glob("/proc/[0-9]*/stat")
		if err != nil || len(stats) == 0 {
			t.Fatalf("no processes: %v", err)
		}
		for _, file := range stats {
			stat, _ := os.ReadFile(file) // the process may have ended
			_, fields, _ := strings.Cut(string(stat), ") ")
			var state string
			var parent, group int
			if _, err := fmt.Sscan(fields, &state, &parent, &group); err == nil && group == cmd.Process.Pid && state != "Z" {
				running = string(stat)
			}
		}
		if running == "" {
			return
		}
	}
	t.Error("a process was left behind")
}

// A token in a file that expires in the middle of a run costs one wait for another token, not one for each stream.
func TestAccTokenFileExpires(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(60)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	var requests atomic.Int32
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
		if requests.Add(1) <= 15 {
			return nil
		}
		return &streamstest.Fault{Status: 401, Message: "expired"}
	})
	w := newWorkspace(t, url, providerWith(`token_file = "token"`)+resourceForEach(ids, `"p1"`))
	w.writeFile("token", "t0ken-one")
	start := time.Now()
	r := w.apply()
	wantRefusedOnce(t, r, 45, int(requests.Load())-15)
	t.Logf("%d requests with the expired token, after %s", requests.Load()-15, time.Since(start).Round(time.Second))

	service.InjectFunc(nil)
	w.mustApply()
}

// A wrong password is not sent for each stream: the first errors are complete, and the others are short.
func TestAccWrongPassword(t *testing.T) {
	t.Parallel()
	const count = 100
	ids := fleetIDs(count)
	service, url := streamstest.Start(t, streamstest.Options{Authorize: streamstest.Basic("me", "right")}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, resourceForEach(ids, `"p1"`))
	w.setenvs("STREAM_USERNAME=me", "STREAM_PASSWORD=wrong-one")
	wantRefusedOnce(t, w.apply(), count, len(service.DrainRequests()))
}

// wantRefusedOnce checks the errors of streams whose credential was refused: no more requests than Terraform had in
// flight when the limit of three streams was reached.
func wantRefusedOnce(t *testing.T, r result, streams, requests int) {
	t.Helper()
	wantResult(t, r, 1, "Error: Authentication Error", "Nothing was sent, because the service has refused the same credentials for other streams:")
	if requests > 25 {
		t.Errorf("%d requests with a refused credential", requests)
	}
	errors, short := strings.Count(r.text(), "Error: Authentication Error"), strings.Count(r.text(), "refused the same credentials")
	if errors != streams || errors-short > 25 {
		t.Errorf("%d errors, of which %d are short: %s", errors, short, r)
	}
}

// When each stream gets 503, one operation uses up its attempts, and the others make one each.
func TestAccOutage(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(100)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
		return &streamstest.Fault{Status: 503, Message: "maintenance", Header: map[string][]string{"X-Request-Id": {"req-4711"}}}
	})
	w := newWorkspace(t, url, providerWith(`retry = { min_backoff = "100ms", max_backoff = "100ms" }`)+resourceForEach(ids, `"p1"`))
	w.setenv("TF_LOG_PROVIDER", "TRACE")
	w.setenv("TF_LOG_PATH", filepath.Join(w.dir, "log"))
	r := w.apply()
	wantContains(t, w.readFile("log"), "X-Request-Id: req-4711")
	wantResult(t, r, 1, "503 Service Unavailable (5 attempts)", "Request id: req-4711", "The service said: maintenance",
		"The request was not retried, because another operation has used up its attempts and nothing has worked since.")
	if n := len(service.DrainRequests()); n > 10*5+90 {
		t.Errorf("%d requests", n)
	}
	service.InjectFunc(nil)
	w.mustApply()
}
