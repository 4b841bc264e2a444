package provider_test

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

var refusing = coretest.Attributes{"on_create": "refuse"}

func refusing1(stream any, processors ...string) tftypes.Value {
	return resourceValue(merge(coretest.Attributes{"stream_id": stream, "processor_ids": append([]string{}, processors...)}, refusing))
}

// wantRefused fails the test unless there is one error, which names the processors that would be detached.
func wantRefused(t *testing.T, diags coretest.Diagnostics, processors string) {
	t.Helper()
	diags = errorsOf(diags)
	wantError(t, diags, "Processors Would Be Detached")
	streamstest.WantText(t, diags.String(), processors)
}

func errorsOf(diags coretest.Diagnostics) (errors coretest.Diagnostics) {
	for _, d := range diags {
		if (coretest.Diagnostics{d}).Failed() {
			errors = append(errors, d)
		}
	}
	return errors
}

// A plan that adds a stream to a group fails if the stream has other processors. Streams of the state are not read again.
func TestRefusesOtherProcessors(t *testing.T) {
	t.Parallel()
	streams := sameSet(3, "p1")
	service, r := startRun(t, nullGroup().Value, detectDrift, seeds(streams)...)
	r.mustApply(group(without(streams, "s001", "s002"), refusing))
	service.Seed(streamstest.Stream{ID: "s001", ProcessorIDs: []string{"p9"}})
	service.Seed(streamstest.Stream{ID: "s000", ProcessorIDs: []string{"p9"}})
	r.refresh()
	service.ForgetRequests()
	_, diags := r.plan(group(streams, refusing))
	wantRefused(t, diags, `["p9"]`)
	service.WantRequests(t, gets("s001", "s002")...)
	r.mustApply(group(without(streams, "s001"), refusing))
}

// replacement is a replacement as Terraform makes it: the plan refreshes; it shows a tainted object only to the refresh.
type replacement struct {
	*resourceRun
	tainted, unrefreshed, createsFirst bool
}

// run returns the errors of the plan or of the apply. Terraform plans the create again in the apply, with what it knows then.
func (r replacement) run(planned, applied tftypes.Value) (refused coretest.Diagnostics) {
	r.t.Helper()
	p, null := startProvider(r.t, r.provider), coretest.Managed{Value: r.null()}
	prior := r.state
	if !r.unrefreshed {
		prior, _ = p.Read(prior)
	}
	if !r.tainted {
		first, _, diags := p.Plan(prior, planned)
		if null.Private = first.Private; diags.Failed() {
			return diags
		}
	}
	create, _, diags := p.Plan(null, planned)
	if diags.Failed() {
		return diags
	}
	p, null.Private = startProvider(r.t, r.provider), nil
	if r.state = prior; !r.createsFirst {
		if r.state, diags = p.Apply(prior.Value, coretest.Managed{Value: r.null(), Private: create.Private}, r.null()); diags.Failed() {
			return diags
		}
	}
	create, _, diags = p.Plan(null, applied)
	if diags.Failed() {
		return diags
	}
	created, diags := p.Apply(null.Value, create, applied)
	if !diags.Failed() {
		r.state = created
	}
	return diags
}

// A replacement may only add, too: the processors of its own former object count like those of others. The same set or a larger one
// goes through. With another set, the plan fails, and nothing is sent.
func TestRefusalOfAReplacement(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]replacement{
		"-replace": {}, "tainted": {tainted: true}, "-replace -refresh=false": {unrefreshed: true},
		"create_before_destroy": {createsFirst: true}, "tainted, create_before_destroy": {tainted: true, createsFirst: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, run := startRun(t, nullResource(), detectDrift, streamstest.Streams("cam-1")...)
			how := replacement{run, how.tainted, how.unrefreshed, how.createsFirst}
			replace := func(processors ...string) coretest.Diagnostics {
				config := refusing1("cam-1", processors...)
				return errorsOf(how.run(config, config))
			}
			how.mustApply(refusing1("cam-1", "p1"))
			wantDiagnostics(t, replace("p1"))
			wantDiagnostics(t, replace("p1", "p2"))
			service.ForgetRequests()
			wantRefused(t, replace("p2"), `["p1"]`)
			for _, r := range service.Requests() {
				if r.Method != http.MethodGet {
					t.Errorf("a refused plan sent %s", r)
				}
			}
		})
	}
}

// If the set is known after apply, Terraform has destroyed the old object before the create is refused.
func TestRefusalAfterADestroy(t *testing.T) {
	t.Parallel()
	seed := []streamstest.Stream{{ID: "cam-1"}, {ID: "cam-2", ProcessorIDs: []string{"p9"}}}
	service, run := startRun(t, nullResource(), detectDrift, seed...)
	how := replacement{resourceRun: run}
	how.mustApply(refusing1("cam-1", "p1"))
	unknown := merge(coretest.Attributes{"stream_id": "cam-2", "processor_ids": tftypes.UnknownValue}, refusing)
	wantRefused(t, how.run(resourceValue(unknown), refusing1("cam-2", "p1")), `["p9"]`)
	service.WantAttached(t, "cam-1")
	service.WantAttached(t, "cam-2", "p9")
}

// cacheBefore starts a cache that obeys RFC 9111 in front of a service: it keeps each response to a GET, and serves it until a
// request asks for a fresh one.
func cacheBefore(t *testing.T, service http.Handler) (baseURL string) {
	t.Helper()
	var mu sync.Mutex
	kept := map[string]*httptest.ResponseRecorder{}
	cache := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		answer, found := kept[r.URL.Path]
		if !found || r.Method != http.MethodGet || r.Header.Get("Cache-Control") == "no-cache" {
			answer = httptest.NewRecorder()
			service.ServeHTTP(answer, r)
		}
		if r.Method == http.MethodGet {
			kept[r.URL.Path] = answer
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = bytes.NewReader(answer.Body.Bytes()).WriteTo(w)
	}))
	t.Cleanup(cache.Close)
	return cache.URL
}

// A cache in front of the service never shows a plan or a refresh what is no longer true.
func TestCacheInFrontOfTheService(t *testing.T) {
	t.Parallel()
	service, r := startRun(t, nullResource(), detectDrift)
	r.provider["base_url"] = cacheBefore(t, service)
	config := refusing1("cam-1", "p1")
	_, diags := r.plan(config)
	wantDiagnostic(t, diags, "ERROR: Resource Not Found Error", "")

	service.Seed(streamstest.Streams("cam-1")...)
	if _, diags = r.plan(config); diags.Failed() {
		t.Fatal(diags)
	}
	service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"live"}})
	_, diags = r.plan(config) // Terraform plans again in the apply
	wantRefused(t, diags, `["live"]`)

	service.Seed(streamstest.Streams("cam-1")...)
	r.mustApply(config)
	service.Seed(streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p1", "p9"}})
	wantDiagnostics(t, r.refresh())
	wantAttribute(t, r.state, "processor_ids", []string{"p1", "p9"})
}
