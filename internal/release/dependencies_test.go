package release

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestDependencies checks that the provider imports no module that only tests and tools need, and that
// go.mod requires no module that neither of them needs.
func TestDependencies(t *testing.T) {
	t.Parallel()
	const module = `{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}`
	linked := goList(t, "-deps", "-f", module, ".")
	if len(linked) == 0 {
		t.Fatal("the provider has no dependencies")
	}
	for _, path := range testOnlyModules {
		if slices.Contains(linked, path) {
			t.Errorf("the provider imports %s", path)
		}
	}
	allowed := slices.Concat(linked,
		goList(t, "-deps", "-f", module, "github.com/hashicorp/terraform-plugin-testing/helper/resource"),
		[]string{"pgregory.net/rapid"}) // generates random tests; it has no dependencies
	for _, path := range goList(t, "-m", "-f", `{{if not (or .Main .Indirect)}}{{.Path}}{{end}}`, "all") {
		if !slices.Contains(allowed, path) {
			t.Errorf("go.mod requires %s, which neither the provider nor plugin-testing needs", path)
		}
	}
}

// goList returns the sorted, unique lines of the output of go list.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	slices.Sort(lines)
	return slices.Compact(lines)
}
