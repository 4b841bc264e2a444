//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
)

// results has the measurements of each row, one for each round.
type results map[row][]measurement

type row struct{ operation, contender string }

func (r results) add(operation, contender string, m measurement) {
	key := row{operation, contender}
	r[key] = append(r[key], m)
}

func printHeader(cliVersion string, o options) {
	fmt.Printf("# Measurements\n\n%s on %s, %s/%s with %d processors.\n",
		cliVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	fmt.Printf("Remote state, `-parallelism=%d`, and a service that waits %s before each response, unless the row says otherwise.\n",
		o.parallelism, o.latency)
	fmt.Printf("Rounds: %d. Each value is the median, with the lowest and the highest value in parentheses.\n", o.rounds)
	fmt.Print(`
- **ratio**: to the time of the first row of the same operation, in the same round. Seconds depend on the machine; compare ratios.
- **CPU s**: of the CLI and all processes that it started.
- **provider CPU ms/stream** and **provider peak MB**: of the provider's own processes. Peak is the maximum resident set size.
`)
}

// printPlot shows the plot, which is in the folder of the page.
func printPlot(file string) {
	if file != "" {
		fmt.Printf("\n![Seconds against streams: single resources, modules of 100, and groups of 500](%s)\n", filepath.Base(file))
	}
}

func printStarts(contenders []contender, taken map[string][]float64) {
	fmt.Print("\n## From start to handshake\n\n| | ms |\n|---|---|\n")
	for _, c := range contenders {
		fmt.Printf("| %s | %.1f |\n", c.name, median(taken[c.name]))
	}
}

func printTable(streams int, operations []operation, workspaces []*workspace, measured results) {
	fmt.Printf("\n## Streams: %d\n\n", streams)
	fmt.Print("| operation | | s | ratio | CPU s | provider CPU ms/stream | provider peak MB | state B/stream |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, o := range operations {
		var first []measurement
		for _, w := range workspaces {
			all := measured[row{o.name, w.name}]
			if all == nil {
				continue
			}
			if first == nil {
				first = all
			}
			var wall, ratio, cpu, providerCPU, peak, state []float64
			for i, m := range all {
				wall = append(wall, m.wall.Seconds())
				ratio = append(ratio, m.wall.Seconds()/first[i].wall.Seconds())
				cpu = append(cpu, m.cpu.Seconds())
				providerCPU = append(providerCPU, m.provider.CPU.Seconds()*1000/float64(streams))
				peak = append(peak, float64(m.provider.PeakMemory)/1e6)
				state = append(state, float64(m.stateSize)/float64(streams))
			}
			provider := "– | –"
			if w.provider != "" {
				provider = fmt.Sprintf("%.2f | %.0f", median(providerCPU), median(peak))
			}
			fmt.Printf("| %s | %s | %.2f (%.2f–%.2f) | %.2f | %.2f | %s | %.0f |\n", o.name, w.name,
				median(wall), slices.Min(wall), slices.Max(wall), median(ratio), median(cpu), provider, median(state))
		}
	}
}

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
