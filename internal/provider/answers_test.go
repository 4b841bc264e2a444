package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// oddAnswers are successes that are not the stream that was asked for, and what the error says of each.
func oddAnswers() map[string]struct {
	fault streamstest.Fault
	says  string
} {
	type odd = struct {
		fault streamstest.Fault
		says  string
	}
	answers := map[string]odd{
		"login page": {streamstest.Fault{
			Body: new("<html><h1>Sign in</h1></html>"), Header: http.Header{"Content-Type": {"text/html"}},
		}, "<h1>Sign in</h1>"},
		"204":         {streamstest.Fault{Status: 204, Apply: true}, "no body"},
		"empty":       {streamstest.Fault{Body: new("")}, "no body"},
		"null":        {streamstest.Fault{Body: new("null")}, "not a JSON object"},
		"list":        {streamstest.Fault{Body: new("[]")}, "not a JSON object"},
		"binary":      {streamstest.Fault{Body: new("\xff\xfe\x00")}, "not UTF-8"},
		"acceptance":  {streamstest.Fault{Status: 202, Apply: true, Body: new(`{"message":"queued"}`)}, "queued"},
		"other id":    {streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ID = "another" }}, `about another stream, "another"`},
		"missing all": {streamstest.Fault{Body: new("{}")}, "terminal_id is missing, fragment_type_id is missing"},
	}
	for field, kind := range map[string]string{
		"id": "a string", "terminal_id": "a string", "fragment_type_id": "a string",
		"processor_ids": "an array of strings", "last_edited": "an integer", "compatible_namespaces": "an array of strings",
	} {
		answers["no "+field] = odd{streamstest.Fault{EditJSON: func(m map[string]any) { delete(m, field) }}, field + " is missing"}
		answers["null "+field] = odd{streamstest.Fault{EditJSON: func(m map[string]any) { m[field] = nil }}, field + " is not " + kind}
		answers["wrong "+field] = odd{streamstest.Fault{EditJSON: func(m map[string]any) { m[field] = []any{1.5} }}, field + " is not " + kind}
	}
	return answers
}

// A success that is not a stream says nothing: it is not saved, and not believed either.
func TestAccOddAnswers(t *testing.T) {
	t.Parallel()
	answers := oddAnswers()
	broken, once := map[string]streamstest.Fault{}, map[string]int{}
	for name, odd := range answers {
		broken[name], once[name] = odd.fault, 1
	}
	ids := slices.Sorted(maps.Keys(answers))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, many(ids, `processor_ids = ["p1"]`))

	wantErrors := func() {
		t.Helper()
		service.InjectFunc(faults(broken))
		got := errorsByAddress(w)
		for name, odd := range answers {
			p := got[each(name)]
			wantIn(t, p.Detail, odd.says, "Something else than the service may have answered")
			if p.Summary != "Error" || !strings.HasSuffix(p.Detail, inDoubt) {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if diff := cmp.Diff(once, asked(service)); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		service.InjectFunc(nil)
	}
	wantErrors()
	if left := w.resources(); len(left) > 0 {
		t.Errorf("a create without a stream is in the state: %v", left)
	}
	w.mustApply()
	before := w.resources()
	service.ForgetRequests()

	w.write(many(ids, `processor_ids = ["p2"]`))
	wantErrors()
	wantUntouched(w, before)
	w.wantPlanned(all(ids, updatePlanned))
	w.mustApply()
	w.wantNoChanges()
}

// What is odd but valid: more fields, another order, repetitions, a number in another spelling.
func TestAccTolerableAnswers(t *testing.T) {
	t.Parallel()
	broken := map[string]streamstest.Fault{
		"more fields": {EditJSON: func(m map[string]any) { m["owner"], m["nested"] = "x", map[string]any{"a": nil} }},
		"order":       {Edit: func(s *streamstest.Stream) { slices.Reverse(s.ProcessorIDs) }},
		"repetition":  {Edit: func(s *streamstest.Stream) { s.ProcessorIDs = append(s.ProcessorIDs, s.ProcessorIDs...) }},
		"float":       {EditJSON: func(m map[string]any) { m["last_edited"] = json.Number("1.7672256e+12") }},
		"201":         {Status: 201, Apply: true},
		"text/plain":  {Header: http.Header{"Content-Type": {"text/plain"}}},
		"all empty": {Edit: func(s *streamstest.Stream) {
			s.TerminalID, s.FragmentTypeID, s.CompatibleNamespaces, s.LastEdited = "", "", nil, 0
		}},
	}
	ids := slices.Sorted(maps.Keys(broken))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service.InjectFunc(faults(broken))
	w := newWorkspace(t, url, "")
	for _, set := range []string{`["p1", "p2"]`, `["p2", "p3"]`} {
		w.write(many(ids, "processor_ids = "+set))
		w.mustApply()
		w.wantNoChanges()
	}
	if got := w.resources()[each("float")].AttributeValues["last_edited"]; got != 1767225600000.0 {
		t.Errorf("last_edited is %v", got)
	}
}

// A valid stream with another set: the stream was changed, but not as asked.
func TestAccAnotherSet(t *testing.T) {
	t.Parallel()
	answers := map[string]struct {
		edit func(*streamstest.Stream) // none: the service merges
		says []string
		kept []any // what an update from p1 to p2, p3 leaves in the state
	}{
		"fewer": {func(s *streamstest.Stream) { s.ProcessorIDs = s.ProcessorIDs[:1] },
			[]string{`did not attach "p3"`}, []any{"p2"}},
		"none": {func(s *streamstest.Stream) { s.ProcessorIDs = nil },
			[]string{`did not attach "p2", "p3"`}, []any{}},
		"more": {func(s *streamstest.Stream) { s.ProcessorIDs = append(s.ProcessorIDs, "p9") },
			[]string{`"p9" beyond what was sent`, "merged the set instead of replacing it"}, []any{"p2", "p3", "p9"}},
		"others": {func(s *streamstest.Stream) { s.ProcessorIDs = []string{"p8"} },
			[]string{`did not attach "p2", "p3"`, `"p8" beyond what was sent`}, []any{"p8"}},
	}
	broken, once := map[string]streamstest.Fault{}, map[string]int{}
	for name, answer := range answers {
		broken[name], once[name] = streamstest.Fault{Edit: answer.edit}, 1
	}
	ids := slices.Sorted(maps.Keys(answers))
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	w := newWorkspace(t, url, many(ids, `processor_ids = ["p2", "p3"]`))
	wantErrors := func() {
		t.Helper()
		service.InjectFunc(faults(broken))
		got := errorsByAddress(w)
		for name, answer := range answers {
			wantIn(t, got[each(name)].Detail, append(answer.says, "may merge sets")...)
			if !strings.HasSuffix(got[each(name)].Detail, "\n\n"+changed) {
				t.Errorf("%s: the last line is not %q: %s", name, changed, got[each(name)].Detail)
			}
		}
		if diff := cmp.Diff(once, asked(service)); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		service.InjectFunc(nil)
	}
	wantErrors()
	if left := w.resources(); len(left) > 0 {
		t.Errorf("a create with another set is in the state: %v", left)
	}
	w.write(many(ids, `processor_ids = ["p1"]`))
	w.mustApply()
	service.ForgetRequests()

	w.write(many(ids, `processor_ids = ["p2", "p3"]`))
	wantErrors()
	for id, r := range w.resources() {
		name := id[len(this)+2 : len(id)-2]
		if diff := cmp.Diff(answers[name].kept, r.AttributeValues["processor_ids"]); diff != "" || r.Tainted {
			t.Errorf("%s: tainted %t, processor_ids in the state (-want +got):\n%s", id, r.Tainted, diff)
		}
	}
	w.wantPlanned(all(ids, updatePlanned))
	w.mustApply()
	w.wantNoChanges()
}

// A service that merges can add, but neither replace nor detach.
func TestAccMergingService(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{Merge: true}, streamstest.Stream{ID: "cam", ProcessorIDs: []string{"p0"}})
	config := func(set string) string { return one("stream_id = \"cam\"\nprocessor_ids = " + set) }
	w := newWorkspace(t, url, config(`["p1"]`))
	r := w.apply()
	wantIn(t, r.text(), `The service reports "p0" beyond what was sent`, "merged", changed)
	if left := w.resources(); len(left) > 0 {
		t.Errorf("the state has %v", left)
	}

	w.write(config(`["p0", "p1"]`))
	w.mustApply()
	w.wantNoChanges()
	w.write(config(`["p0", "p1", "p2"]`))
	w.mustApply()
	w.write(config(`["p2"]`))
	r = w.apply()
	wantIn(t, r.text(), `The service reports "p0", "p1" beyond what was sent`, changed)

	r = w.apply("-destroy")
	if r.code != 1 {
		t.Errorf("destroy: %v", r)
	}
	wantIn(t, r.text(), "could not be detached", `"p0", "p1", "p2" beyond what was sent`, `on_destroy = "keep"`)
	if got := w.resources()[this].AttributeValues["processor_ids"]; !cmp.Equal(got, []any{"p0", "p1", "p2"}) {
		t.Errorf("the state has %v", got)
	}
	w.write(one("stream_id = \"cam\"\nprocessor_ids = [\"p0\", \"p1\", \"p2\"]\non_destroy = \"keep\""))
	w.mustApply()
	w.mustApply("-destroy")
}

// A stream that has moved to another terminal is reported once; then the state is right.
func TestAccRelocatedStream(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam")...)
	config := `
resource "stream_processors" "this" {
  stream_id     = "cam"
  processor_ids = [%q]
}
output "place" {
  value = "${stream_processors.this.terminal_id} ${stream_processors.this.fragment_type_id}"
}
`
	w := newWorkspace(t, url, fmt.Sprintf(config, "p1"))
	w.mustApply()
	service.Seed(streamstest.Stream{ID: "cam", TerminalID: "terminal-2", FragmentTypeID: "video", ProcessorIDs: []string{"p1"}})
	w.write(fmt.Sprintf(config, "p2"))
	r, complaints := w.complaints("apply", "-auto-approve")
	if r.code != 1 || len(complaints) != 2 {
		t.Fatalf("apply: %v", r)
	}
	for _, p := range complaints {
		wantIn(t, p.Detail, `from "`, `to "`, `stream "cam"`)
		if !strings.HasSuffix(p.Detail, "\n\n"+changed) {
			t.Errorf("the last line is not %q: %s", changed, p.Detail)
		}
	}
	service.WantAttached(t, "cam", "p2")
	service.ForgetRequests()
	state := w.resources()[this]
	if got := state.AttributeValues; got["terminal_id"] != "terminal-2" || got["fragment_type_id"] != "video" || state.Tainted {
		t.Errorf("the state has %v", got)
	}
	w.mustApply() // the output
	w.wantNoChanges()
	service.WantRequests(t)
}
