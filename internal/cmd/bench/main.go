//go:build linux

// Command bench measures what the provider costs with a real CLI, and prints Markdown.
//
// By default it compares this provider with a provider that does nothing, with terraform_data, and with
// terraform_data that calls curl. With -provider, it compares builds of the provider instead:
//
//	go run ./internal/cmd/bench -provider before=bin/before -provider after=bin/after -streams 1000 -rows '^plan|^update' -rounds 5
//
// All rows of a table alternate in each round, so a change in the machine's speed affects all of them.
// State is remote, on a loopback port, because with local state the CLI rewrites the state file after
// each resource, which takes more time than everything else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are what the command line can change.
type options struct {
	streams     []int
	rounds      int
	latency     time.Duration
	parallelism int
	rows        *regexp.Regexp
	builds      []contender // from -provider
	long        bool        // also the rows that take more than ten minutes
	plot        string      // path of the SVG; "" for none
}

func main() {
	o, err := parseFlags()
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err = run(ctx, o)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func parseFlags() (options, error) {
	o := options{streams: []int{100, 1000, 10_000}}
	flag.IntVar(&o.rounds, "rounds", 3, "run each row this many times and print the medians")
	flag.DurationVar(&o.latency, "latency", 20*time.Millisecond, "`duration` that the service waits before each response")
	flag.IntVar(&o.parallelism, "parallelism", 10, "value of the CLI's -parallelism")
	flag.BoolVar(&o.long, "long", false, "also run the rows that take more than ten minutes")
	flag.StringVar(&o.plot, "plot", "", "write the plot of seconds against streams to this `file`")
	flag.Func("streams", "comma-separated `numbers` of streams, one table each (default 100,1000,10000)", func(text string) error {
		o.streams = nil
		for field := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(field)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is not a number of streams", field)
			}
			o.streams = append(o.streams, n)
		}
		return nil
	})
	flag.Func("rows", "run only the rows \"operation: name\" that match this `regexp`, such as '^update: this provider$'", func(text string) (err error) {
		o.rows, err = regexp.Compile(text)
		return err
	})
	flag.Func("provider", "compare the builds `name=path`, comma-separated or repeated, with the first one", func(text string) error {
		for field := range strings.SplitSeq(text, ",") {
			if err := o.addBuild(field); err != nil {
				return err
			}
		}
		return nil
	})
	flag.Parse()
	switch {
	case flag.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flag.Arg(0))
	case o.rounds < 1 || o.parallelism < 1:
		return o, errors.New("-rounds and -parallelism must be at least 1")
	}
	for i := range o.builds {
		o.builds[i].parallelism = o.parallelism
	}
	return o, nil
}

func (o *options) addBuild(text string) error {
	name, path, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return fmt.Errorf("%q is not name=path", text)
	}
	if slices.ContainsFunc(o.builds, func(c contender) bool { return c.name == name }) {
		return fmt.Errorf("there are two builds with the name %s", name)
	}
	program, err := filepath.Abs(path) // the CLI runs in another folder
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(program); err != nil {
		return err
	}
	o.builds = append(o.builds, contender{name: name, resource: providerResource, provider: program, sends: true})
	return nil
}

// selects reports whether -rows has the row.
func (o *options) selects(operation, contender string) bool {
	return o.rows == nil || o.rows.MatchString(operation+": "+contender)
}

func run(ctx context.Context, o options) (err error) {
	l, err := newLab(ctx)
	if l != nil {
		defer func() { err = errors.Join(err, os.RemoveAll(l.dir)) }()
	}
	if err != nil {
		return err
	}
	contenders := o.builds
	if contenders == nil {
		this, err := l.build(ctx, "this", module)
		if err != nil {
			return err
		}
		nothing, err := l.build(ctx, "nothing", module+"/internal/cmd/bench/nothing")
		if err != nil {
			return err
		}
		contenders = yardsticks(this, nothing, o.parallelism)
	}
	version, err := l.cliVersion(ctx)
	if err != nil {
		return err
	}
	printHeader(version, o)
	printPlot(o.plot)
	if err := compareStarts(ctx, o, contenders); err != nil {
		return err
	}
	var points []point
	for _, streams := range o.streams {
		measured, err := l.compare(ctx, o, contenders, streams)
		if err != nil {
			return err
		}
		points = append(points, pointsOf(streams, measured)...)
	}
	if o.plot == "" {
		return nil
	}
	return os.WriteFile(o.plot, []byte(drawPlot(points)), 0o644)
}

// compareStarts prints how long the providers take until the CLI can connect.
func compareStarts(ctx context.Context, o options, contenders []contender) error {
	var started []contender // one for each provider
	for _, c := range contenders {
		known := slices.ContainsFunc(started, func(s contender) bool { return s.provider == c.provider })
		if c.provider != "" && !known && o.selects("start", c.name) {
			started = append(started, c)
		}
	}
	taken := map[string][]float64{}
	for range 30 * o.rounds { // a start takes milliseconds
		for _, c := range started {
			t, err := timeToHandshake(ctx, c.provider)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			taken[c.name] = append(taken[c.name], t.Seconds()*1000)
		}
	}
	if started != nil {
		printStarts(started, taken)
	}
	return nil
}

// compare runs the selected rows for a number of streams, and prints them.
func (l *lab) compare(ctx context.Context, o options, contenders []contender, streams int) (results, error) {
	operations := []operation{create, noop, one, update}
	var workspaces []*workspace
	for _, c := range contenders {
		if c.largest > 0 && streams > c.largest && !o.long {
			continue
		}
		if !slices.ContainsFunc(operations, func(op operation) bool { return o.selects(op.name, c.name) }) {
			continue
		}
		w, err := l.newWorkspace(ctx, c, streams, o.latency)
		if err != nil {
			return nil, err
		}
		defer w.close()
		workspaces = append(workspaces, w)
	}
	measured := results{}
	for round := range o.rounds {
		for _, op := range operations {
			for _, w := range workspaces {
				selected := o.selects(op.name, w.name)
				if !selected && (op.name != create.name || round > 0) {
					continue // the other operations need one create, at least
				}
				log.Printf("%d streams, round %d of %d: %s: %s", streams, round+1, o.rounds, op.name, w.name)
				m, err := w.measure(ctx, op)
				if err != nil {
					return nil, err
				}
				if selected {
					measured.add(op.name, w.name, m)
				}
			}
		}
	}
	if len(workspaces) > 0 {
		printTable(streams, operations, workspaces, measured)
	}
	return measured, nil
}
