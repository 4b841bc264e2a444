// Command bench measures what the provider costs with a real CLI, and prints Markdown. Its arguments are numbers of
// streams; each of them makes one table.
//
// It compares the provider with a Go program that sends the same requests, which is the lower bound, and with
// terraform_data, which sends nothing. The rows of a table alternate in each round, so a change in the machine's speed
// affects all of them.
//
// State is remote, on a loopback port, because with local state the CLI rewrites the state file after
// each resource, which takes more time than everything else.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"os"
	"os/signal"
	"strconv"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
)

// contender is what one row of each table measures.
type contender struct {
	name        string
	form        string // of the configuration; "" for the Go loop
	size        int    // streams in a group; 0: all of them
	parallelism int    // of the CLI
	largest     int    // number of streams up to which the row runs; 0: every number
}

// Names of the rows.
const (
	loop   = "Go loop, 64 requests at a time"
	groups = "`stream_processors_group`, groups of 500"
	group  = "`stream_processors_group`, one group"
	single = "`stream_processors`"
	data   = "`terraform_data`"
)

var contenders = []contender{
	{name: loop},
	{name: groups, form: "group", size: 500, parallelism: 10},
	{name: group, form: "group", parallelism: 10},
	{name: single, form: "single", parallelism: 10, largest: 1000},
	{name: single + ", `-parallelism=64`", form: "single", parallelism: 64, largest: 1000},
	{name: data, form: "data", parallelism: 10, largest: 1000},
}

func main() {
	plot := flag.String("plot", "", "write the plot of seconds against streams to this `file`")
	rounds := flag.Int("rounds", 3, "run each row this many times, at least 3")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Args(), max(*rounds, 3), *plot) // a spread needs three rounds
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, numbers []string, rounds int, plot string) (err error) {
	dir, err := os.MkdirTemp("", "stream-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program, err := cli.Find()
	if err != nil {
		return err
	}
	provider, err := cli.Build(ctx, dir)
	if err != nil {
		return err
	}
	sandbox, err := cli.NewSandbox(dir, program, map[string]string{cli.Source: provider})
	if err != nil {
		return err
	}
	if err := printHeader(ctx, sandbox, rounds, plot); err != nil {
		return err
	}
	all := map[int]results{}
	for _, number := range numbers {
		streams, err := strconv.Atoi(number)
		if err != nil {
			return err
		}
		if all[streams], err = compare(ctx, dir, sandbox, streams, rounds); err != nil {
			return err
		}
		printTable(streams, all[streams])
	}
	if plot == "" {
		return nil
	}
	return os.WriteFile(plot, drawPlot(all, conditions(rounds)...), 0o644)
}

// compare runs all tasks of all rows for a number of streams.
func compare(ctx context.Context, dir string, sandbox *cli.Sandbox, streams, rounds int) (measured results, err error) {
	var workspaces []*workspace
	for _, c := range contenders {
		if c.largest > 0 && streams > c.largest {
			continue
		}
		w, err := newWorkspace(ctx, dir, *sandbox, c, streams)
		if err != nil {
			return nil, err
		}
		defer w.close()
		workspaces = append(workspaces, w)
	}
	for round := range rounds {
		for _, op := range tasks {
			for _, w := range workspaces {
				if w.name == loop && op == noop {
					continue // nothing to send
				}
				log.Printf("%d streams, round %d of %d: %s: %s", streams, round+1, rounds, op, w.name)
				m, err := w.measure(ctx, op)
				if err != nil {
					return nil, err
				}
				measured = append(measured, m)
			}
		}
	}
	return measured, nil
}
