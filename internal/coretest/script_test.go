package coretest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// script is a history in a form that a person can run with the stand-in service.
type script []*scriptRun

// scriptRun is one run of the CLI. The stand-in is started again for each, so that its faults count from there.
type scriptRun struct {
	config   config
	options  options
	provider providerBlock
	commands []string
	blocks   string // moved and removed blocks
	streams  []streamstest.Stream
	service  streamstest.Options
	faults   []streamstest.RequestFault
	notes    []string
}

// add begins a run with the deployment and the streams of now.
func (s *script) add(c *terraformCore, cfg config) {
	*s = append(*s, &scriptRun{
		config: cfg, provider: c.providerBlock(), streams: streamsOf(c.service), service: streamstest.Options{ServeGet: c.drift},
	})
}

func (s script) last() *scriptRun { return s[len(s)-1] }

// command adds a command before the run.
func (s script) command(format string, args ...any) {
	s.last().commands = append(s.last().commands, fmt.Sprintf(format, args...))
}

// historyURL is the address of the stand-in service in a script.
const historyURL = "http://127.0.0.1:8080"

func (s script) String() string {
	var text strings.Builder
	text.WriteString("To repeat the history, run make dev, export TF_CLI_CONFIG_FILE as it says, and run in an empty folder:\n")
	late := ""
	for i, run := range s {
		late += run.config.lateResources(historyURL, i, run.options)
		fmt.Fprintf(&text, "\n# Run %d, with in another terminal: %s\n", i, run.standIn())
		for _, note := range run.notes {
			fmt.Fprintf(&text, "# %s\n", note)
		}
		for _, command := range run.commands {
			fmt.Fprintf(&text, "terraform %s\n", command)
		}
		configuration := run.config.terraform(historyURL, run.provider, i, run.options) + late + run.blocks
		fmt.Fprintf(&text, "cat >main.tf <<'END'\n%sEND\nterraform %s\n", configuration, strings.Join(run.options.arguments(), " "))
	}
	return text.String()
}

// standIn is the command that starts the service.
func (r *scriptRun) standIn() string {
	command := "go run ./internal/cmd/standin -listen " + strings.TrimPrefix(historyURL, "http://")
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"-get", r.service.ServeGet},
		{"-merge", r.service.Merge},
		{"-refuse-empty", r.service.RefuseEmpty},
		{"-keep-last-edited", r.service.KeepLastEdited},
		{"-known " + strings.Join(r.service.KnownProcessors, ","), r.service.KnownProcessors != nil},
	} {
		if flag.set {
			command += " " + flag.name
		}
	}
	for _, stream := range r.streams {
		command += " -stream " + stream.ID
		if len(stream.ProcessorIDs) > 0 {
			command += "=" + strings.Join(stream.ProcessorIDs, ",")
		}
	}
	for _, fault := range r.faults {
		command += fmt.Sprintf(" -fault '%s'", fault)
	}
	return command
}

// streamsOf returns the streams of a service.
func streamsOf(service *streamstest.Service) []streamstest.Stream {
	var streams []streamstest.Stream
	for _, id := range historyStreams {
		if stream, ok := service.Stream(id); ok {
			streams = append(streams, stream)
		}
	}
	return streams
}

// providerBlock has the arguments of the provider block, except base_url.
type providerBlock struct {
	deployment string
	named      bool // otherwise the deployment is known when the address is
	drift      bool
	attempts   int
}

func (c *terraformCore) providerBlock() providerBlock {
	return providerBlock{c.address, c.provider["deployment"] != nil, c.drift, c.attempts}
}

// terraform writes the provider block. The address is an expression, whose value may be known after apply.
func (p providerBlock) terraform(address string, late bool) string {
	deployment := strconv.Quote(p.deployment)
	if late && !p.named {
		deployment = fmt.Sprintf("%s == \"\" ? \"\" : %s", address, deployment)
	}
	return fmt.Sprintf(`
provider "stream" {
  base_url                = %s
  deployment              = %s
  detect_drift            = %t
  max_concurrent_requests = 1
  retry = {
    max_attempts = %d
    min_backoff  = "1ns"
    max_backoff  = "1ns"
  }
}
`, address, deployment, p.drift, p.attempts)
}
