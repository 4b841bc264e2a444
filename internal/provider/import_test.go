package provider_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/server"
	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// The plan of an import refuses another stream. After the command, each plan does, until an apply has written the state of a refresh;
// after a block, no later one. Where nobody knows the command of Terraform, an import counts as that of the command.
func TestPlanOfAnImport(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{
		"a block": {"terraform", "-chdir=x", "apply"}, "the command": {"terraform", "-chdir=x", "import", "a.b", "cam-9"}, "unknown": nil,
	} {
		for _, drift := range []bool{false, true} {
			_, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-9")...)
			start := func() *coretest.Process {
				p := newProcess(t, server.New("test", &provider.Host{Command: func() []string { return command }})())
				p.Configure(coretest.Attributes{"base_url": url, "detect_drift": drift})
				return p
			}
			refused := func(p *coretest.Process, state coretest.Managed) bool {
				_, _, diags := p.Plan(state, cam1("p1"))
				return strings.Contains(diags.String(), "ERROR: Imported Stream Differs")
			}
			refresh := func(p *coretest.Process, state coretest.Managed) coretest.Managed {
				state, diags := p.Read(state)
				if diags.Failed() {
					t.Fatal(diags)
				}
				return state
			}
			imports, isBlock := start(), name == "a block"
			imported, _ := imports.ImportState(coretest.SingleName, "cam-9")
			imported = refresh(imports, imported)
			if !refused(imports, imported) {
				t.Errorf("%s, detect_drift %t: the run of the import plans another stream", name, drift)
			}
			if refused(start(), imported) == isBlock {
				t.Errorf("%s, detect_drift %t: the next run, without a refresh: refused %t", name, drift, isBlock)
			}
			for range 2 { // a plan writes no state
				next := start()
				if refused(next, refresh(next, imported)) == isBlock {
					t.Errorf("%s, detect_drift %t: the next run: refused %t", name, drift, isBlock)
				}
			}
			later := start()
			if refused(later, refresh(later, refresh(start(), imported))) {
				t.Errorf("%s, detect_drift %t: an apply has written the state, and the next run refuses another stream", name, drift)
			}
			again := start()
			planned, _, _ := again.Plan(imported, single("cam-9", []string{"p1"}))
			applied, diags := again.Apply(imported.Value, planned, single("cam-9", []string{"p1"}))
			if refused(start(), applied) || diags.Failed() {
				t.Errorf("%s, detect_drift %t: the import was applied: %s", name, drift, diags)
			}
			if _, _, diags := start().Plan(imported, tftypes.NewValue(imported.Value.Type(), nil)); diags.Failed() {
				t.Errorf("%s, detect_drift %t: a destroy: %s", name, drift, diags)
			}
		}
	}
}
