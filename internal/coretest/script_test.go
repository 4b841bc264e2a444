package coretest

import (
	"fmt"
	"strconv"
	"strings"
)

// historyURL is the address of the stand-in service in a script.
const historyURL = "http://127.0.0.1:8080"

// addToScript adds a run in a form that a person can repeat with the stand-in service. The stand-in is started again for each
// run of the CLI, so that its faults count from there.
func (c *terraformCore) addToScript(run historyRun) {
	i := len(c.script)
	var text strings.Builder
	if i == 0 {
		text.WriteString("To repeat the history, run make dev, export TF_CLI_CONFIG_FILE as it says, and run in an empty folder:\n")
	}
	c.scriptLate += run.config.lateResources(historyURL, i, run.options)
	fmt.Fprintf(&text, "\n# Run %d, with in another terminal: %s\n", i, c.standIn(run))
	for _, f := range run.faults {
		if strings.HasPrefix(f.Name, interrupt) {
			fmt.Fprintf(&text, "# Ctrl-C during the request of the fault %s\n", f)
		}
	}
	if run.killedAfter > 0 {
		fmt.Fprintf(&text, "# kill -9 after %d calls of the apply to the provider\n", run.killedAfter-1)
	}
	if run.between.stream.ID != "" {
		fmt.Fprintf(&text, "# Between the plan and the apply, somebody changes the stream: %+v\n", run.between)
	}
	for _, addr := range run.tainted {
		fmt.Fprintf(&text, "terraform taint %s\n", addressOf(addr))
	}
	configuration := c.terraform(run, historyURL, i) + c.scriptLate
	fmt.Fprintf(&text, "cat >main.tf <<'END'\n%sEND\nterraform %s\n", configuration, strings.Join(run.arguments(), " "))
	c.script = append(c.script, text.String())
}

// standIn is the command that starts the service.
func (c *terraformCore) standIn(run historyRun) string {
	command := "go run ./internal/cmd/standin -listen " + strings.TrimPrefix(historyURL, "http://")
	if c.drift {
		command += " -get"
	}
	command += historyReadings[run.reading].flag
	for _, id := range historyStreams {
		if set, exists := c.attached(id).([]string); exists {
			command += strings.TrimSuffix(" -stream "+id+"="+strings.Join(set, ","), "=")
		}
	}
	for _, f := range run.faults {
		if f.Name = strings.TrimPrefix(f.Name, interrupt); f.Name != "" {
			command += fmt.Sprintf(" -fault '%s'", f)
		}
	}
	return command
}

// providerBlock writes the provider block. The address is an expression, whose value may be known after apply.
func (c *terraformCore) providerBlock(address string, late bool) string {
	deployment := strconv.Quote(c.name)
	if late && c.provider["deployment"] == nil {
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
`, address, deployment, c.drift, c.attempts)
}
