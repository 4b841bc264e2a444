package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
)

// measurement is what one task took in one round.
type measurement struct {
	contender, task string
	wall            time.Duration
	cpu             time.Duration // of the CLI and all processes that it started
	state           float64       // bytes for each stream
}

// conditions are what the plot says of its measurements.
func conditions(rounds int) []string {
	return []string{
		fmt.Sprintf("%d processor cores, remote state", runtime.NumCPU()),
		"max_concurrent_requests = 64",
		fmt.Sprintf("The service waits %d ms before each response.", latency.Milliseconds()),
		fmt.Sprintf("Medians of %d rounds, %s", rounds, time.Now().Format(time.DateOnly)),
	}
}

// results has the measurements of all rounds in their order.
type results []measurement

// of returns one value of a row for each round.
func (r results) of(contender, task string, value func(measurement) float64) []float64 {
	var values []float64
	for _, m := range r {
		if m.contender == contender && m.task == task {
			values = append(values, value(m))
		}
	}
	return values
}

func wall(m measurement) float64  { return m.wall.Seconds() }
func cpu(m measurement) float64   { return m.cpu.Seconds() }
func state(m measurement) float64 { return m.state }

func printHeader(ctx context.Context, sandbox *cli.Sandbox, rounds int, plot string) error {
	var version strings.Builder
	if err := sandbox.Run(ctx, "", &version, "version"); err != nil {
		return err
	}
	line, _, _ := strings.Cut(version.String(), "\n")
	fmt.Printf("# Measurements\n\nOf %s: %s on %s, %s/%s with %d processor cores.\n",
		time.Now().Format(time.DateOnly), line, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	fmt.Printf("Remote state, `-parallelism=10` unless the row says otherwise, `max_concurrent_requests = 64`, "+
		"and a service that waits %d ms before each response.\n", latency.Milliseconds())
	fmt.Printf("Each value is the median of %d rounds, with the lowest and the highest value in parentheses.\n\n", rounds)
	fmt.Println("- **elapsed s**: seconds from the start of the command to its end.")
	fmt.Println("- **ratio**: elapsed time in relation to that of the Go loop in the same round. " +
		"The loop sends the same requests and does nothing else. Seconds depend on the machine; compare ratios.")
	fmt.Println("- **CPU s**: CPU time of the CLI and all processes that it started. On several cores, it exceeds the elapsed time.")
	fmt.Println("- **state B/stream**: bytes of the state for each stream.")
	if plot != "" {
		fmt.Printf("\n![%s](%s)\n", plotTitle, filepath.Base(plot))
	}
	return nil
}

func printTable(streams int, measured results) {
	fmt.Printf("\n## %s streams\n\n| task | form | elapsed s | ratio | CPU s | state B/stream |\n|---|---|---|---|---|---|\n",
		thousands(streams))
	for _, task := range tasks {
		lowest := measured.of(loop, task, wall)
		for _, c := range contenders {
			seconds := measured.of(c.name, task, wall)
			switch {
			case seconds == nil, c.name == loop && task == noop: // nothing to send
				continue
			case c.name == loop:
				fmt.Printf("| %s | %s | %s | 1.00 | – | – |\n", task, c.name, spread(seconds))
				continue
			}
			ratio := "–"
			if task != noop && c.name != data {
				ratios := slices.Clone(seconds)
				for i := range ratios {
					ratios[i] /= lowest[i]
				}
				ratio = spread(ratios)
			}
			fmt.Printf("| %s | %s | %s | %s | %s | %.0f |\n", task, c.name,
				spread(seconds), ratio, spread(measured.of(c.name, task, cpu)), median(measured.of(c.name, task, state)))
		}
	}
}

// spread returns the median, the lowest and the highest value.
func spread(values []float64) string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", median(values), slices.Min(values), slices.Max(values))
}

// median returns the middle value, or the higher one of the two in the middle.
func median(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }

// thousands returns a number below a million with a comma.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
