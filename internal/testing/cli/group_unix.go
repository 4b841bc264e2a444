//go:build unix

package cli

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup takes a program out of the terminal's process group, where Ctrl-C would reach it as well: two
// interrupts make a CLI give up at once and leave its plugins running.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
}

func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // as a rule, there is nobody left
	}
}
