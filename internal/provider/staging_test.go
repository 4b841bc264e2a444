package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// The acceptance tests on a real deployment. One stream is all that is touched there, and nothing is
// taken for granted that the interface document leaves open.

// deployment is what the tests may do on a deployment.
type deployment struct {
	streamID     string
	processorIDs []string // at least one
	keep         bool     // leave the stream as last applied
	environment  []string // the provider's
}

// staging is the deployment that the environment names; nil means the stand-in service.
var staging = sync.OnceValues(func() (*deployment, error) {
	if os.Getenv("TF_ACC") == "" {
		return nil, nil
	}
	return readDeployment(os.Environ())
})

// onStandIn skips a test that needs the stand-in where there is another deployment to test.
func onStandIn(t *testing.T) {
	t.Helper()
	if d, _ := staging(); d != nil {
		t.Skip("needs the switches of the stand-in service, and STREAM_BASE_URL names another one")
	}
}

func readDeployment(environ []string) (*deployment, error) {
	d := &deployment{}
	vars := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case value == "" || !strings.HasPrefix(name, "STREAM_"):
		case strings.HasPrefix(name, "STREAM_ACC_"):
			vars[name] = value
		default:
			d.environment = append(d.environment, entry)
			if name == "STREAM_BASE_URL" {
				vars[name] = value
			}
		}
	}
	if len(vars) == 0 {
		return nil, nil
	}

	var problems []string
	for _, needed := range [][2]string{
		{"STREAM_BASE_URL", "the address of the deployment"},
		{"STREAM_ACC_STREAM_ID", "the id of a stream that the tests may change"},
		{"STREAM_ACC_PROCESSOR_IDS", "ids of processors that they may attach to it, separated by commas"},
	} {
		if vars[needed[0]] == "" {
			problems = append(problems, fmt.Sprintf("%s is missing: %s.", needed[0], needed[1]))
		}
	}
	d.streamID = vars["STREAM_ACC_STREAM_ID"]
	if err := streams.CheckStreamID(d.streamID); d.streamID != "" && err != nil {
		problems = append(problems, fmt.Sprintf("STREAM_ACC_STREAM_ID %s.", err))
	}
	if list := vars["STREAM_ACC_PROCESSOR_IDS"]; list != "" {
		for id := range strings.SplitSeq(list, ",") {
			id = strings.TrimSpace(id)
			if err := streams.CheckProcessorID(id); err != nil {
				problems = append(problems, fmt.Sprintf("An id in STREAM_ACC_PROCESSOR_IDS %s.", err))
			}
			d.processorIDs = append(d.processorIDs, id)
		}
		slices.Sort(d.processorIDs)
		d.processorIDs = slices.Compact(d.processorIDs)
	}
	if keep := vars["STREAM_ACC_KEEP"]; keep != "" {
		var err error
		if d.keep, err = strconv.ParseBool(keep); err != nil {
			problems = append(problems, "STREAM_ACC_KEEP must be 1 or 0.")
		}
	}
	if problems != nil {
		set := slices.Sorted(maps.Keys(vars))
		return nil, fmt.Errorf("the acceptance tests would run on a real deployment, because of %[1]s in the environment, but:\n- %[2]s\n"+
			"To run them on the stand-in service instead, unset %[1]s", strings.Join(set, ", "), strings.Join(problems, "\n- "))
	}
	return d, nil
}

func TestReadDeployment(t *testing.T) {
	t.Parallel()
	const base, stream, ids = "STREAM_BASE_URL=https://s", "STREAM_ACC_STREAM_ID=cam-1", "STREAM_ACC_PROCESSOR_IDS=p2, p1,p2"
	for name, test := range map[string]struct {
		environ  []string
		want     *deployment
		problems []string
	}{
		"nothing":      {[]string{"HOME=/", "STREAM_BASE_URL="}, nil, nil},
		"a credential": {[]string{"STREAM_TOKEN=t", "STREAM_DETECT_DRIFT=true"}, nil, nil},
		"everything": {
			[]string{base, stream, ids, "STREAM_TOKEN=t", "STREAM_ACC_KEEP=1"},
			&deployment{"cam-1", []string{"p1", "p2"}, true, []string{base, "STREAM_TOKEN=t"}}, nil,
		},
		"no keep": {[]string{base, stream, ids, "STREAM_ACC_KEEP=0"}, &deployment{"cam-1", []string{"p1", "p2"}, false, []string{base}}, nil},

		"address alone":   {[]string{base}, nil, []string{"because of STREAM_BASE_URL in", "STREAM_ACC_STREAM_ID is missing", "STREAM_ACC_PROCESSOR_IDS is missing", "unset STREAM_BASE_URL"}},
		"no address":      {[]string{stream, ids}, nil, []string{"STREAM_BASE_URL is missing", "unset STREAM_ACC_PROCESSOR_IDS, STREAM_ACC_STREAM_ID"}},
		"no processors":   {[]string{base, stream}, nil, []string{"STREAM_ACC_PROCESSOR_IDS is missing"}},
		"keep alone":      {[]string{"STREAM_ACC_KEEP=1"}, nil, []string{"STREAM_BASE_URL is missing"}},
		"wrong stream":    {[]string{base, ids, "STREAM_ACC_STREAM_ID=.."}, nil, []string{`STREAM_ACC_STREAM_ID must not be ".."`}},
		"wrong processor": {[]string{base, stream, "STREAM_ACC_PROCESSOR_IDS=p1,,p2"}, nil, []string{"An id in STREAM_ACC_PROCESSOR_IDS must not be empty."}},
		"wrong keep":      {[]string{base, stream, ids, "STREAM_ACC_KEEP=yes"}, nil, []string{"STREAM_ACC_KEEP must be 1 or 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readDeployment(test.environ)
			if (err != nil) != (test.problems != nil) {
				t.Fatalf("error: %v", err)
			}
			if err != nil {
				wantIn(t, err.Error(), test.problems...)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestAccDeployment leads one stream through its life. On a deployment of which only the interface
// document is known it goes where that goes: a step that the service does not let happen is said so
// and left out. That the provider tells the truth is demanded of every step.
func TestAccDeployment(t *testing.T) {
	t.Parallel()
	d, _ := staging()
	if d == nil {
		_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
		d = &deployment{"cam-1", []string{"p1", "p2", "p3"}, false, []string{"STREAM_BASE_URL=" + url}}
	}
	l := newLife(t, d)
	defer l.rescue()
	all := d.processorIDs

	if r := l.set("create", all, ""); !r.ok {
		if r.stream == nil {
			l.Fatalf("the deployment did not take the first update. Check its address, the credentials, STREAM_ACC_STREAM_ID "+
				"and STREAM_ACC_PROCESSOR_IDS.\n%v", r)
		}
		if len(l.resources()) > 0 {
			l.Fatalf("the create failed, but it is in the state: %v", r)
		}
		l.Skipf("the deployment answers that the stream has %q when it is given %q, so no set of it can be confirmed. "+
			"If it merges sets, detach what else is there.", r.stream.ProcessorIDs, all)
	}
	l.unchanged("plan after create", all, "")
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	l.unchanged("other order, ids repeated", append(reversed, all...), "")
	l.unchangedApply("on_destroy and timeouts alone", all, "on_destroy = \"keep\"\n  timeouts = { update = \"4m\" }")

	if len(all) == 1 {
		l.Log("STREAM_ACC_PROCESSOR_IDS has one id: there is no smaller set to try")
	} else if r := l.set("smaller set", all[:1], ""); r.ok {
		l.unchanged("plan after update", all[:1], "")
		l.mustSet("the whole set again", all, "")
	} else {
		l.impossible(r, "the deployment merges sets, or refuses a smaller one")
	}
	const trigger = `triggers = { run = "1" }`
	l.mustSet("trigger", all, trigger)
	l.unchanged("plan after trigger", all, trigger)
	l.importing(all, trigger)

	r := l.set("empty set", nil, trigger)
	if r.ok {
		l.unchanged("plan after the empty set", nil, trigger)
		l.mustSet("the whole set once more", all, trigger)
	} else {
		l.impossible(r, "the deployment merges sets, or refuses an empty one, so no destroy can detach")
	}
	if r.ok && !d.keep {
		l.destroy("destroy that detaches", 1)
		return
	}
	l.unchangedApply("on_destroy = keep", all, trigger+"\n  on_destroy = \"keep\"")
	l.destroy("destroy that keeps", 0)
	l.Logf("stream %q keeps the processors %q", d.streamID, all)
}

// life is a workspace with one resource, watched through the provider's own log: between the provider
// and a real deployment there is nowhere else to look.
type life struct {
	*testing.T
	*workspace
	d   *deployment
	log string
}

const onlyResource = "stream_processors.this"

func newLife(t *testing.T, d *deployment) *life {
	t.Helper()
	w := openWorkspace(t, "")
	w.env = append(w.env, d.environment...)
	l := &life{t, w, d, filepath.Join(w.dir, "log")}
	w.setenv("TF_LOG", "JSON")
	w.setenv("TF_LOG_PATH", l.log)
	return l
}

// attempt is one request of the provider, as it logged it.
type attempt struct {
	Message  string `json:"@message"`
	Method   string
	URL      string
	Status   int
	Attempt  int
	Request  string
	Response string
}

// step is a command, what the provider asked meanwhile, and what the last update was answered if that
// was a stream.
type step struct {
	result
	ok       bool
	attempts []attempt
	stream   *streamstest.Stream
}

// updates counts the updates; the attempts of one are one.
func (s step) updates() (n int) {
	for _, a := range s.attempts {
		if a.Method == "PATCH" && a.Attempt == 1 {
			n++
		}
	}
	return n
}

// do runs a command and checks that the provider asked only what it may.
func (l *life) do(args ...string) step {
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
	for _, a := range s.attempts {
		switch a.Method {
		case "PATCH":
			var stream streamstest.Stream
			if s.stream = nil; a.Status/100 == 2 && json.Unmarshal([]byte(a.Response), &stream) == nil && stream.ID == l.d.streamID {
				s.stream = &stream
			}
			fallthrough
		case "GET":
			if !strings.HasSuffix(a.URL, "/v2/streams/"+url.PathEscape(l.d.streamID)) {
				l.Errorf("%s sent %s %s", args[0], a.Method, a.URL)
			}
			if a.Method == "GET" && !slices.ContainsFunc(l.d.environment, func(entry string) bool {
				return strings.HasPrefix(entry, "STREAM_DETECT_DRIFT=")
			}) {
				l.Errorf("%s sent %s %s without being asked to", args[0], a.Method, a.URL)
			}
		case "POST": // a token
		default:
			l.Errorf("%s sent %s %s", args[0], a.Method, a.URL)
		}
	}
	return s
}

// configure writes the configuration: the set, and further lines of the resource.
func (l *life) configure(set []string, lines string) {
	l.t.Helper()
	l.write(fmt.Sprintf("resource \"stream_processors\" \"this\" {\n  stream_id     = %s\n  processor_ids = [%s]\n  %s\n}\n",
		hclString(l.d.streamID), strings.Join(hclStrings(set), ", "), lines))
}

func hclString(s string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(s))
}

func hclStrings(all []string) []string {
	var quoted []string
	for _, s := range all {
		quoted = append(quoted, hclString(s))
	}
	return quoted
}

// set applies a set, and holds the state against what the deployment said.
func (l *life) set(name string, set []string, lines string) step {
	l.t.Helper()
	l.configure(set, lines)
	before := l.values()
	s := l.do("apply", "-auto-approve", "-input=false", "-no-color")
	s.ok = s.code == 0
	after := l.values()
	switch {
	case s.updates() > 1 || s.ok && s.updates() == 0:
		l.Fatalf("%s: %d updates instead of one: %v", name, s.updates(), s)
	case s.ok && s.stream == nil:
		l.Fatalf("%s: a success, but no answer says so: %v", name, s)
	case s.ok:
		l.wantValues(name, s.stream, after)
		if got := s.stream.ProcessorIDs; !sameSet(got, set) {
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
		if p := l.do("plan", "-input=false", "-no-color", "-detailed-exitcode"); p.code != 2 || p.updates() > 0 ||
			strings.Contains(p.text(), "tainted") {
			l.Fatalf("%s: it failed, but the next plan does not do just that again: %v", name, p)
		}
	}
	return s
}

func (l *life) mustSet(name string, set []string, lines string) {
	l.t.Helper()
	if s := l.set(name, set, lines); !s.ok {
		l.Fatalf("%s: the deployment has taken this set before: %v", name, s)
	}
}

// impossible says that the deployment does not let a step happen.
func (l *life) impossible(s step, what string) {
	l.t.Helper()
	for _, a := range s.attempts {
		if a.Method == "PATCH" {
			what += fmt.Sprintf("\n%s was answered %d: %s", a.Request, a.Status, a.Response)
		}
	}
	l.Log(what)
}

// unchanged fails the test unless a plan finds nothing to do and updates nothing.
func (l *life) unchanged(name string, set []string, lines string) {
	l.t.Helper()
	l.configure(set, lines)
	if s := l.do("plan", "-input=false", "-no-color", "-detailed-exitcode"); s.code != 0 || s.updates() > 0 {
		l.Fatalf("%s: %v", name, s)
	}
}

// unchangedApply fails the test unless an apply does something that the deployment need not know.
func (l *life) unchangedApply(name string, set []string, lines string) {
	l.t.Helper()
	l.configure(set, lines)
	if s := l.do("apply", "-auto-approve", "-input=false", "-no-color"); s.code != 0 || s.updates() > 0 {
		l.Fatalf("%s: %v", name, s)
	}
	l.unchanged(name, set, lines)
}

// importing imports the stream into another state, and applies the set that it has.
func (l *life) importing(set []string, lines string) {
	l.t.Helper()
	other := newLife(l.T, l.d)
	other.configure(set, lines)
	if s := other.do("import", "-no-color", "-input=false", onlyResource, l.d.streamID); s.code != 0 || s.updates() > 0 {
		l.Fatalf("import: %v", s)
	}
	other.mustSet("apply after import", set, lines)
	other.unchanged("plan after import", set, lines)
}

func (l *life) destroy(name string, updates int) {
	l.t.Helper()
	s := l.do("destroy", "-auto-approve", "-input=false", "-no-color")
	if s.code != 0 || s.updates() != updates || l.values() != nil {
		l.Fatalf("%s: %v", name, s)
	}
}

// rescue empties the stream after a failure.
func (l *life) rescue() {
	if l.Failed() && !l.d.keep && l.values() != nil {
		l.Logf("emptying the stream: %v", l.run("destroy", "-auto-approve", "-input=false", "-no-color"))
	}
}

func (l *life) values() map[string]any {
	l.t.Helper()
	r := l.resources()[onlyResource]
	if r == nil {
		return nil
	}
	if r.Tainted {
		l.Errorf("the resource is tainted")
	}
	return r.AttributeValues
}

// wantValues fails the test unless the state says of the stream what the deployment did.
func (l *life) wantValues(name string, want *streamstest.Stream, got map[string]any) {
	l.t.Helper()
	edited, _ := got["last_edited"].(float64)
	if got["stream_id"] != want.ID || got["id"] != want.ID || got["terminal_id"] != want.TerminalID ||
		got["fragment_type_id"] != want.FragmentTypeID || edited != float64(want.LastEdited) ||
		!sameSet(textsOf(got["processor_ids"]), want.ProcessorIDs) ||
		!sameSet(textsOf(got["compatible_namespaces"]), want.CompatibleNamespaces) {
		l.Fatalf("%s: the state is %v, the deployment said %+v", name, got, *want)
	}
}

func textsOf(list any) []string {
	var all []string
	elements, _ := list.([]any)
	for _, e := range elements {
		all = append(all, fmt.Sprint(e))
	}
	return all
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// The same on deployments of several kinds, as another process that knows only what the environment says.
func TestAccDeploymentByEnvironment(t *testing.T) {
	t.Parallel()
	const allKept = "keeps the processors"
	for name, test := range map[string]struct {
		opts     streamstest.Options
		before   []string // attached
		env      []string
		says     []string
		fails    bool
		attached []string // in the end
	}{
		"as the stand-in": {before: []string{"stranger"}},
		"one id, kept": {
			env:      []string{"STREAM_ACC_PROCESSOR_IDS=p1", "STREAM_ACC_KEEP=1"},
			says:     []string{"has one id", allKept},
			attached: []string{"p1"},
		},
		"refuses the empty set, keeps last_edited, knows its processors": {
			opts:     streamstest.Options{RefuseEmpty: true, KeepLastEdited: true, KnownProcessors: []string{"p1", "p2"}},
			says:     []string{"refuses an empty one", "answered 400", allKept},
			attached: []string{"p1", "p2"},
		},
		"merges": {
			opts:     streamstest.Options{Merge: true},
			says:     []string{"merges sets, or refuses a smaller one", "merges sets, or refuses an empty one", allKept},
			attached: []string{"p1", "p2"},
		},
		"merges, and has other processors": {
			opts:     streamstest.Options{Merge: true},
			before:   []string{"stranger"},
			says:     []string{"--- SKIP: TestAccDeployment", "detach what else is there"},
			attached: []string{"stranger", "p1", "p2"},
		},
		"with a read": {
			opts: streamstest.Options{ServeGet: true},
			env:  []string{"STREAM_DETECT_DRIFT=true"},
		},
		"wrong token": {
			env:   []string{"STREAM_TOKEN=wrong"},
			says:  []string{"did not take the first update. Check", "Authentication Error"},
			fails: true,
		},
		"unknown processor": {
			opts:  streamstest.Options{KnownProcessors: []string{"p1"}},
			says:  []string{"did not take the first update. Check", "Bad Request Error"},
			fails: true,
		},
		"no stream named": {
			env:   []string{"STREAM_ACC_STREAM_ID="},
			says:  []string{"STREAM_ACC_STREAM_ID is missing"},
			fails: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onStandIn(t)
			test.opts.Authorize = streamstest.Bearer("staging-token")
			service, url := streamstest.Start(t, test.opts, streamstest.Stream{ID: "a/b", ProcessorIDs: test.before})
			if os.Getenv("TF_ACC") == "" {
				t.Skip("acceptance tests need TF_ACC=1")
			}
			// Beside it, one that needs the stand-in.
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^(TestAccDeployment|TestAccDriftOnAServiceWithoutIt)$")
			cmd.Env = slices.Concat(os.Environ(), []string{
				"STREAM_BASE_URL=" + url, "STREAM_TOKEN=staging-token",
				"STREAM_ACC_STREAM_ID=a/b", "STREAM_ACC_PROCESSOR_IDS=p1,p2", "STREAM_ACC_KEEP=",
			}, test.env)
			out, err := cmd.CombinedOutput()
			if failed := err != nil; failed != test.fails {
				t.Fatalf("%v\n%s", err, out)
			}
			wantIn(t, string(out), test.says...)
			if !test.fails {
				wantIn(t, string(out), "--- SKIP: TestAccDriftOnAServiceWithoutIt", "needs the switches of the stand-in service")
			}
			for _, r := range service.Requests() {
				if r.StreamID != "a/b" || r.Method != "PATCH" && !test.opts.ServeGet {
					t.Errorf("sent %s", r)
				}
			}
			if !test.fails {
				service.WantAttached(t, "a/b", test.attached...)
			}
		})
	}
}
