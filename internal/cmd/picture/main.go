// Command picture draws the picture at the top of the README: what a plan, an apply and a refused change look like, with
// the requests that the service receives. It runs Terraform for real, and writes one SVG file for light pages and one
// for dark pages into a folder.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func main() {
	out := flag.String("out", ".github", "write the pictures into this `folder`")
	flag.Parse()
	if err := run(context.Background(), *out); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out string) error {
	dir, err := os.MkdirTemp("", "stream-picture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := cli.Find()
	if err != nil {
		return err
	}
	provider, err := cli.Build(ctx, dir, nil)
	if err != nil {
		return err
	}
	files, err := draw(ctx, dir, program, provider)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(out, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// panel is a command, and which lines of its output the picture shows. A line that is not empty and not shown becomes
// part of an ellipsis.
type panel struct {
	title      string
	processors string // of the configuration
	args       []string
	fails      bool
	shown      *regexp.Regexp
	lines      []string // drawn on the left
	requests   []string // drawn on the right
}

var panels = []panel{
	{
		title:      "A plan sends no request.",
		processors: `"object-detection", "people-counter"`,
		args:       []string{"plan"},
		shown:      regexp.MustCompile(`will be created|resource "|processor_ids|"object-|"people-|\]$|stream_id|^    }|^Plan:`),
	},
	{
		title:      "An apply sends one request for each stream, with the whole set.",
		processors: `"object-detection", "people-counter"`,
		args:       []string{"apply", "-auto-approve"},
		shown:      regexp.MustCompile(`Creating|^Apply complete`),
	},
	{
		title:      "A refused change says what the service said, and what is now true.",
		processors: `"object-detection", "people-countr"`,
		args:       []string{"apply", "-auto-approve"},
		fails:      true,
		shown:      regexp.MustCompile(`^Plan:|Modifying|^Error|could not be updated|The service said|was not changed`),
	},
}

// draw runs the commands in a new folder in dir, and returns the content of each file.
func draw(ctx context.Context, dir, program, provider string) (map[string]string, error) {
	sandbox, err := cli.NewSandbox(dir, program, provider)
	if err != nil {
		return nil, err
	}
	service := streamstest.New(streamstest.Options{KnownProcessors: []string{"object-detection", "people-counter"}},
		streamstest.Stream{ID: "cam-1"})
	server := httptest.NewServer(service)
	defer server.Close()
	sandbox.Env["STREAM_BASE_URL"] = server.URL

	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		return nil, err
	}
	drawn := make([]panel, len(panels))
	for i, p := range panels {
		configuration := fmt.Sprintf(configurationFormat, cli.Source, p.processors)
		if err := os.WriteFile(filepath.Join(work, "main.tf"), []byte(configuration), 0o600); err != nil {
			return nil, err
		}
		if i == 0 {
			if _, err := output(ctx, sandbox, work, false, "init"); err != nil {
				return nil, err
			}
		}
		text, err := output(ctx, sandbox, work, p.fails, p.args...)
		if err != nil {
			return nil, err
		}
		p.lines = append([]string{"$ terraform " + p.args[0]}, excerpt(text, p.shown)...)
		for _, r := range service.Requests() {
			p.requests = append(p.requests, r.String())
		}
		service.ForgetRequests()
		drawn[i] = p
	}
	return map[string]string{"picture-light.svg": svg(drawn, light), "picture-dark.svg": svg(drawn, dark)}, nil
}

const configurationFormat = `terraform {
  required_providers {
    stream = {
      source = %q
    }
  }
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = [%s]
}
`

// output runs a command that must succeed, or must fail.
func output(ctx context.Context, sandbox *cli.Sandbox, dir string, fails bool, args ...string) (string, error) {
	var out bytes.Buffer
	err := sandbox.Run(ctx, dir, &out, append(args, "-no-color")...)
	if fails && err == nil {
		err = errors.New("succeeded, want an error")
	} else if fails {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out.String())
	}
	return out.String(), nil
}

// excerpt returns the lines to show, with an ellipsis for lines left out between two of them.
func excerpt(text string, shown *regexp.Regexp) []string {
	var lines []string
	omitted := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(strings.TrimLeft(line, "│╷╵"), " \r\n")
		switch {
		case line == "":
		case !shown.MatchString(line):
			omitted = lines != nil
		default:
			if omitted {
				lines = append(lines, "…")
			}
			lines, omitted = append(lines, line), false
		}
	}
	return lines
}
