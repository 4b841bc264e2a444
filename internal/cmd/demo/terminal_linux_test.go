package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAccTerminal runs the demo on a terminal of 80 columns.
func TestAccTerminal(t *testing.T) {
	t.Parallel()
	demo := demoCommand(t)
	control, terminal := openTerminal(t)
	demo.Stdin, demo.Stdout, demo.Stderr = terminal, terminal, terminal
	demo.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=")
	demo.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	shown, _ := io.ReadAll(control) // ends with EIO when the demo has closed the terminal
	if err := demo.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
	if !strings.Contains(string(shown), "\x1b[32m✓") {
		t.Errorf("a terminal has no colors:\n%s", shown)
	}
	checkOutput(t, escape.ReplaceAllString(string(shown), ""))
}

var escape = regexp.MustCompile("\x1b\\[[0-9;?]*[a-zA-Z]")

// openTerminal returns both ends of a pseudo terminal with 80 columns.
func openTerminal(t *testing.T) (control, terminal *os.File) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { control.Close() })
	fd := int(control.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return control, terminal
}
