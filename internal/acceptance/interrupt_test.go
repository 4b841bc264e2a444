//go:build unix

package acceptance

import (
	"bytes"
	"fmt"
	"net/http"
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

// A CLI is ended in each way in which shells, CI systems and users do that, with ten requests under way. Afterwards, state
// and service agree, or an error names the stream and the next apply sends its set again. The state
// of a CLI that was killed knows nothing of the requests: a change of triggers sends all sets again. No process stays behind.
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
			w := newWorkspace(t, url, "")
			configure := func(set, trigger string) {
				w.Configure(resourceForEach(ids, set, fmt.Sprintf("triggers = { repair = %q }", trigger)))
			}
			configure(`"p1"`, "0")
			w.MustApply()

			arrived := make(chan struct{})
			var arrivals atomic.Int32
			service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
				if arrivals.Add(1) == 10 {
					close(arrived)
				}
				return &streamstest.Fault{ResponseDelay: time.Second} // the service has applied the update
			})
			configure(`"p2"`, "0")
			cmd := w.Command("apply", "-auto-approve")
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
			if strings.Contains(output.String(), "Plugin did not respond") || (err == nil) != (end == nil) {
				t.Errorf("%v: %s", err, &output)
			}
			service.InjectFunc(nil)
			trigger := "0"
			if strings.HasPrefix(name, "SIGKILL") || strings.HasPrefix(name, "SIGHUP") {
				trigger = "1" // the CLI wrote no state
			}
			configure(`"p1"`, trigger)
			w.MustApply()
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
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-again.C {
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

// Ctrl-C ends requests without a response and waits before a retry, and starts no more requests. The errors say that the
// outcome is unknown.
func TestAccInterrupt(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(50)
	const atOnce = 8
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(append(ids, "waits")...)...)
	arrived, arrivals := make(chan struct{}), 0
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if arrivals++; arrivals == atOnce+1 { // the others, and the one that waits
			close(arrived)
		}
		if r.StreamID == "waits" {
			return &streamstest.Fault{Status: 503, Header: http.Header{"Retry-After": {"280"}}}
		}
		return &streamstest.Fault{Delay: time.Hour}
	})
	w := newWorkspace(t, url, providerWith(fmt.Sprintf("max_concurrent_requests = %d\n  request_timeout = \"1h\"", atOnce))+
		groupOf("this", sets(ids[5:], `"p1"`), "")+resourceForEach(ids[:5], `"p1"`, "")+
		providerWith(`alias = "other"`)+resourceOf("waits", "waits", `"p1"`, "provider = stream.other"))
	w.RunInterrupted(arrived, "apply", "-auto-approve").Want(1,
		"Error: Operation Interrupted", "The operation was interrupted.", "Apply again when you are ready.", unknown)
	if n := len(service.DrainRequests()); n != atOnce+1 {
		t.Errorf("%d requests, want %d", n, atOnce+1)
	}
	w.WantEmptyState()
	service.InjectFunc(nil)
	w.MustApply()
	w.WantNoChanges()
}
