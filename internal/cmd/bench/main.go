//go:build linux

// Command bench measures what the provider costs with a real CLI, beside yardsticks in the same call:
// terraform_data, which does no work at all; terraform_data with curl in a local-exec, which is what
// people do without a provider; and a provider that does nothing.
//
// Seconds depend on the machine, so the ratios are the result. It prints Markdown.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if isShim() {
		os.Exit(shim())
	}
	counts := flag.String("streams", "1,100,1000", "numbers of streams")
	latencies := flag.String("latency", "0s,20ms", "latencies of the service")
	parallelisms := flag.String("parallelism", "10,64", "values of the CLI's -parallelism")
	runs := flag.Int("runs", 3, "runs of each; the median counts")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	l, err := newLab(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(l.dir)

	fmt.Printf("# Measurements\n\n%s on %s, %s/%s with %d processors. Medians of %d runs.\n",
		l.version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), *runs)
	fmt.Print("\n`make bench` makes this page. Compare rows, not seconds: the ratios are to `terraform_data`" +
		" (no work at all) and to `terraform_data` with `curl` in a `local-exec`, in the same call." +
		" \"Processor\" is the CLI with its children; \"provider\" is the provider alone.\n")
	l.startup(*runs)
	for _, n := range parsed(*counts, strconv.Atoi) {
		for _, latency := range parsed(*latencies, time.ParseDuration) {
			for _, parallelism := range parsed(*parallelisms, strconv.Atoi) {
				if n == 1 && parallelism > 10 {
					continue // one stream knows no parallelism
				}
				l.compare(setting{n, latency, parallelism}, *runs)
			}
		}
	}
}

// parsed reads a flag with commas.
func parsed[T any](text string, parse func(string) (T, error)) []T {
	var values []T
	for field := range strings.SplitSeq(text, ",") {
		v, err := parse(field)
		if err != nil {
			log.Fatal(err)
		}
		values = append(values, v)
	}
	return values
}

// setting is what all contenders of one table have in common.
type setting struct {
	streams     int
	latency     time.Duration
	parallelism int
}

// startup compares how long two providers take to be ready to talk to the CLI.
func (l *lab) startup(runs int) {
	taken := map[string][]time.Duration{}
	names := []string{stream, nothing}
	for range 30 * runs { // they are short
		for _, name := range names {
			taken[name] = append(taken[name], must(l.handshake(l.providers[name])))
		}
	}
	fmt.Print("\n## Start-up to handshake\n\n| provider | ms |\n|---|---|\n")
	for _, name := range names {
		fmt.Printf("| %s | %.1f |\n", name, median(taken[name]).Seconds()*1000)
	}
}

// compare runs all contenders in turn, several times, and prints a table of the medians.
func (l *lab) compare(s setting, runs int) {
	taken := map[string]map[string][]sample{} // by operation and contender
	for _, operation := range operations {
		taken[operation.name] = map[string][]sample{}
	}
	for i := range runs {
		for _, c := range contenders {
			log.Printf("%d streams, latency %s, parallelism %d: run %d of %s", s.streams, s.latency, s.parallelism, i+1, c.name)
			for operation, sample := range must(l.run(c, s)) {
				taken[operation][c.name] = append(taken[operation][c.name], sample)
			}
		}
	}

	fmt.Printf("\n## %d streams, latency %s, parallelism %d\n", s.streams, s.latency, s.parallelism)
	fmt.Print("\n| | | s | × data | × curl | processor s | provider ms/stream | peak MB | requests | connections | state B/stream |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, operation := range operations {
		of := func(name string, value func(sample) float64) float64 {
			var values []float64
			for _, s := range taken[operation.name][name] {
				values = append(values, value(s))
			}
			return median(values)
		}
		wall := func(s sample) float64 { return s.wall.Seconds() }
		for _, c := range contenders {
			if c.shimmed {
				continue
			}
			provider := "–"
			if c.name == stream {
				perStream := of(shimmed, func(s sample) float64 { return s.provider.Seconds() * 1000 / float64(s.streams) })
				provider = fmt.Sprintf("%.2f", perStream)
			}
			seconds := of(c.name, wall)
			fmt.Printf("| %s | %s | %.2f | %.2f | %.2f | %.2f | %s | %.0f | %.0f | %.0f | %.0f |\n",
				operation.name, c.name, seconds, seconds/of(data, wall), seconds/of(curl, wall),
				of(c.name, func(s sample) float64 { return s.processor.Seconds() }), provider,
				of(c.name, func(s sample) float64 { return float64(s.memory) / 1e6 }),
				of(c.name, func(s sample) float64 { return float64(s.requests) }),
				of(c.name, func(s sample) float64 { return float64(s.connections) }),
				of(c.name, func(s sample) float64 { return float64(s.state) / float64(s.streams) }))
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func median[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
