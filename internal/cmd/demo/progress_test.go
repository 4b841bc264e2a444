package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	p := &progress{what: "the provider", start: time.Now(), total: 3}
	// The go command ends a write anywhere.
	for _, text := range []string{"go: downloading example.com/a v1.0.0\nexample", ".com/a\nexample.com/b\n# example.com/b\n", "b.go:1:1: broken\n"} {
		if n, err := p.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("Write returned %d, %v", n, err)
		}
	}
	if got, want := p.String(), "Compiling the provider: 1 downloads, 2 of at most 3 packages, 0 s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := p.messages.String(), "# example.com/b\nb.go:1:1: broken\n"; got != want {
		t.Errorf("messages %q, want %q", got, want)
	}
	p.downloaded, p.compiled, p.total, p.start = 100, 1000, 1000, time.Now().Add(-1000*time.Second)
	if n := utf8.RuneCountInString(p.String()); n >= columns {
		t.Errorf("%d characters: %s", n, p)
	}
}

func TestCompileReportsMessages(t *testing.T) {
	t.Parallel()
	err := compile(t.Context(), "nothing", "fmt", func(p *progress) error {
		fmt.Fprintln(p, "b.go:1:1: broken")
		return errors.New("exit status 1")
	})
	if err == nil || !strings.Contains(err.Error(), "b.go:1:1: broken") {
		t.Errorf("got %v, want the message of the compiler", err)
	}
}

func TestCountPackages(t *testing.T) {
	t.Parallel()
	p := &progress{}
	p.countPackages(t.Context(), "errors")
	if p.total < 2 {
		t.Errorf("errors has %d packages, itself included", p.total)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p = &progress{}
	p.countPackages(ended, "errors")
	if p.total != 0 {
		t.Errorf("counted %d packages although it was interrupted", p.total)
	}
}

func TestWrapRequest(t *testing.T) {
	t.Parallel()
	long := `{"processor_ids":["` + strings.Repeat("p", 50) + `"]}`
	for request, want := range map[string]string{
		`GET /v2/streams/gate → 200`:                `  GET /v2/streams/gate → 200`,
		`PATCH /v2/streams/gate {"a":1} → 200`:      `  PATCH /v2/streams/gate {"a":1} → 200`,
		`PATCH /v2/streams/gate ` + long + ` → 200`: "  PATCH /v2/streams/gate → 200\n    " + long,
	} {
		if got := wrapRequest(request); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
