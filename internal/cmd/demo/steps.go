package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-exec/tfexec"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

//go:embed main.tf
var configuration string

const planFile = "next.tfplan"

// step is a list of commands and their expected result.
type step struct {
	title    string
	from, to string // an edit of one line of the configuration, before the commands
	commands [][]string
	planned  []string          // the changes in the plan file
	requests []string          // what the service receives, in any order
	attached map[string]string // the processors of each stream afterwards; nil if they do not change
	shows    string
}

var steps = []step{
	{
		title:    "Install the provider",
		commands: [][]string{{"init"}},
		attached: map[string]string{"entrance": "", "loading": "", "parking": ""},
		shows:    "The provider of this source tree is installed.",
	},
	{
		title:    "Plan",
		commands: [][]string{{"plan", "-out=" + planFile}},
		planned:  []string{"create entrance", "create loading", "create parking"},
		shows:    "A plan sends no request.",
	},
	{
		title:    "Apply",
		commands: [][]string{{"apply", planFile}},
		requests: []string{
			`PATCH /v2/streams/entrance {"processor_ids":["object-detection","people-counter"]} → 200`,
			`PATCH /v2/streams/loading {"processor_ids":["object-detection","plate-reader"]} → 200`,
			`PATCH /v2/streams/parking {"processor_ids":["object-detection"]} → 200`,
		},
		attached: map[string]string{
			"entrance": "object-detection people-counter",
			"loading":  "object-detection plate-reader",
			"parking":  "object-detection",
		},
		shows: "One request for each stream. Each stream has its processors.",
	},
	{
		title:    "Change the processors of one camera",
		from:     `entrance = ["object-detection", "people-counter"]`,
		to:       `entrance = ["object-detection", "face-blur"]`,
		commands: [][]string{{"plan", "-out=" + planFile}, {"apply", planFile}},
		planned:  []string{"update entrance"},
		requests: []string{`PATCH /v2/streams/entrance {"processor_ids":["face-blur","object-detection"]} → 200`},
		attached: map[string]string{
			"entrance": "face-blur object-detection",
			"loading":  "object-detection plate-reader",
			"parking":  "object-detection",
		},
		shows: "One request with the whole new set. The stream is never without processors.",
	},
	{
		title:    "Reorder the processors of another camera",
		from:     `loading  = ["object-detection", "plate-reader"]`,
		to:       `loading  = ["plate-reader", "object-detection"]`,
		commands: [][]string{{"plan", "-out=" + planFile}},
		shows:    "The order does not matter: no change, no request.",
	},
	{
		title:    "Destroy",
		commands: [][]string{{"destroy", "-auto-approve"}},
		requests: []string{
			`PATCH /v2/streams/entrance {"processor_ids":[]} → 200`,
			`PATCH /v2/streams/loading {"processor_ids":[]} → 200`,
			`PATCH /v2/streams/parking {"processor_ids":[]} → 200`,
		},
		attached: map[string]string{"entrance": "", "loading": "", "parking": ""},
		shows:    "The processors are detached. The streams still exist.",
	},
}

// demo runs the steps with a CLI in a folder, and a service at an address.
type demo struct {
	sandbox *cli.Sandbox
	service *streamstest.Service
	address string
	dir     string

	configuration string
	attached      map[string]string // the expected processors of each stream
}

func (d *demo) run(ctx context.Context) error {
	for _, id := range []string{"entrance", "loading", "parking"} {
		d.service.Seed(streamstest.Stream{ID: id})
	}
	d.configuration = strings.Replace(configuration, "https://streams.example.com", d.address, 1)
	headline("The configuration, main.tf")
	fmt.Print(d.configuration)
	for i, s := range steps {
		headline(fmt.Sprintf("%d of %d: %s", i+1, len(steps), s.title))
		if err := d.step(ctx, s); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, s.title, err)
		}
		fmt.Println(green("✓ " + s.shows))
	}
	return nil
}

func (d *demo) step(ctx context.Context, s step) error {
	if s.from != "" {
		fmt.Printf("main.tf\n- %s\n+ %s\n\n", s.from, s.to)
		d.configuration = strings.Replace(d.configuration, s.from, s.to, 1)
	}
	if err := os.WriteFile(filepath.Join(d.dir, "main.tf"), []byte(d.configuration), 0o600); err != nil {
		return err
	}
	d.service.ForgetRequests()
	for _, args := range s.commands {
		if err := d.command(ctx, args); err != nil {
			return err
		}
	}
	requests := d.requests()
	if s.commands[0][0] == "plan" {
		planned, err := d.planned(ctx)
		if err != nil {
			return err
		}
		if err := wantSame("planned changes", planned, s.planned); err != nil {
			return err
		}
	}
	if err := wantSame("requests", requests, s.requests); err != nil {
		return err
	}
	if s.attached != nil {
		d.attached = s.attached
	}
	return d.checkStreams()
}

// command prints a command of the CLI like in a terminal, and runs it.
func (d *demo) command(ctx context.Context, args []string) error {
	name := strings.TrimSuffix(filepath.Base(d.sandbox.Program), ".exe")
	typed := name + " " + strings.Join(args, " ")
	fmt.Println(bold("$ " + typed))
	if !terminal {
		args = slices.Insert(slices.Clone(args), 1, "-no-color")
	}
	if err := d.sandbox.Run(ctx, d.dir, os.Stdout, args...); err != nil {
		return fmt.Errorf("%s: %w", typed, err)
	}
	fmt.Println()
	return nil
}

// requests prints and returns the requests that the service has received in this step.
func (d *demo) requests() []string {
	var received []string
	for _, r := range d.service.Requests() {
		received = append(received, r.String())
	}
	if received == nil {
		fmt.Println("The service received no request.")
		return nil
	}
	fmt.Println("The service received:")
	for _, r := range received {
		fmt.Println("  " + r)
	}
	return received
}

// planned returns the changes in the plan file, such as "update entrance".
func (d *demo) planned(ctx context.Context) ([]string, error) {
	terraform, err := tfexec.NewTerraform(d.dir, d.sandbox.Program)
	if err != nil {
		return nil, err
	}
	if err := terraform.SetEnv(d.sandbox.Env); err != nil {
		return nil, err
	}
	plan, err := terraform.ShowPlanFile(ctx, planFile)
	if err != nil {
		return nil, err
	}
	var changes []string
	for _, c := range plan.ResourceChanges {
		if !c.Change.Actions.NoOp() {
			changes = append(changes, fmt.Sprintf("%s %v", strings.Trim(fmt.Sprint(c.Change.Actions), "[]"), c.Index))
		}
	}
	return changes, nil
}

// checkStreams compares the processors of the streams at the service with the expected ones.
func (d *demo) checkStreams() error {
	for id, want := range d.attached {
		stream, ok := d.service.Stream(id)
		if !ok {
			return fmt.Errorf("the stream %s does not exist", id)
		}
		if err := wantSame("processors of "+id, stream.ProcessorIDs, strings.Fields(want)); err != nil {
			return err
		}
	}
	return nil
}

// wantSame returns an error unless both lists have the same elements, in any order.
func wantSame(what string, got, want []string) error {
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if slices.Equal(got, want) {
		return nil
	}
	return fmt.Errorf("%s\n  got  %q\n  want %q", what, got, want)
}

// terminal reports whether the output goes to a terminal and may have colors.
var terminal = func() bool {
	info, err := os.Stdout.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == ""
}()

func headline(text string) { fmt.Printf("\n%s\n\n", bold("━━━ "+text)) }

func bold(text string) string  { return styled("1", text) }
func green(text string) string { return styled("32", text) }
func red(text string) string   { return styled("31", text) }

func styled(code, text string) string {
	if !terminal {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
