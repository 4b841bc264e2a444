package coretest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// script is a history in a form that a person can run with the stand-in service. The stand-in is started again for each run
// of the CLI, so that its faults count from there.
type script []scriptRun

type scriptRun struct {
	historyRun
	provider providerBlock
	streams  []streamstest.Stream
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
		for _, f := range run.faults {
			if strings.HasPrefix(f.Name, interrupt) {
				fmt.Fprintf(&text, "# Ctrl-C during the request of the fault %s\n", f)
			}
		}
		if run.between.stream.ID != "" {
			fmt.Fprintf(&text, "# Between the plan and the apply, somebody changes the stream: %+v\n", run.between)
		}
		for _, addr := range run.tainted {
			fmt.Fprintf(&text, "terraform taint %s\n", addressOf(addr))
		}
		configuration := run.config.terraform(historyURL, run.provider, i, run.options) + late
		fmt.Fprintf(&text, "cat >main.tf <<'END'\n%sEND\nterraform %s\n", configuration, strings.Join(run.arguments(), " "))
	}
	return text.String()
}

// standIn is the command that starts the service.
func (r scriptRun) standIn() string {
	command := "go run ./internal/cmd/standin -listen " + strings.TrimPrefix(historyURL, "http://")
	if r.provider.drift {
		command += " -get"
	}
	command += historyReadings[r.reading].flag
	for _, stream := range r.streams {
		command += " -stream " + stream.ID
		if len(stream.ProcessorIDs) > 0 {
			command += "=" + strings.Join(stream.ProcessorIDs, ",")
		}
	}
	for _, f := range r.faults {
		if f.Name = strings.TrimPrefix(f.Name, interrupt); f.Name != "" {
			command += fmt.Sprintf(" -fault '%s'", f)
		}
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
