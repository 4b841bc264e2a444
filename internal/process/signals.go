// Package process prepares the provider's process: its memory, its logs and its signals.
package process

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// EndWithTerraform makes the process ignore SIGTERM and SIGHUP while Terraform, its parent, is there, and end within
// a second after Terraform. Shells and CI systems signal the whole process group: Terraform then stops gracefully,
// and needs the results of the requests under way. Call it before serving, but not for a debugger, which is no child.
func EndWithTerraform() {
	terraform := os.Getppid()
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		awaitEnd(terraform)
		os.Exit(1)
	}()
}

// awaitEnd waits for the end of the parent process. Windows can wait for it. Unix cannot wait for a process that is not
// a child, but gives its children another parent.
func awaitEnd(parent int) {
	if process, err := os.FindProcess(parent); err == nil {
		if _, err := process.Wait(); err == nil {
			return
		}
	}
	for range time.Tick(time.Second) {
		if os.Getppid() != parent {
			return
		}
	}
}
