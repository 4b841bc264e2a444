package provider_test

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// A group is imported by the ids of its streams. Each stream is read once, and the plan of the same group is empty.
func TestImportGroup(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{
		"JSON": `["cam-1", "cam 2", "cam-1"]`, "lines": "cam-1\r\n\n cam 2 \n",
		"JSON of PowerShell": "\ufeff[\"cam-1\",\r\n\"cam 2\"]\r\n", "lines of PowerShell": "\ufeffcam-1\r\ncam 2\r\n",
	} {
		service, r := startRun(t, nullGroup().Value, detectDrift,
			streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p2", "p1"}}, streamstest.Stream{ID: "cam 2"})
		var diags coretest.Diagnostics
		r.state, diags = startProvider(t, r.provider).ImportState(coretest.GroupName, id)
		if diags = append(diags, r.refresh()...); len(diags) > 0 {
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

// An id that cannot be that of streams is not imported, and nothing is sent. A group needs detect_drift.
func TestImportRefused(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
	for _, test := range []struct{ typeName, id, want string }{
		{coretest.SingleName, "", `stream_id: "" is not a stream id: it must not be empty.`},
		{coretest.SingleName, ".", `stream_id: "." is not a stream id: it must not be "."`},
		{coretest.SingleName, "..", `must not be ".."`},
		{coretest.SingleName, " cam", "must not begin or end with white space"},
		{coretest.SingleName, "a\tb", "must not have control characters"},
		{coretest.GroupName, " \n", "it has no stream id"},
		{coretest.GroupName, "[]", "it has no stream id"},
		{coretest.GroupName, `["cam-1"`, "JSON"},
		{coretest.GroupName, `[1]`, "JSON"},
		{coretest.GroupName, `["cam-1", ".."]`, `".." is not a stream id`},
		{coretest.GroupName, "cam-1\n\ufeffcam-2", "it must not have a byte order mark (U+FEFF)"},
		{coretest.GroupName, "c\x00a\x00m\x00", "must not have control characters"},
	} {
		_, diags := startProvider(t, coretest.Attributes{"base_url": url, "detect_drift": true}).ImportState(test.typeName, test.id)
		wantError(t, diags, test.want)
	}
	_, diags := startProvider(t, coretest.Attributes{"base_url": url}).ImportState(coretest.GroupName, "cam-1")
	wantDiagnostics(t, diags, "ERROR: Group Cannot Be Imported")
	service.WantRequests(t)
}
