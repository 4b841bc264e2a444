package coretest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Diagnostics are those of one call.
type Diagnostics []*tfprotov6.Diagnostic

// Failed reports whether there is an error.
func (d Diagnostics) Failed() bool {
	return slices.ContainsFunc(d, func(d *tfprotov6.Diagnostic) bool { return d.Severity == tfprotov6.DiagnosticSeverityError })
}

var (
	named   = regexp.MustCompile(`(?m)^("(?:[^"\\]|\\.)*"(?:, "(?:[^"\\]|\\.)*")*)(?:: (.*))?$`)
	oneName = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	closing = regexp.MustCompile(`\n\n[^\n]*(changes succeeded|he state|streams were read)[^\n]*$`) // of the errors of a group
)

// ByStream returns the details of a diagnostic of a group, by stream. One about several streams names them, each with what is
// its own.
func ByStream(d *tfprotov6.Diagnostic) map[string]string {
	detail, streams := closing.ReplaceAllString(d.Detail, ""), map[string]string{}
	if steps := d.Attribute.Steps(); len(steps) > 1 { // of a value in the configuration
		key, _ := steps[1].(tftypes.ElementKeyString)
		return map[string]string{string(key): detail}
	}
	rest, outcome, equal := strings.Cut(strings.TrimSpace(named.ReplaceAllString(detail, "")), "For each of them: ")
	for _, line := range named.FindAllStringSubmatch(detail, -1) {
		if !equal {
			outcome = line[2]
		}
		for _, quoted := range oneName.FindAllString(line[1], -1) {
			id, _ := strconv.Unquote(quoted)
			streams[id] = rest + "\n\n" + outcome
		}
	}
	if id := oneName.FindString(detail); d.Attribute == nil && len(streams) == 0 && id != "" { // of one stream, which it names first
		id, _ = strconv.Unquote(id)
		streams[id] = detail
	}
	return streams
}

func (d Diagnostics) String() string {
	var lines []string
	for _, d := range d {
		lines = append(lines, fmt.Sprintf("%s: %s: %s", d.Severity, d.Summary, d.Detail))
	}
	return strings.Join(lines, "\n")
}
