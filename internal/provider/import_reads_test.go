package provider

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A group is imported by the ids of its streams. Each stream is read once, and the plan of the same group is empty.
func TestImportGroup(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{"JSON": `["cam-1", "cam 2", "cam-1"]`, "lines": "cam-1\r\n\n cam 2 \n"} {
		service, url := streamstest.Start(t, streamstest.Options{ServeGet: true},
			streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p2", "p1"}}, streamstest.Stream{ID: "cam 2"})
		r := newGroupRun(t, coretest.Attributes{"base_url": url, "detect_drift": true})
		imported, diags := startProvider(t, r.provider).ImportStateOf(coretest.GroupName, id)
		if len(diags) > 0 {
			t.Fatalf("%s: %s", name, diags)
		}
		r.state, diags = startProvider(t, r.provider).Read(imported)
		if len(diags) > 0 {
			t.Fatalf("%s: %s", name, diags)
		}
		service.WantRequests(t, "GET /v2/streams/cam-1", "GET /v2/streams/cam%202")
		r.wantNoChanges(group(map[string][]string{"cam-1": {"p1", "p2"}, "cam 2": {}}, nil))
		for _, attribute := range []string{"deployment", "last_edited"} {
			if coretest.AttributesOf(r.state.Value)[attribute].IsNull() {
				t.Errorf("%s: the state has no %s", name, attribute)
			}
		}
	}
}

func TestImportGroupRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		detect   bool
		id, want string
	}{
		"no detect_drift": {false, "cam-1", "Group Cannot Be Imported"},
		"nothing":         {true, " \n", "it has no stream id"},
		"an empty list":   {true, "[]", "it has no stream id"},
		"no JSON":         {true, `["cam-1"`, "JSON"},
		"no texts":        {true, `[1]`, "JSON"},
		"a dot":           {true, `["cam-1", ".."]`, `".." is not a stream id`},
	} {
		service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
		_, diags := startProvider(t, coretest.Attributes{"base_url": url, "detect_drift": test.detect}).ImportStateOf(coretest.GroupName, test.id)
		if len(diags) != 1 || !diags.Failed() || !strings.Contains(diags.String(), test.want) {
			t.Errorf("%s: no %q in %s", name, test.want, diags)
		}
		service.WantRequests(t)
	}
}

// An imported stream that does not exist is an error with the service's message. Later, a stream that is gone leaves the state.
func TestImportOfMissingStreams(t *testing.T) {
	t.Parallel()
	for typeName, id := range map[string]string{coretest.SingleName: "missing", coretest.GroupName: "cam-1\nmissing"} {
		service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
		provider := coretest.Attributes{"base_url": url, "detect_drift": true}
		p := startProvider(t, provider)
		imported, _ := p.ImportStateOf(typeName, id)
		got, diags := p.Read(imported)
		if got.Value.IsNull() {
			t.Errorf("%s: Terraform reports the missing stream itself", typeName)
		}
		wantDiagnostic(t, diags, tfprotov6.DiagnosticSeverityError, "Resource Not Found Error", `there is no stream "missing"`)
		service.Seed(streamstest.Streams("missing")...)
		got, diags = p.Read(imported)
		if len(diags) > 0 || got.Value.IsNull() {
			t.Errorf("%s: %s", typeName, diags)
		}
		service.Remove("missing")
		if _, diags = p.Read(got); diags.Failed() || len(diags) != 1 {
			t.Errorf("%s: a refresh after the import says %s", typeName, diags)
		}
	}
}

// A run shows the warnings about the first streams, and counts those about the others, however many resources it has.
func TestManyWarnings(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, seeds(sameSet(60, "p1"))...)
	provider := coretest.Attributes{"base_url": url}
	old := group(sameSet(60, "p1"), nil)
	state := mustApply(t, provider, nullGroup(), old)
	service.ForgetRequests()
	p := startProvider(t, provider)
	p.Plan(state, nullGroup().Value)
	var summaries []string
	note := func(diags coretest.Diagnostics) {
		for _, d := range diags {
			summary, _, _ := strings.Cut(d.Summary, ":")
			summaries = append(summaries, fmt.Sprintf("%s %s", d.Severity, summary))
		}
	}
	groups := []map[string][]string{{}, {}}
	for i := range 50 {
		groups[i/25][fmt.Sprintf("s%03d", i)] = []string{"p1"}
	}
	for _, streams := range groups {
		_, _, again := p.Plan(nullGroup(), group(streams, nil))
		_, _, diags := p.Plan(nullGroup(), group(streams, nil))
		note(diags)
		if again.String() != diags.String() {
			t.Errorf("a repeated plan says\n%s\nin place of\n%s", diags, again)
		}
	}
	_, _, diags := p.Plan(coretest.Managed{Value: nullResource()}, single("s055", []string{"p1"}))
	note(diags)
	wantDiagnostic(t, diags, tfprotov6.DiagnosticSeverityWarning, "More Warnings About Streams",
		`Streams with warnings: 1 (1 × Processors May Be Detached for a Moment). Not shown above: "s055".`)
	var want []string
	for range shownGaps {
		want = append(want, "WARNING Processors May Be Detached for a Moment")
	}
	for range 3 {
		want = append(want, "WARNING More Warnings About Streams")
	}
	if diff := cmp.Diff(want, summaries); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
