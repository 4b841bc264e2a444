package streamstest_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func TestSection2StreamFields(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{KeepLastEdited: true}, streamstest.Stream{
		ID: "cam", TerminalID: "t-7", FragmentTypeID: "image/jpg", LastEdited: 1790000000123,
		CompatibleNamespaces: []string{"ns-1", "ns-2"},
	})
	resp, body := patch(t, url+"/v2/streams/cam", `{"processor_ids":["p2","p1"]}`)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("got %s %s", resp.Status, body)
	}
	want := map[string]any{
		"id": "cam", "terminal_id": "t-7", "fragment_type_id": "image/jpg",
		"processor_ids":         []any{"p2", "p1"},
		"last_edited":           json.Number("1790000000123"),
		"compatible_namespaces": []any{"ns-1", "ns-2"},
	}
	if diff := cmp.Diff(want, decodeObject(t, body)); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}

func TestSection2ArraysAreNeverNull(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Stream{ID: "cam", CompatibleNamespaces: []string{}})
	empty := func(s *streamstest.Stream) { s.ProcessorIDs, s.CompatibleNamespaces = nil, nil }
	for _, step := range []struct {
		method string
		fault  streamstest.Fault
	}{{"GET", streamstest.Fault{}}, {"PATCH", streamstest.Fault{}}, {"PATCH", streamstest.Fault{Edit: empty}}} {
		service.Inject(step.fault)
		_, body := sendChecked(t, newRequest(t, step.method, url+"/v2/streams/cam", `{"processor_ids":[]}`))
		object := decodeObject(t, body)
		for _, field := range []string{"processor_ids", "compatible_namespaces"} {
			if diff := cmp.Diff([]any{}, object[field]); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", step.method, field, diff)
			}
		}
	}
}

func TestSeed(t *testing.T) {
	t.Parallel()
	service := streamstest.New(streamstest.Options{KeepLastEdited: true}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p1", "p1"}})
	first, _ := service.Stream("cam")
	if first.TerminalID == "" || first.FragmentTypeID == "" || first.LastEdited == 0 || len(first.CompatibleNamespaces) == 0 {
		t.Errorf("a field is empty: %+v", first)
	}
	if diff := cmp.Diff([]string{"p1"}, first.ProcessorIDs); diff != "" {
		t.Errorf("processors (-want +got):\n%s", diff)
	}

	service.Seed(streamstest.Stream{ID: "cam", TerminalID: "t-2", ProcessorIDs: []string{"p2"}})
	second, _ := service.Stream("cam")
	if second.LastEdited <= first.LastEdited {
		t.Errorf("Seed changed last_edited from %d to %d", first.LastEdited, second.LastEdited)
	}
	want := first
	want.TerminalID, want.ProcessorIDs, want.LastEdited = "t-2", []string{"p2"}, second.LastEdited
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("seeded again (-want +got):\n%s", diff)
	}

	full := streamstest.Stream{
		ID: "cam", TerminalID: "t-3", FragmentTypeID: "f-3", LastEdited: 3,
		ProcessorIDs: []string{}, CompatibleNamespaces: []string{},
	}
	service.Seed(full)
	third, _ := service.Stream("cam")
	if diff := cmp.Diff(full, third); diff != "" {
		t.Errorf("seeded in full (-want +got):\n%s", diff)
	}
}

func TestStreamReturnsCopy(t *testing.T) {
	t.Parallel()
	ids := []string{"p1"}
	service := streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "cam", ProcessorIDs: ids, CompatibleNamespaces: []string{"ns"}})
	ids[0] = "changed"
	stream, _ := service.Stream("cam")
	stream.ProcessorIDs[0], stream.CompatibleNamespaces[0] = "changed", "changed"
	stream, _ = service.Stream("cam")
	if stream.ProcessorIDs[0] != "p1" || stream.CompatibleNamespaces[0] != "ns" {
		t.Errorf("the stream of the service changed: %+v", stream)
	}
	if stream, ok := service.Stream("other"); ok {
		t.Errorf("an unknown stream exists: %+v", stream)
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	service := streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p1"}, LastEdited: 7})
	service.Edit("cam", func(s *streamstest.Stream) { s.TerminalID = "t-2" })
	got, _ := service.Stream("cam")
	if got.TerminalID != "t-2" || got.LastEdited <= 7 || !slices.Equal(got.ProcessorIDs, []string{"p1"}) {
		t.Errorf("the stream is %+v", got)
	}
	service.Edit("other", func(*streamstest.Stream) { t.Error("a stream that does not exist was edited") })
	if _, ok := service.Stream("other"); ok {
		t.Error("Edit added a stream")
	}
}
