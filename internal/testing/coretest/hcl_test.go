package coretest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
)

// addressOf is the address in Terraform of an address of the model.
func addressOf(addr string) string {
	if slices.Contains(historyGroups, addr) {
		return GroupName + "." + addr
	}
	return SingleName + "." + addr
}

// terraform writes the configuration of a run in Terraform's language.
func (c *terraformCore) terraform(run historyRun, baseURL string, number int) string {
	var text strings.Builder
	cfg, opts := run.config, run.options
	fmt.Fprintf(&text, "terraform {\n  required_providers {\n    stream = {\n      source = %q\n    }\n  }\n}\n", cli.Source)
	address := strconv.Quote(baseURL)
	if opts.lateAddress {
		address = fmt.Sprintf("terraform_data.address%d.output", number)
	}
	text.WriteString(c.providerBlock(address, opts.lateAddress, run.drift))
	for _, addr := range slices.Sorted(maps.Keys(cfg)) {
		cfg[addr].write(&text, addr, number, opts)
	}
	for _, addr := range opts.imports {
		fmt.Fprintf(&text, "\nimport {\n  to = %s\n  id = %q\n}\n", addressOf(addr), opts.importID(addr, cfg))
	}
	for _, from := range slices.Sorted(maps.Keys(opts.moved)) {
		fmt.Fprintf(&text, "\nmoved {\n  from = %s\n  to   = %s\n}\n", addressOf(from), addressOf(opts.moved[from]))
	}
	for _, addr := range opts.forgotten {
		fmt.Fprintf(&text, "\nremoved {\n  from = %s\n  lifecycle {\n    destroy = false\n  }\n}\n", addressOf(addr))
	}
	if opts.action != nil {
		id := opts.action.stream()
		fmt.Fprintf(&text, "\naction %q \"this\" {\n  config {\n    stream_id     = %q\n    processor_ids = %s\n  }\n}\n",
			ActionName, id, quotedList(opts.action.sets[id]))
	}
	return text.String()
}

// terraformImport writes the configuration for `terraform import`.
func (c *terraformCore) terraformImport(run historyRun, baseURL string, number int) string {
	return c.terraform(historyRun{config: run.config, drift: run.adoptedByReads}, baseURL, number)
}

// lateResources writes the resources whose outputs are the values that are known after apply. They stay in the configurations
// of later runs, because an update or a destroy of them would have an order with the calls for other resources.
func (cfg config) lateResources(baseURL string, run int, opts options) (text string) {
	if opts.lateAddress {
		text = fmt.Sprintf("\nresource \"terraform_data\" \"address%d\" {\n  input = %q\n}\n", run, baseURL)
	}
	for _, addr := range slices.Sorted(maps.Keys(cfg)) {
		if b := cfg[addr]; b.lateStream || b.lateProcessors {
			text += fmt.Sprintf("\nresource \"terraform_data\" \"%s%d\" {\n  input = %s\n}\n", addr, run, b.lateValue())
		}
	}
	return text
}

func (b resourceBlock) write(text *strings.Builder, addr string, run int, opts options) {
	typeName, name, _ := strings.Cut(addressOf(addr), ".")
	late := fmt.Sprintf("terraform_data.%s%d.output", name, run)
	fmt.Fprintf(text, "\nresource %q %q {\n", typeName, name)
	switch id := b.stream(); {
	case b.lateStream && b.group:
		fmt.Fprintf(text, "  streams = %s.sets\n", late)
	case b.group:
		fmt.Fprintf(text, "  streams = {\n")
		for _, id := range slices.Sorted(maps.Keys(b.sets)) {
			fmt.Fprintf(text, "    %q = %s\n", id, b.setExpression(id, late))
		}
		fmt.Fprintf(text, "  }\n")
	case b.lateStream:
		fmt.Fprintf(text, "  stream_id     = %s.id\n  processor_ids = %s\n", late, b.setExpression(id, late))
	default:
		fmt.Fprintf(text, "  stream_id     = %q\n  processor_ids = %s\n", id, b.setExpression(id, late))
	}
	if b.onCreate != "" {
		fmt.Fprintf(text, "  on_create = %q\n", b.onCreate)
	}
	if b.onDestroy != "" {
		fmt.Fprintf(text, "  on_destroy = %q\n", b.onDestroy)
	}
	if b.trigger != "" {
		fmt.Fprintf(text, "  triggers = { t = %q }\n", b.trigger)
	}
	if b.dependsOn != "" {
		fmt.Fprintf(text, "  depends_on = [%s]\n", addressOf(b.dependsOn))
	}
	triggersAction := opts.action != nil && opts.actionAfter == addr
	if b.createBeforeDestroy || triggersAction || len(b.ignores) > 0 {
		fmt.Fprintf(text, "  lifecycle {\n    create_before_destroy = %t\n", b.createBeforeDestroy)
		switch ignored := strings.Join(b.ignores, ", "); ignored {
		case "":
		case "all":
			fmt.Fprintf(text, "    ignore_changes = all\n")
		default:
			fmt.Fprintf(text, "    ignore_changes = [%s]\n", ignored)
		}
		if triggersAction {
			fmt.Fprintf(text, "    action_trigger {\n      events  = [after_create, after_update]\n")
			fmt.Fprintf(text, "      actions = [action.%s.this]\n    }\n", ActionName)
		}
		fmt.Fprintf(text, "  }\n")
	}
	fmt.Fprintf(text, "}\n")
}

// lateValue has the sets of all streams, and the id of the first one.
func (b resourceBlock) lateValue() string {
	var sets []string
	for _, id := range slices.Sorted(maps.Keys(b.sets)) {
		sets = append(sets, fmt.Sprintf("%q = %s", id, quotedList(b.sets[id])))
	}
	return fmt.Sprintf("{ id = %q, sets = { %s } }", b.stream(), strings.Join(sets, ", "))
}

// setExpression is that of the processors of a stream.
func (b resourceBlock) setExpression(id, late string) string {
	if b.lateProcessors {
		return fmt.Sprintf("%s.sets[%q]", late, id)
	}
	return quotedList(b.sets[id])
}

func quotedList(set []string) string {
	quoted := make([]string, len(set))
	for i, id := range set {
		quoted[i] = strconv.Quote(id)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// arguments are those of `terraform apply`.
func (o options) arguments() []string {
	args := []string{"apply", "-auto-approve"}
	for _, addr := range o.targets {
		args = append(args, "-target="+addressOf(addr))
	}
	for _, addr := range o.replace {
		args = append(args, "-replace="+addressOf(addr))
	}
	if o.keepsState {
		args = append(args, "-refresh=false")
	}
	if o.parallelism > 0 {
		args = append(args, fmt.Sprintf("-parallelism=%d", o.parallelism))
	}
	return args
}

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
	for n, addr := range run.adopted {
		if n == 0 {
			fmt.Fprintf(&text, "cat >main.tf <<'END'\n%sEND\n", c.terraformImport(run, historyURL, i)+c.scriptLate)
		}
		fmt.Fprintf(&text, "terraform import %s '%s'\n", addressOf(addr), run.importID(addr, run.config))
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
func (c *terraformCore) providerBlock(address string, late, drift bool) string {
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
`, address, deployment, drift, c.attempts)
}
