package acceptance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestAccDeployment takes one stream from create to destroy. On a real deployment, of which only the interface document
// is known, the test logs the steps that the service refuses and leaves them out. In every step, the provider must
// report what the service said.
func TestAccDeployment(t *testing.T) {
	t.Parallel()
	d, _ := realDeployment()
	if d == nil {
		_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
		d = &deployment{"cam-1", []string{"p1", "p2", "p3"}, false, []string{"STREAM_BASE_URL=" + url}}
	}
	l := newLifecycle(t, d)
	defer l.detachAfterFailure()
	all := d.processorIDs

	if r := l.applySet("create", all, ""); !r.ok {
		if r.stream == nil {
			l.Fatalf("the deployment did not take the first update. Check its address, the credentials, STREAM_ACC_STREAM_ID "+
				"and STREAM_ACC_PROCESSOR_IDS.\n%v", r)
		}
		l.Skipf("the deployment reports that the stream has %q when it is given %q, so no set of it can be confirmed. "+
			"If it merges sets, detach what else is there.", r.stream.ProcessorIDs, all)
	}
	l.wantEmptyPlan("plan after create", all, "")
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	l.wantEmptyPlan("other order, ids repeated", append(reversed, all...), "")
	l.applyWithoutUpdate("on_destroy and timeouts alone", all, "on_destroy = \"keep\"\n  timeouts = { update = \"4m\" }")

	if len(all) == 1 {
		l.Log("STREAM_ACC_PROCESSOR_IDS has one id: there is no smaller set to try")
	} else if r := l.applySet("smaller set", all[:1], ""); r.ok {
		l.wantEmptyPlan("plan after update", all[:1], "")
		l.mustApplySet("the whole set again", all, "")
	} else {
		l.logRefusal(r, "the deployment merges sets, or refuses a smaller one")
	}
	const trigger = `triggers = { run = "1" }`
	l.mustApplySet("trigger", all, trigger)
	l.importElsewhere(all, trigger)

	r := l.applySet("empty set", nil, trigger)
	if r.ok {
		l.wantEmptyPlan("plan after the empty set", nil, trigger)
		l.mustApplySet("the whole set once more", all, trigger)
	} else {
		l.logRefusal(r, "the deployment merges sets, or refuses an empty one, so no destroy can detach")
	}
	if r.ok && !d.keepProcessors {
		l.destroy("destroy that detaches", 1)
		return
	}
	l.applyWithoutUpdate("on_destroy = keep", all, trigger+"\n  on_destroy = \"keep\"")
	l.destroy("destroy that keeps", 0)
	l.Logf("stream %q keeps the processors %q", d.streamID, all)
}

// lifecycle is a workspace with one resource. It reads the requests in the log of the provider, because a real
// deployment does not show them.
type lifecycle struct {
	*testing.T
	*workspace
	d   *deployment
	log string
}

func newLifecycle(t *testing.T, d *deployment) *lifecycle {
	t.Helper()
	w := newWorkspaceAnywhere(t, "")
	w.setenvs(d.environment...)
	l := &lifecycle{t, w, d, filepath.Join(w.dir, "log")}
	w.setenv("TF_LOG", "JSON")
	w.setenv("TF_LOG_PATH", l.log)
	return l
}

// attempt is one request, as the provider logs it.
type attempt struct {
	Message  string `json:"@message"`
	Method   string
	URL      string
	Status   int
	Attempt  int
	Request  string
	Response string
}

// step is a command and the attempts that the provider made meanwhile.
type step struct {
	result
	ok       bool
	attempts []attempt
	stream   *streamstest.Stream // in the response to the last update, or nil
}

// updates counts the updates. All attempts of an update count once.
func (s step) updates() (n int) {
	for _, a := range s.attempts {
		if a.Method == "PATCH" && a.Attempt == 1 {
			n++
		}
	}
	return n
}

// runLogged runs a command and checks that the provider sends nothing that it may not send.
func (l *lifecycle) runLogged(args ...string) step {
	l.t.Helper()
	if err := os.Remove(l.log); err != nil && !errors.Is(err, os.ErrNotExist) {
		l.Fatal(err)
	}
	s := step{result: l.run(args...)}
	log, err := os.ReadFile(l.log)
	if err != nil {
		l.Fatal(err)
	}
	for line := range bytes.Lines(log) {
		var a attempt
		if json.Unmarshal(line, &a) != nil {
			continue
		}
		switch a.Message {
		case "stream service request":
			s.attempts = append(s.attempts, a)
		case "stream service bodies":
			last := &s.attempts[len(s.attempts)-1]
			last.Request, last.Response = a.Request, a.Response
		}
	}
	drift := slices.ContainsFunc(l.d.environment, func(entry string) bool { return strings.HasPrefix(entry, "STREAM_DETECT_DRIFT=") })
	for _, a := range s.attempts {
		isStream := strings.HasSuffix(a.URL, "/v2/streams/"+url.PathEscape(l.d.streamID))
		isToken := a.Method == "POST"
		isRead, isUpdate := isStream && drift && a.Method == "GET", isStream && a.Method == "PATCH"
		if !isToken && !isRead && !isUpdate {
			l.Errorf("%s sent %s %s", args[0], a.Method, a.URL)
		}
		if a.Method != "PATCH" {
			continue
		}
		var stream streamstest.Stream
		if s.stream = nil; a.Status/100 == 2 && json.Unmarshal([]byte(a.Response), &stream) == nil && stream.ID == l.d.streamID {
			s.stream = &stream
		}
	}
	return s
}

// configure writes the configuration: the set, and more lines of the resource.
func (l *lifecycle) configure(set []string, lines string) {
	l.t.Helper()
	l.writeConfig(fmt.Sprintf("resource \"stream_processors\" \"this\" {\n  stream_id     = %s\n  processor_ids = %s\n  %s\n}\n",
		hclString(l.d.streamID), hclList(set), lines))
}

// applySet applies a set and compares the state with the responses.
func (l *lifecycle) applySet(name string, set []string, lines string) step {
	l.t.Helper()
	l.configure(set, lines)
	before := l.stateValues()
	s := l.runLogged("apply", "-auto-approve", "-input=false", "-no-color")
	s.ok = s.code == 0
	after := l.stateValues()
	switch {
	case s.updates() > 1 || s.ok && s.updates() == 0:
		l.Fatalf("%s: %d updates instead of one: %v", name, s.updates(), s)
	case s.ok && s.stream == nil:
		l.Fatalf("%s: a success without a successful response: %v", name, s)
	case s.ok:
		l.wantValues(name, s.stream, after)
		if got := s.stream.ProcessorIDs; !cmp.Equal(setOf(got), setOf(set)) {
			l.Fatalf("%s: a success, but the deployment says %q: %v", name, got, s)
		}
	case before == nil:
		if after != nil {
			l.Fatalf("%s: it failed, but the state has %v: %v", name, after, s)
		}
	case s.stream != nil:
		l.wantValues(name, s.stream, after)
	default:
		if diff := cmp.Diff(before, after); diff != "" {
			l.Fatalf("%s: it failed, but the state is another (-before +after):\n%s\n%v", name, diff, s)
		}
	}
	if !s.ok {
		if p := l.runLogged("plan", "-input=false", "-no-color", "-detailed-exitcode"); p.code != 2 || p.updates() > 0 ||
			strings.Contains(p.text(), "tainted") {
			l.Fatalf("%s: it failed, but the next plan does not do just that again: %v", name, p)
		}
	}
	return s
}

func (l *lifecycle) mustApplySet(name string, set []string, lines string) {
	l.t.Helper()
	if s := l.applySet(name, set, lines); !s.ok {
		l.Fatalf("%s: the deployment has taken this set before: %v", name, s)
	}
}

// logRefusal logs that the deployment refuses a step.
func (l *lifecycle) logRefusal(s step, what string) {
	l.t.Helper()
	for _, a := range s.attempts {
		if a.Method == "PATCH" {
			what += fmt.Sprintf("\n%s was answered %d: %s", a.Request, a.Status, a.Response)
		}
	}
	l.Log(what)
}

// wantEmptyPlan fails the test unless a plan has no changes and sends no update.
func (l *lifecycle) wantEmptyPlan(name string, set []string, lines string) {
	l.t.Helper()
	l.configure(set, lines)
	if s := l.runLogged("plan", "-input=false", "-no-color", "-detailed-exitcode"); s.code != 0 || s.updates() > 0 {
		l.Fatalf("%s: %v", name, s)
	}
}

// applyWithoutUpdate fails the test unless an apply succeeds and sends no update.
func (l *lifecycle) applyWithoutUpdate(name string, set []string, lines string) {
	l.t.Helper()
	l.configure(set, lines)
	if s := l.runLogged("apply", "-auto-approve", "-input=false", "-no-color"); s.code != 0 || s.updates() > 0 {
		l.Fatalf("%s: %v", name, s)
	}
	l.wantEmptyPlan(name, set, lines)
}

// importElsewhere imports the stream into another state, and applies the set that the stream has.
func (l *lifecycle) importElsewhere(set []string, lines string) {
	l.t.Helper()
	other := newLifecycle(l.T, l.d)
	other.configure(set, lines)
	if s := other.runLogged("import", "-no-color", "-input=false", this, l.d.streamID); s.code != 0 || s.updates() > 0 {
		l.Fatalf("import: %v", s)
	}
	other.mustApplySet("apply after import", set, lines)
	other.wantEmptyPlan("plan after import", set, lines)
}

// destroy fails the test unless a destroy sends this number of updates and empties the state.
func (l *lifecycle) destroy(name string, updates int) {
	l.t.Helper()
	s := l.runLogged("destroy", "-auto-approve", "-input=false", "-no-color")
	if s.code != 0 || s.updates() != updates || l.stateValues() != nil {
		l.Fatalf("%s: %v", name, s)
	}
}

// detachAfterFailure detaches the processors if the test has failed before the destroy.
func (l *lifecycle) detachAfterFailure() {
	if l.Failed() && !l.d.keepProcessors && l.stateValues() != nil {
		l.Logf("emptying the stream: %v", l.run("destroy", "-auto-approve", "-input=false", "-no-color"))
	}
}

func (l *lifecycle) stateValues() map[string]any {
	l.t.Helper()
	object := l.state()[this]
	if object.Tainted {
		l.Errorf("the resource is tainted")
	}
	return object.Attributes
}

// wantValues fails the test unless the state has the values of the response.
func (l *lifecycle) wantValues(name string, want *streamstest.Stream, got map[string]any) {
	l.t.Helper()
	edited, _ := got["last_edited"].(float64)
	if got["stream_id"] != want.ID || got["id"] != want.ID || got["terminal_id"] != want.TerminalID ||
		got["fragment_type_id"] != want.FragmentTypeID || edited != float64(want.LastEdited) ||
		!cmp.Equal(got["processor_ids"], any(setOf(want.ProcessorIDs))) ||
		!cmp.Equal(got["compatible_namespaces"], any(setOf(want.CompatibleNamespaces))) {
		l.Fatalf("%s: the state is %v, the deployment said %+v", name, got, *want)
	}
}

// setOf is a set in the state.
func setOf(ids []string) []any { return list(slices.Compact(slices.Sorted(slices.Values(ids)))...) }
