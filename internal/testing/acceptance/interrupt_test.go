//go:build unix

package acceptance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// endApply runs an apply, ends the CLI when n updates have arrived, and waits until no process is left. The service makes
// each update, and responds a second later, or later than that to the last one.
func endApply(
	t *testing.T, w *clitest.Workspace, s *streamstest.Service,
	n int, last time.Duration, end func(cli int) error, args ...string,
) (output string, err error) {
	t.Helper()
	arrived := make(chan struct{})
	s.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if r.Method != http.MethodPatch {
			return nil
		}
		if n--; n == 0 {
			close(arrived)
			return &streamstest.Fault{ResponseDelay: last}
		}
		return &streamstest.Fault{ResponseDelay: time.Second}
	})
	defer s.InjectFunc(nil)
	cmd := w.Command(append([]string{"apply", "-auto-approve"}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// All processes of the CLI inherit the pipe. It ends with the last of them.
	processes, inherited, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer processes.Close()
	cmd.ExtraFiles = []*os.File{inherited}
	err = cmd.Start()
	inherited.Close()
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-arrived:
	case <-time.After(time.Minute):
		t.Error("the requests do not arrive")
	}
	if err := end(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	_ = processes.SetReadDeadline(time.Now().Add(time.Minute)) // all pipes have deadlines
	if _, left := processes.Read(make([]byte, 1)); !errors.Is(left, io.EOF) {
		t.Errorf("a process was left behind: %v", left)
	}
	return out.String(), err
}

func interrupt(cli int) error { return syscall.Kill(cli, syscall.SIGINT) }

// A CLI is ended in each way in which shells, CI systems and users do that, with ten requests under way. Afterwards, state
// and service agree, or the next apply sends the sets again; after a kill, it needs a change of triggers. No process stays.
// It needs clitest for the signals.
func TestAccEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(cli int) error{
		"SIGINT to the CLI":    interrupt,
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

			last := time.Second
			if name == "SIGINT to the CLI" { // the only signal that Terraform passes on
				last = time.Hour
			}
			configure(`"p2"`, "0")
			output, err := endApply(t, w, service, 10, last, end)
			if err == nil || strings.Contains(output, "Plugin did not respond") {
				t.Errorf("%v: %s", err, output)
			}
			if last > time.Second && strings.Count(output, "Error: Operation Interrupted") != 1 {
				t.Errorf("not one error says that a request had no response: %s", output)
			}
			trigger := "0"
			if strings.HasPrefix(name, "SIGKILL") || strings.HasPrefix(name, "SIGHUP") {
				trigger = "1" // the CLI wrote no state
				if !json.Valid([]byte(w.Read("terraform.tfstate"))) {
					w.Write("terraform.tfstate", w.Read("terraform.tfstate.backup")) // or half of it
				}
			}
			configure(`"p1"`, trigger)
			w.MustApply()
			for _, id := range ids {
				service.WantAttached(t, id, "p1")
			}
		})
	}
}

// A Ctrl-C may leave the old object of a replacement with create_before_destroy in the state. The next apply removes the old
// object, also beside a create of another resource. It takes nothing from the resources that have its streams. It needs clitest
// for the signal.
func TestAccInterruptedReplacement(t *testing.T) {
	t.Parallel()
	for name, drift := range map[string]string{"without reads": "false", "with detect_drift": "true"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ids := fleetIDs(4)
			service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams(ids...)...)
			const first = "lifecycle { create_before_destroy = true }"
			w := newWorkspace(t, url, providerWith("detect_drift = "+drift)+resourceOf("this", "cam-1", `"p1"`, first)+
				groupOf(sets(ids[1:3], `"p1"`), first))
			w.MustApply()

			if _, err := endApply(t, w, service, 3, time.Second, interrupt, "-replace="+this, "-replace="+group); err == nil {
				t.Error("the interrupted apply succeeded")
			}
			if n := strings.Count(w.Read("terraform.tfstate"), `"deposed":`); n != 2 {
				t.Fatalf("%d old objects are left", n)
			}
			w.Write("other.tf", resourceOf("other", "cam-4", `"p1"`, ""))
			w.Plan("-out=tfplan").Want(2, "1 to add")
			service.ForgetRequests()
			w.MustApply("tfplan")
			for _, r := range service.Requests() {
				if r.Method == http.MethodPatch && strings.Contains(r.Body, "[]") {
					t.Errorf("an old object detaches what its successor has: %s", r)
				}
			}
			if n := strings.Count(w.Read("terraform.tfstate"), `"deposed":`); n != 0 {
				t.Errorf("%d old objects are left", n)
			}
			for _, id := range ids {
				service.WantAttached(t, id, "p1")
			}
		})
	}
}
