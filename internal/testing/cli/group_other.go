//go:build !unix

package cli

import "os/exec"

// Elsewhere a process cannot be interrupted from outside: it is killed.
func ownGroup(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}
