//go:build unix

package acceptance

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
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
// and service agree, or the next apply sends the sets again; after a kill, it needs a change of triggers. No process stays.
// It needs clitest for the signals.
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
			if name == "SIGHUP to the group" && signal.Ignored(syscall.SIGHUP) {
				t.Skip("SIGHUP is ignored, as under nohup, and a CLI inherits that")
			}
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
					if name == "SIGINT to the CLI" { // the only signal that Terraform passes on
						return &streamstest.Fault{Delay: time.Hour}
					}
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
			if name == "SIGINT to the CLI" && strings.Count(output.String(), "Error: Operation Interrupted") != 1 {
				t.Errorf("not one error says that a request had no response: %s", &output)
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
