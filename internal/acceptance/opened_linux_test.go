package acceptance

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// countOpens counts how often a file is opened from now on, also after it was replaced. The returned function returns
// the count so far.
func countOpens(t *testing.T, path string) (count func() int) {
	t.Helper()
	descriptor, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(descriptor) })
	if _, err := syscall.InotifyAddWatch(descriptor, filepath.Dir(path), syscall.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	opens := 0
	return func() int {
		events := make([]byte, 1<<20)
		n, err := syscall.Read(descriptor, events)
		if err != nil && err != syscall.EAGAIN {
			t.Fatal(os.NewSyscallError("read", err))
		}
		for events = events[:max(0, n)]; len(events) > 0; {
			end := syscall.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
			name, _, _ := bytes.Cut(events[syscall.SizeofInotifyEvent:end], []byte{0})
			if string(name) == filepath.Base(path) {
				opens++
			}
			events = events[end:]
		}
		return opens
	}
}
