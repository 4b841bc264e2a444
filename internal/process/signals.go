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
		defer os.Exit(1)
		// Windows can wait for the parent. Unix cannot wait for a process that is not a child, but gives its children another parent.
		if process, err := os.FindProcess(terraform); err == nil {
			if _, err := process.Wait(); err == nil {
				return
			}
		}
		for os.Getppid() == terraform {
			<-time.After(time.Second)
		}
	}()
}
