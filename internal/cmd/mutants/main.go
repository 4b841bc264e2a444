// Command mutants shows that the tests notice defects: it changes one place of the provider at a time, runs
// the random histories, and expects them to fail. The changes are in mutants.go; no file is written.
//
//	go run ./internal/cmd/mutants [-run REGEXP] [-checks N]
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const histories = "Histories"

// mutant is one defect.
type mutant struct {
	name     string
	file     string
	old, now string // old occurs once in file
	test     string // the tests that catch the defect, if it is out of reach for the histories
}

func main() {
	run := flag.String("run", "", "only the mutants whose names match this `regexp`")
	checks := flag.Int("checks", 150, "`number` of histories in a batch")
	flag.Parse()
	selected, err := regexp.Compile(*run)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	survivors := 0
	for _, m := range mutants {
		if !selected.MatchString(m.name) || ctx.Err() != nil {
			continue
		}
		start := time.Now()
		result, err := m.check(ctx, *checks)
		if err != nil {
			result = "ERROR: " + err.Error()
		}
		if result != caught {
			survivors++
		}
		fmt.Printf("%-9s %-60s %s, %.0f s\n", result, m.name, m.tests(), time.Since(start).Seconds())
	}
	if survivors > 0 {
		log.Fatalf("%d mutants were not caught", survivors)
	}
}

const (
	caught   = "caught"
	survived = "SURVIVED"
)

func (m mutant) tests() string {
	if m.test == "" {
		return histories
	}
	return m.test
}

// check runs the tests of one mutant. The go command replaces the file by an overlay.
func (m mutant) check(ctx context.Context, checks int) (string, error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		return "", fmt.Errorf("%s has %d places like %q, want 1", m.file, n, m.old)
	}
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	path, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	mutated, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutated}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(mutated, []byte(strings.Replace(string(source), m.old, m.now, 1)), 0o600); err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, replaced, 0o600); err != nil {
		return "", err
	}
	pkg := "./internal/coretest"
	if m.test != "" {
		pkg = "./internal/provider"
	}
	if out, err := exec.CommandContext(ctx, "go", "vet", "-overlay", overlay, pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("the mutant does not compile: %s", out)
	}
	args := []string{"test", "-overlay", overlay, "-run", m.tests(), pkg, "-failfast"}
	if m.test == "" {
		args = append(args, fmt.Sprintf("-rapid.checks=%d", checks), "-rapid.nofailfile", "-rapid.shrinktime=1s")
	}
	switch out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); {
	case err == nil:
		return survived, nil
	case strings.Contains(string(out), "--- FAIL"), strings.Contains(string(out), "panic:"):
		return caught, nil
	default:
		return "", fmt.Errorf("%w: %s", err, out)
	}
}
