package provider_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// startQuery starts a service, and the provider with detect_drift.
func startQuery(t *testing.T, provider coretest.Attributes, seed ...streamstest.Stream) (*streamstest.Service, *coretest.Process) {
	t.Helper()
	service, r := startRun(t, nullResource(), merge(detectDrift, provider), seed...)
	return service, startProvider(t, r.provider)
}

// query collects a query: what was listed, by stream id, and the diagnostics.
func query(p *coretest.Process, limit int64, ids ...string) (listed map[string]tfprotov6.ListResourceResult, diags coretest.Diagnostics) {
	p.T.Helper()
	listed = map[string]tfprotov6.ListResourceResult{}
	for result := range p.List(coretest.Attributes{"stream_ids": ids}, true, limit) {
		diags = append(diags, result.Diagnostics...)
		if identity, ok := decodeIdentity(p.T, result.Identity).(map[string]any); ok {
			listed[fmt.Sprint(identity["stream_id"])] = result
		}
	}
	return listed, diags
}

func gets(ids ...string) []string {
	var lines []string
	for _, id := range ids {
		lines = append(lines, "GET /v2/streams/"+id)
	}
	return lines
}

// A query reads each stream once. The resource in a result is the state that an import and a refresh make.
func TestList(t *testing.T) {
	t.Parallel()
	service, p := startQuery(t, nil, streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p2", "p1"}, TerminalID: "t-1"},
		streamstest.Stream{ID: "cam-2", ProcessorIDs: []string{"p1"}}, streamstest.Stream{ID: "cam-3"})
	listed, diags := query(p, 100, "cam-1", "cam-2", "cam-1", "cam-3", "cam-2")
	service.WantRequests(t, gets("cam-1", "cam-2", "cam-3")...)
	wantDiagnostics(t, diags)
	names := map[string]string{}
	for id, result := range listed {
		names[id] = result.DisplayName
		imported, _ := p.ImportState(coretest.SingleName, id)
		imported, _ = p.Read(imported)
		planned, _, _ := p.Plan(imported, single(id, coretest.FromTerraform(coretest.AttributesOf(imported.Value)["processor_ids"])))
		wantState(t, imported.Value, planned)
		got := coretest.DecodeAs(t, resourceSchema().ValueType(), result.Resource)
		wantEqual(t, id, coretest.FromTerraform(imported.Value), coretest.FromTerraform(got))
	}
	want := map[string]string{"cam-1": "cam-1 (processors: 2)", "cam-2": "cam-2 (processors: 1)", "cam-3": "cam-3 (processors: 0)"}
	wantEqual(t, "display names", want, names)
	for result := range p.List(coretest.Attributes{"stream_ids": []string{"cam-1"}}, false, 100) {
		if result.Resource != nil || len(result.Diagnostics) > 0 {
			t.Errorf("a result without the resource is %+v", result)
		}
	}
}

// Streams that do not exist are a warning, other failures are errors, and the rest is listed. Terraform reads nothing after an error, so
// errors come last.
func TestListFailures(t *testing.T) {
	t.Parallel()
	streams := sameSet(30, "p1")
	service, p := startQuery(t, nil, seeds(streams)...)
	refuse(service, map[string]streamstest.Fault{
		"s003": {Status: http.StatusForbidden, Message: "not yours"}, "s004": {Status: http.StatusNotFound, Body: new("<h1>Not Found</h1>")},
	})
	listed, diags := query(p, 100, append(idsOf(streams), "missing")...)
	if len(listed) != 28 {
		t.Errorf("%d streams are listed, want 28", len(listed))
	}
	wantDiagnostic(t, diags, "WARNING: Stream Not Found", `there is no stream "missing"`)
	wantDiagnostic(t, diags, "ERROR: Unauthorized Error", "not yours")
	wantDiagnostic(t, diags, "ERROR: Resource Not Found Error", "write the resources by hand")
	if len(diags) != 3 {
		t.Errorf("diagnostics: %s", diags)
	}
	failed := false
	for result := range p.List(coretest.Attributes{"stream_ids": idsOf(streams)}, false, 100) {
		if failed {
			t.Error("a result comes after an error")
		}
		failed = coretest.Diagnostics(result.Diagnostics).Failed()
	}

	listed, diags = query(p, 100, append(idsOf(sameSet(80))[30:], "s000")...)
	if len(listed) != 1 {
		t.Errorf("%d streams are listed", len(listed))
	}
	wantDiagnostics(t, diags, "WARNING: Stream Not Found")
	wantDiagnostic(t, diags, "WARNING: Stream Not Found", `"s079": `)
}

// A query sends no request for a stream that is beyond the limit.
func TestListLimit(t *testing.T) {
	t.Parallel()
	streams := sameSet(300, "p1")
	service, p := startQuery(t, nil, seeds(streams)...)
	ids := append([]string{"missing"}, idsOf(streams)...)
	listed, diags := query(p, 100, ids...)
	if len(listed) != 99 || len(diags) != 1 {
		t.Errorf("%d streams are listed, with %s", len(listed), diags)
	}
	service.WantRequests(t, gets(ids[:100]...)...)
}

// An interrupted query ends with an error, also for calls that begin after the interrupt. Requests go out in the order of ids.
func TestListIsInterrupted(t *testing.T) {
	t.Parallel()
	streams := sameSet(20, "p1")
	service, p := startQuery(t, coretest.Attributes{"requests_per_second": 0.1, "max_concurrent_requests": 1}, seeds(streams)...)
	var diags coretest.Diagnostics
	var stopped sync.WaitGroup
	stop := sync.OnceFunc(func() { stopped.Go(p.Interrupt) })
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault { stop(); return nil })
	for result := range p.List(coretest.Attributes{"stream_ids": idsOf(streams)}, false, 100) {
		diags = append(diags, result.Diagnostics...)
	}
	stopped.Wait()
	wantError(t, diags, "ERROR: Operation Interrupted: 19 streams could not be read.")
	service.ForgetRequests()
	if listed, diags := query(p, 100, "s000"); len(listed) > 0 || !diags.Failed() {
		t.Errorf("after the interrupt, %d streams are listed, with %s", len(listed), diags)
	}
	service.WantRequests(t)
}

// Without detect_drift, a query sends nothing. It checks what it gets as the resource does.
func TestListRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range map[string]struct {
		provider coretest.Attributes
		ids      any
		want     string
	}{
		"no detect_drift": {coretest.Attributes{"detect_drift": false}, []string{"cam-1", "cam-2"},
			"Streams Cannot Be Listed: The interface specifies no read"},
		"no configuration": {coretest.Attributes{"base_url": tftypes.UnknownValue}, []string{"cam-1"}, "Provider Configuration Not Known"},
		"a dot":            {nil, []string{"cam-1", ".."}, `".." is not a stream id`},
		"a null":           {nil, []any{"cam-1", nil}, "stream_ids: null is not a stream id: it must not be null"},
		"no list":          {nil, nil, "stream_ids: the list must not be null"},
	} {
		service, p := startQuery(t, test.provider, streamstest.Streams("cam-1", "cam-2")...)
		var diags coretest.Diagnostics
		for result := range p.List(coretest.Attributes{"stream_ids": test.ids}, true, 100) {
			diags = append(diags, result.Diagnostics...)
		}
		wantError(t, diags, test.want)
		service.WantRequests(t)
	}
}
