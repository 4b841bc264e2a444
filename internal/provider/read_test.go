package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// Every failed read fails a refresh and the plan of a create, and keeps the state, except for the "not found" of the service
// itself. If the service may have no read, the error says to turn detect_drift off. That of a data source has its own advice.
func TestFailedReads(t *testing.T) {
	t.Parallel()
	html := http.Header{"Content-Type": {"text/html"}}
	for name, test := range map[string]struct {
		fault   streamstest.Fault
		want    []string
		noRoute bool
	}{
		"405": {streamstest.Fault{Status: 405}, []string{"Bad Request Error", "405"}, true},
		"404 of a web server": {streamstest.Fault{Status: 404, Body: new("<h1>Not Found</h1>"), Header: html}, []string{"404", "Not Found"},
			true},
		"302": {streamstest.Fault{Status: 302, Header: http.Header{"Location": {"https://login.example.com"}}},
			[]string{"Redirect Refused", "https://login.example.com"}, true},
		"another stream": {streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ID = "cam-7" }}, []string{"another stream", "cam-7"}, true},
		"403":            {streamstest.Fault{Status: 403, Message: "not yours"}, []string{"Unauthorized Error", "not yours"}, true},
		"503": {streamstest.Fault{Status: 503, Message: "busy", Header: http.Header{"X-Request-Id": {"req-4711"}}},
			[]string{"Generic Error", "busy", "Request id: req-4711"}, false},
		"a cut response": {streamstest.Fault{Truncate: true}, []string{"Connection Failed", "incomplete", "→ 200 OK"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, r := startRun(t, nullResource(), detectDrift, streamstest.Streams("cam-1")...)
			wantRefused := func(diags coretest.Diagnostics) {
				t.Helper()
				text := diags.String()
				streamstest.WantText(t, text, append(test.want, `Stream "cam-1" could not be read`, "Nothing was changed by this read.")...)
				if !diags.Failed() || strings.Contains(text, "detect_drift = false") != test.noRoute {
					t.Errorf("want an error, which names detect_drift: %t; got %s", test.noRoute, text)
				}
			}
			refuse(service, map[string]streamstest.Fault{"cam-1": test.fault})
			_, diags := r.plan(cam1("p1"))
			wantRefused(diags)
			service.InjectFunc(nil)
			r.mustApply(cam1("p1"))
			before := r.state.Value
			refuse(service, map[string]streamstest.Fault{"cam-1": test.fault})
			failed := r.refresh()
			wantRefused(failed)
			wantState(t, before, r.state)
			for _, typeName := range []string{coretest.SingleName, coretest.GroupName} {
				_, diags := read(startProvider(t, r.provider), typeName, "cam-1")
				_, want, _ := strings.Cut(failed.String(), "\n\n") // before, there may be the ports of a connection
				want = strings.NewReplacer(withoutReads, withoutDataSource, " To plan or destroy without reads, add -refresh=false.", "").Replace(want)
				if _, got, _ := strings.Cut(diags.String(), "\n\n"); got != want || !diags.Failed() {
					t.Errorf("%s: %s\nwant %s", typeName, diags, want)
				}
			}
		})
	}
}

// With detect_drift, the plan of a create reads the stream if its id is known, and compares the sets if they are known.
func TestPlanOfACreateReads(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), detectDrift, streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p9"}})
	wantPlan := func(config tftypes.Value, warnings int, requests ...string) {
		t.Helper()
		if _, diags := r.plan(config); diags.Failed() || len(diags) != warnings {
			t.Errorf("%v: want %d warnings, got %s", coretest.FromTerraform(config), warnings, diags)
		}
		service.WantRequests(t, requests...)
	}
	wantPlan(cam1("p1"), 1, "GET /v2/streams/cam-1")
	wantPlan(cam1("p1", "p9"), 0, "GET /v2/streams/cam-1")
	wantPlan(single("cam-1", []any{"p1", tftypes.UnknownValue}), 0, "GET /v2/streams/cam-1")
	wantPlan(single(tftypes.UnknownValue, []string{"p1"}), 0)
	if _, diags := r.plan(single("missing", []string{"p1"})); !diags.Failed() {
		t.Error("the plan of a create on a missing stream succeeds")
	}
}

// With detect_drift, a refresh reads each stream, and the plan of a create reads the streams that it takes over. A stream
// that is gone does not keep the others of its group from being sent.
func TestGroupDrift(t *testing.T) {
	t.Parallel()
	streams := sameSet(3, "p1")
	service, r := startRun(t, nullGroup().Value, detectDrift, seeds(streams)...)
	service.Seed(streamstest.Stream{ID: "s000", ProcessorIDs: []string{"p9"}})
	planned, _ := r.planAndApply(group(streams, nil))
	wantDiagnostics(t, planned, `WARNING: Processors Will Be Detached: stream "s000"`)
	service.Seed(streamstest.Stream{ID: "s001", ProcessorIDs: []string{"p2"}})
	service.Remove("s002")
	service.ForgetRequests()
	wantDiagnostics(t, r.refresh(), "WARNING: Stream Is Gone")
	service.WantRequests(t, "GET /v2/streams/s000", "GET /v2/streams/s001", "GET /v2/streams/s002")
	r.wantStreams(map[string][]string{"s000": {"p1"}, "s001": {"p2"}})

	// The others of the group are sent, also in the apply, which is another process.
	planned, applied := r.planAndApply(group(sameSet(3, "p2"), nil))
	wantDiagnostic(t, planned, "WARNING: Create Will Fail", `did not find stream "s002"`)
	wantEqual(t, "errors", map[string][]string{"s002": {"Resource Not Found Error"}}, errorsAt(applied))
	r.wantStreams(sameSet(2, "p2"))

	// A stream that does not exist is an error of the plan. A refresh that fails keeps the state.
	planned, _ = r.planAndApply(group(with(streams, "other", "p1"), nil))
	want := map[string][]string{"s002": {"Resource Not Found Error"}, "other": {"Resource Not Found Error"}}
	wantEqual(t, "errors", want, errorsAt(planned))
	refuse(service, map[string]streamstest.Fault{"s000": {Status: 405}})
	after, diags := startProvider(t, r.provider).Read(r.state)
	wantEqual(t, "errors", map[string][]string{"s000": {"Bad Request Error"}}, errorsAt(diags))
	wantDiagnostic(t, diags, "ERROR: Bad Request Error", withoutReads)
	wantState(t, r.state.Value, after)
}

// With detect_drift, a read after an update with an unknown outcome says what the stream has, and nothing is sent again.
func TestReadEndsUnknownOutcome(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *deploymentTest) {
		refuseBoth(d.former, streamstest.Fault{ResetAfter: true})
		d.at(d.formerURL).mustFail(d.config("p2", nil))
		refuse(d.former, nil)
		d.former.Configure(func(o *streamstest.Options) { o.ServeGet = true })
		d.provider["detect_drift"] = true
		wantDiagnostics(t, d.refresh())
		d.wantNoChanges(d.config("p2", nil))
		d.former.ForgetRequests()
	})
}

// An imported stream that does not exist is an error with the service's message. Later, a stream that is gone leaves the state.
func TestImportOfMissingStreams(t *testing.T) {
	t.Parallel()
	for typeName, id := range map[string]string{coretest.SingleName: "missing", coretest.GroupName: "cam-1\nmissing"} {
		service, p := startQuery(t, nil, streamstest.Streams("cam-1")...)
		imported, _ := p.ImportState(typeName, id)
		refuse(service, map[string]streamstest.Fault{"missing": {Status: 405}})
		_, failed := p.Read(imported)
		wantDiagnostic(t, failed, "ERROR: Bad Request Error",
			map[string]string{coretest.SingleName: withoutReads, coretest.GroupName: withoutGroupImport}[typeName])
		service.InjectFunc(nil)
		got, diags := p.Read(imported)
		if got.Value.IsNull() {
			t.Errorf("%s: Terraform reports the missing stream itself", typeName)
		}
		wantDiagnostic(t, diags, "ERROR: Resource Not Found Error", `there is no stream "missing"`)
		service.Seed(streamstest.Streams("missing")...)
		got, diags = p.Read(imported)
		if len(diags) > 0 || got.Value.IsNull() {
			t.Errorf("%s: %s", typeName, diags)
		}
		service.Remove("missing")
		_, diags = p.Read(got)
		wantDiagnostics(t, diags, "WARNING: Stream Is Gone")
	}
}

// A 404 drops a stream only where reads are proven: gateways answer unknown routes in the same form. A read of the same resource
// must have returned a stream at this address, in the same call or before; those of other resources do not count. Otherwise, the
// error says what to do in both cases, and a destroy without a refresh does it.
func TestNotFoundWhereReadsAreNotProven(t *testing.T) {
	t.Parallel()
	for _, ids := range [][]string{{"cam-1"}, {"cam-1", "cam-2"}} {
		null, configs := nullResource(), func(set ...string) tftypes.Value { return cam1(set...) }
		if len(ids) > 1 {
			null = nullGroup().Value
			configs = func(set ...string) tftypes.Value {
				return group(map[string][]string{"cam-1": set, "cam-2": set}, nil)
			}
		}
		service, r := startRun(t, null, nil, streamstest.Streams("cam-1", "cam-2", "cam-3")...)
		service.Configure(func(o *streamstest.Options) { o.ServeGet = false })
		noRoute := streamstest.Fault{Status: 404, Message: "Cannot GET /v2/streams/cam-1"}
		unserved := func(ids ...string) {
			service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
				if r.Method == http.MethodGet && slices.Contains(ids, r.StreamID) {
					return &noRoute
				}
				return nil
			})
		}
		r.mustApply(configs("p1"))
		service.Configure(func(o *streamstest.Options) { o.ServeGet = true })
		r.provider = merge(r.provider, detectDrift)
		unserved(ids...)
		wantKept := func() {
			t.Helper()
			before, p := r.state.Value, startProvider(t, r.provider)
			if _, diags := read(p, coretest.SingleName, "cam-3"); diags.Failed() {
				t.Fatal(diags)
			}
			got, diags := p.Read(r.state)
			wantDiagnostics(t, diags, "ERROR: Resource Not Found Error")
			streamstest.WantText(t, diags.String(), noRoute.Message, "detect_drift = false",
				"it has no record of a read of this resource that found a stream at this base_url",
				"-refresh=false", "Nothing was changed by this read.")
			wantState(t, before, got)
		}
		wantKept()
		if len(ids) > 1 { // one stream of a group is enough, whichever is read first
			for _, gone := range ids {
				unserved(gone)
				_, diags := startProvider(t, r.provider).Read(r.state)
				wantDiagnostics(t, diags, "WARNING: Stream Is Gone")
			}
		}
		unserved()
		r.refresh()
		r.mustApply(configs("p2")) // an update keeps what is proven
		unserved(ids...)
		got, diags := startProvider(t, r.provider).Read(r.state)
		wantDiagnostic(t, diags, "WARNING: Stream Is Gone", "detect_drift = false")
		if len(ids) == 1 && !got.Value.IsNull() {
			t.Errorf("the stream stays in the state: %v", coretest.FromTerraform(got.Value))
		}

		// At another address of the deployment, nothing is proven: it may be wrong.
		address := r.provider["base_url"]
		r.provider["deployment"], r.provider["base_url"] = address, strings.Replace(fmt.Sprint(address), "127.0.0.1", "localhost", 1)
		wantKept()
		unserved()
		r.refresh()
		unserved(ids...)
		_, diags = startProvider(t, r.provider).Read(r.state)
		wantDiagnostic(t, diags, "WARNING: Stream Is Gone", "")
		r.provider["base_url"] = address
		wantKept()

		// The read of the plan of a create proves reads, too. What is really gone is destroyed without a refresh.
		unserved()
		r.state = coretest.Managed{Value: null}
		r.mustApply(configs("p1"))
		unserved(ids...)
		wantDiagnostic(t, r.refresh(), "WARNING: Stream Is Gone", "")
		for _, id := range ids {
			service.Remove(id)
		}
		planned, applied := r.planAndApply(r.null())
		if planned.Failed() || applied.Failed() {
			t.Errorf("%s %s", planned, applied)
		}
	}
}

// With deployment set, an address whose gateway responds to every path in the form of the service takes nothing out of a state. Neither
// does a private state of a version that recorded the name of the deployment, which may be an address.
func TestWrongPathOfADeployment(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]tftypes.Value{"single": cam1("p1"), "group": group(map[string][]string{"cam-1": {"p1"}}, nil)} {
		_, r := startRun(t, tftypes.NewValue(config.Type(), nil), detectDrift, streamstest.Streams("cam-1")...)
		address := fmt.Sprint(r.provider["base_url"])
		wrong := address + "/wrong"
		r.provider["deployment"] = wrong
		r.mustApply(config)
		r.refresh()
		wantKept := func() {
			t.Helper()
			r.provider["base_url"] = wrong
			before := r.state.Value
			wantDiagnostic(t, r.refresh(), "ERROR: Resource Not Found Error", "there is no route at this path")
			wantState(t, before, r.state)
			if t.Failed() {
				t.Fatal(name)
			}
		}
		wantKept()
		r.state.Private, _ = json.Marshal(map[string][]byte{"all": fmt.Appendf(nil, `{"read_at":%q}`, wrong)})
		wantKept()
		r.provider["base_url"] = address + "/v2/"
		wantDiagnostics(t, r.refresh())
	}
}
