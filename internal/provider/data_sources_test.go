package provider

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// read reads streams with one data source; stream_processors has only one.
func read(p *coretest.Process, typeName string, ids ...string) (map[string]any, coretest.Diagnostics) {
	p.T.Helper()
	config := coretest.Attributes{"stream_id": ids[0]}
	if typeName == coretest.GroupName {
		config = coretest.Attributes{"stream_ids": ids}
	}
	got, diags := p.ReadData(typeName, config)
	attributes, _ := got.(map[string]any)
	return attributes, diags
}

// A data source has what an import and a refresh read into the state of the resource: one request for each stream.
func TestDataSources(t *testing.T) {
	t.Parallel()
	service, p := startQuery(t, coretest.Attributes{"deployment": "north"}, streamstest.Stream{
		ID: "a/b c", TerminalID: "t-1", FragmentTypeID: "image/jpg", ProcessorIDs: []string{"p2", "p1"},
		LastEdited: 1700000000123, CompatibleNamespaces: []string{"acme.ptz", "acme.camera"},
	}, streamstest.Stream{ID: "cam-2"})
	wantRead := func(typeName string, config coretest.Attributes, want map[string]any, requests ...string) {
		t.Helper()
		got, diags := p.ReadData(typeName, config)
		wantDiagnostics(t, diags)
		wantEqual(t, typeName, any(want), got)
		service.WantRequests(t, requests...)
	}
	wantRead(coretest.SingleName, coretest.Attributes{"stream_id": "a/b c", "timeouts": coretest.Attributes{"read": "30s"}}, map[string]any{
		"stream_id": "a/b c", "id": "a/b c", "terminal_id": "t-1", "fragment_type_id": "image/jpg",
		"processor_ids": []string{"p1", "p2"}, "compatible_namespaces": []string{"acme.camera", "acme.ptz"},
		"last_edited": "1700000000123", "deployment": "north", "timeouts": map[string]any{"read": "30s"},
	}, "GET /v2/streams/a%2Fb%20c")

	imported, _ := p.ImportState(coretest.GroupName, `["a/b c", "cam-2"]`)
	imported, _ = p.Read(imported)
	service.ForgetRequests()
	wantRead(coretest.GroupName, coretest.Attributes{"stream_ids": []string{"cam-2", "a/b c"}}, map[string]any{
		"stream_ids": []string{"a/b c", "cam-2"}, "deployment": "north", "timeouts": nil,
		"streams": coretest.FromTerraform(coretest.AttributesOf(imported.Value)["streams"]),
	}, "GET /v2/streams/a%2Fb%20c", "GET /v2/streams/cam-2")
	wantRead(coretest.GroupName, coretest.Attributes{"stream_ids": []string{}}, map[string]any{
		"stream_ids": []string{}, "streams": map[string]any{}, "deployment": "north", "timeouts": nil,
	})
}

// Without detect_drift, or while the configuration is not known, a data source is one error and sends nothing.
func TestDataSourcesRefuse(t *testing.T) {
	t.Parallel()
	for want, provider := range map[string]coretest.Attributes{
		"Streams Cannot Be Read: The interface specifies no read": {"detect_drift": false},
		"Provider Configuration Not Known: The streams could not": {"base_url": tftypes.UnknownValue},
	} {
		service, p := startQuery(t, provider, streamstest.Streams("cam-1", "cam-2")...)
		for _, typeName := range []string{coretest.SingleName, coretest.GroupName} {
			_, diags := read(p, typeName, "cam-1", "cam-2")
			wantError(t, diags, want)
		}
		service.WantRequests(t)
	}
}

// A stream that does not exist is an error that names it. A group names the first streams, and counts the others.
func TestDataSourcesOfMissingStreams(t *testing.T) {
	t.Parallel()
	service, p := startQuery(t, nil, streamstest.Streams("cam-1")...)
	for _, typeName := range []string{coretest.SingleName, coretest.GroupName} {
		_, diags := read(p, typeName, "missing", "cam-1")
		wantError(t, diags, `ERROR: Resource Not Found Error: Stream "missing" could not be read.`)
	}
	service.ForgetRequests()
	missing := idsOf(sameSet(50))
	_, diags := read(p, coretest.GroupName, append(missing, "cam-1")...)
	service.WantRequests(t, gets(append(missing, "cam-1")...)...)
	for i, d := range diags[:shownStreams] {
		if !strings.Contains(d.Detail, missing[i]) || d.Attribute.String() != `AttributeName("stream_ids")` {
			t.Errorf("error %d is %s at %s", i, d.Detail, d.Attribute)
		}
	}
	wantDiagnostic(t, diags, "ERROR: Streams Failed",
		`Streams with errors: 50 (50 × Resource Not Found Error). Not shown above: "s020", "s021"`)
	wantDiagnostic(t, diags, "ERROR: Streams Failed", `"s048", "s049".`) // all in one round
	if len(diags) != shownStreams+1 {
		t.Errorf("%d diagnostics", len(diags))
	}
}

// A data source says what a refresh says, but never to turn reads off: without reads, it says to turn them on.
func TestDataSourcesFailAsARefresh(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]streamstest.Fault{
		"401":            {Status: http.StatusUnauthorized, Message: "who are you"},
		"no read":        {Status: http.StatusMethodNotAllowed},
		"a web page":     {Body: new("<h1>Welcome\x1b[2J</h1>")},
		"another stream": {Edit: func(s *streamstest.Stream) { s.ID = "cam-2" }},
	} {
		service, p := startQuery(t, nil, streamstest.Streams("cam-1")...)
		imported, _ := p.ImportState(coretest.SingleName, "cam-1")
		refuse(service, map[string]streamstest.Fault{"cam-1": fault})
		_, diags := p.Read(imported)
		want := strings.ReplaceAll(diags.String(), withoutReads, withoutDataSource)
		for _, typeName := range []string{coretest.SingleName, coretest.GroupName} {
			if _, diags := read(p, typeName, "cam-1"); !diags.Failed() || diags.String() != want {
				t.Errorf("%s: %s says\n%s\nin place of\n%s", name, typeName, diags, want)
			}
		}
	}
}

// Reads keep to max_concurrent_requests and to the time limit, and an interrupt ends them.
func TestDataSourcesAreBounded(t *testing.T) {
	t.Parallel()
	config, ids := coretest.Attributes{"max_concurrent_requests": 2, "request_timeout": "5m"}, idsOf(sameSet(20))
	service, p := startQuery(t, config, streamstest.Streams(ids...)...)
	var running, most atomic.Int32
	together := make(chan struct{})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
		return &streamstest.Fault{Edit: func(*streamstest.Stream) {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer running.Add(-1)
			select { // the requests meet in pairs
			case together <- struct{}{}:
			case <-together:
			case <-ctx.Done():
			}
		}}
	})
	if _, diags := read(p, coretest.GroupName, ids...); len(diags) > 0 || most.Load() != 2 {
		t.Errorf("%d requests at the same time, with %s", most.Load(), diags)
	}

	service.InjectFunc(func(streamstest.Request) *streamstest.Fault { return &streamstest.Fault{Delay: patience} })
	limit := coretest.Attributes{"read": "20ms"}
	_, diags := p.ReadData(coretest.SingleName, coretest.Attributes{"stream_id": "s000", "timeouts": limit})
	wantDiagnostic(t, diags, "ERROR: Timeout Error", "")
	_, diags = p.ReadData(coretest.GroupName, coretest.Attributes{"stream_ids": ids, "timeouts": limit})
	wantDiagnostic(t, diags, "ERROR: Timeout Error", `Stream "s019" could not be read.`)

	service.InjectFunc(func(streamstest.Request) *streamstest.Fault {
		p.Interrupt()
		return &streamstest.Fault{Status: http.StatusServiceUnavailable}
	})
	service.ForgetRequests()
	_, diags = read(p, coretest.GroupName, ids...)
	wantDiagnostic(t, diags, "ERROR: Operation Interrupted", "")
	if sent := len(service.DrainRequests()); sent > 2 {
		t.Errorf("%d requests are sent after the interrupt", sent)
	}
}

func TestDataSourceValidation(t *testing.T) {
	t.Parallel()
	p := newProcess(t, NewServer("test", nil)())
	those := func(ids ...any) coretest.Attributes {
		return coretest.Attributes{"stream_ids": append([]any{}, ids...)}
	}
	for _, test := range []struct {
		typeName string
		config   coretest.Attributes
		want     string // "": valid
	}{
		{coretest.SingleName, coretest.Attributes{"stream_id": "a/b %2e ü.."}, ""},
		{coretest.SingleName, coretest.Attributes{"stream_id": tftypes.UnknownValue}, ""},
		{coretest.SingleName, coretest.Attributes{"stream_id": ".."}, `stream_id: ".." is not a stream id`},
		{coretest.SingleName, coretest.Attributes{"stream_id": "a", "timeouts": coretest.Attributes{"read": "-1s"}}, `"30s"`},
		{coretest.GroupName, those(), ""},
		{coretest.GroupName, coretest.Attributes{"stream_ids": tftypes.UnknownValue}, ""},
		{coretest.GroupName, those("cam-1", tftypes.UnknownValue), ""},
		{coretest.GroupName, those("cam-1", " cam-2"), `stream_ids: " cam-2" is not a stream id`},
		{coretest.GroupName, those("cam-1", nil), "stream_ids: a stream id must not be null."},
	} {
		diags := p.ValidateData(test.typeName, test.config)
		if test.want == "" {
			wantDiagnostics(t, diags)
			continue
		}
		wantError(t, diags, test.want)
	}
}

// A data source claims nothing: in the same session, a resource gives the stream another set, or leaves the stream.
func TestDataSourcesClaimNothing(t *testing.T) {
	t.Parallel()
	seed := streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p9"}}
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, seed)
	state, attached := coretest.Managed{Value: nullResource()}, []string{"p9"}
	for _, test := range []struct {
		config tftypes.Value
		want   []string
	}{{cam1("p1"), []string{"p1"}}, {nullResource(), []string{}}} {
		config := coretest.Attributes{"base_url": url, "detect_drift": true}
		p := startProvider(t, config)
		wantRead := func(want []string) {
			t.Helper()
			single, _ := read(p, coretest.SingleName, "cam-1")
			group, _ := read(p, coretest.GroupName, "cam-1")
			wantEqual(t, "read", []any{want, map[string]any{"cam-1": want}}, []any{single["processor_ids"], group["streams"]})
		}
		wantRead(attached)
		planned, _, diags := p.Plan(state, test.config)
		if diags.Failed() {
			t.Fatal(diags)
		}
		p = startProvider(t, config)
		wantRead(attached)
		state, diags = p.Apply(state.Value, planned, test.config)
		if diags.Failed() {
			t.Error(diags)
		}
		service.WantAttached(t, "cam-1", test.want...)
		wantRead(test.want)
		attached = test.want
	}
}
