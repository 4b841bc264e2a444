package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// progress shows how far a compilation is. It is an [io.Writer] for the output of go build -v.
type progress struct {
	what  string
	start time.Time

	mu         sync.Mutex
	line       strings.Builder // the last line, without its end
	total      int             // packages; those in the build cache are not compiled
	compiled   int
	downloaded int
	messages   strings.Builder
}

// compile calls build, which writes to the progress, and shows the progress. The first time, compiling takes minutes.
func compile(ctx context.Context, what, pkg string, build func(*progress) error) error {
	p := &progress{what: what, start: time.Now()}
	interval := time.Second
	if !terminal {
		interval = 20 * time.Second
		fmt.Printf("Compiling %s.\n", what)
	}
	ctx, done := context.WithCancel(ctx)
	var shown sync.WaitGroup
	shown.Go(func() { p.showEvery(ctx, interval) })

	p.countPackages(ctx, pkg)
	err := build(p)
	done()
	shown.Wait()
	if terminal {
		fmt.Print("\r\x1b[K")
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, p.messages.String())
	}
	fmt.Printf("Compiled %s in %.0f s.\n", what, time.Since(p.start).Seconds())
	return nil
}

// countPackages fails without consequences: the build reports what is wrong.
func (p *progress) countPackages(ctx context.Context, pkg string) {
	list := exec.CommandContext(ctx, "go", "list", "-deps", pkg)
	list.Stderr = p // downloads
	out, err := list.Output()
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total = strings.Count(string(out), "\n")
}

func (p *progress) showEvery(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if terminal {
			fmt.Print("\r\x1b[K" + p.String())
		} else {
			fmt.Println(p)
		}
	}
}

// String returns one line of less than 80 characters.
func (p *progress) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := fmt.Sprintf("Compiling %s: ", p.what)
	if p.downloaded > 0 {
		text += fmt.Sprintf("%d downloads, ", p.downloaded)
	}
	if p.total > 0 {
		text += fmt.Sprintf("%d of at most %d packages, ", p.compiled, p.total)
	}
	return text + fmt.Sprintf("%.0f s", time.Since(p.start).Seconds())
}

func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range text {
		if c != '\n' {
			p.line.WriteByte(c)
			continue
		}
		switch line := p.line.String(); {
		case strings.HasPrefix(line, "go: downloading "):
			p.downloaded++
		case strings.ContainsAny(line, " \t"):
			p.messages.WriteString(line + "\n")
		default: // the import path of a compiled package
			p.compiled++
		}
		p.line.Reset()
	}
	return len(text), nil
}
