//go:build unix

package acceptance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
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

			arrived, arrive := context.WithTimeout(t.Context(), time.Minute)
			defer arrive()
			var arrivals atomic.Int32
			service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
				if arrivals.Add(1) == 10 {
					arrive()
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
			if <-arrived.Done(); !errors.Is(arrived.Err(), context.Canceled) {
				t.Error("the requests do not arrive")
			}
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

// A Ctrl-C may leave the old object of a replacement with create_before_destroy in the state. The next apply removes the old
// object, also beside a create of another resource, and takes nothing from the resources that have its streams. It needs
// clitest for the signal.
func TestAccInterruptedReplacement(t *testing.T) {
	t.Parallel()
	for name, drift := range map[string]string{"without reads": "false", "with detect_drift": "true"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2", "cam-3", "cam-4")...)
			const first = "lifecycle { create_before_destroy = true }"
			w := newWorkspace(t, url, providerWith("detect_drift = "+drift)+resourceOf("this", "cam-1", `"p1"`, first)+
				groupOf("this", sets([]string{"cam-2", "cam-3"}, `"p1"`), first))
			w.MustApply()

			arrived := make(chan struct{}, 9)
			service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
				if r.Method != http.MethodPatch {
					return nil
				}
				arrived <- struct{}{}
				return &streamstest.Fault{ResponseDelay: time.Second}
			})
			cmd := w.Command("apply", "-auto-approve", "-replace="+this, "-replace="+group)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				select {
				case <-arrived:
				case <-time.After(time.Minute):
					t.Fatal("the requests do not arrive")
				}
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if cmd.Wait() == nil {
				t.Error("the interrupted apply succeeded")
			}
			if n := strings.Count(w.Read("terraform.tfstate"), `"deposed":`); n != 2 {
				t.Fatalf("%d old objects are left", n)
			}
			service.InjectFunc(nil)
			w.Write("other.tf", resourceOf("other", "cam-4", `"p1"`, ""))
			plan := w.Plan("-out=tfplan").Want(2, "1 to add").Text()
			w.MustApply("tfplan")
			for _, id := range []string{"cam-1", "cam-2", "cam-3", "cam-4"} {
				if stream, _ := service.Stream(id); len(stream.ProcessorIDs) == 0 && !strings.Contains(plan, fmt.Sprintf("Another Resource Has the Stream: stream %q", id)) {
					t.Errorf("stream %q has lost its processors, and the plan did not say so: %s", id, plan)
				}
			}
			w.Plan().Want(0)
		})
	}
}
