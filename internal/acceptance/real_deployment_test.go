package acceptance

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// deployment is a deployment of the service, and what the tests may do there. The tests change one stream, and assume
// nothing that the interface document leaves open.
type deployment struct {
	streamID       string
	processorIDs   []string // at least one
	keepProcessors bool     // leave the stream as last applied
	environment    []string // of the provider
}

// realDeployment is the deployment that the environment names; nil means the stand-in service.
var realDeployment = sync.OnceValues(func() (*deployment, error) {
	address, ids, keep := os.Getenv("STREAM_BASE_URL"), os.Getenv("STREAM_ACC_PROCESSOR_IDS"), os.Getenv("STREAM_ACC_KEEP")
	d := &deployment{streamID: os.Getenv("STREAM_ACC_STREAM_ID")}
	switch {
	case os.Getenv("TF_ACC") == "", address == "" && d.streamID == "" && ids == "":
		return nil, nil
	case address == "" || d.streamID == "" || ids == "":
		return nil, errors.New("to run the acceptance tests on a real deployment, set STREAM_BASE_URL, STREAM_ACC_STREAM_ID and " +
			"STREAM_ACC_PROCESSOR_IDS; to run them on the stand-in service, unset all three")
	}
	if keep != "" {
		var err error
		if d.keepProcessors, err = strconv.ParseBool(keep); err != nil {
			return nil, fmt.Errorf("STREAM_ACC_KEEP: %w", err)
		}
	}
	for id := range strings.SplitSeq(ids, ",") {
		d.processorIDs = append(d.processorIDs, strings.TrimSpace(id))
	}
	slices.Sort(d.processorIDs)
	d.processorIDs = slices.Compact(d.processorIDs)
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, "STREAM_") && !strings.HasPrefix(variable, "STREAM_ACC_") {
			d.environment = append(d.environment, variable)
		}
	}
	return d, nil
})

// TestAccRealDeployment takes one stream from create to destroy. On a real deployment, of which only the interface document
// is known, the test logs the steps that the service refuses and leaves them out.
func TestAccRealDeployment(t *testing.T) {
	t.Parallel()
	d, _ := realDeployment()
	if d == nil {
		_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
		d = &deployment{"cam-1", []string{"p1", "p2", "p3"}, false, []string{"STREAM_BASE_URL=" + url}}
	}
	w, all := clitest.New(t, d.environment...), d.processorIDs
	defer func() {
		if t.Failed() && !d.keepProcessors && len(w.State()) > 0 {
			t.Logf("emptying the stream: %v", w.Apply("-destroy"))
		}
	}()

	d.configure(w, all, "")
	r := w.Apply()
	switch {
	case strings.Contains(r.Text(), "The service reports that the stream now has"):
		t.Skipf("no set of the stream can be confirmed. If the deployment merges sets, detach what else is there.\n%v", r)
	case r.Code != 0:
		t.Fatalf("the deployment did not take the first update. Check its address, the credentials, STREAM_ACC_STREAM_ID "+
			"and STREAM_ACC_PROCESSOR_IDS.\n%v", r)
	}
	w.WantNoChanges()
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	d.configure(w, append(reversed, all...), "")
	w.WantNoChanges()

	if len(all) > 1 && d.accepts(t, w, "a smaller set", all[:1], "") {
		d.mustAccept(t, w, all, "")
	}
	const trigger = "triggers = { run = \"1\" }\n"
	d.mustAccept(t, w, all, trigger)

	other := clitest.New(t, d.environment...)
	d.configure(other, all, trigger)
	other.MustRun("import", this, d.streamID)
	d.mustAccept(t, other, all, trigger)

	detaches := d.accepts(t, w, "the empty set, which a destroy sends", nil, trigger)
	if detaches {
		d.mustAccept(t, w, all, trigger)
	}
	if !detaches || d.keepProcessors {
		d.mustAccept(t, w, all, trigger+`on_destroy = "keep"`)
		t.Logf("stream %q keeps the processors %q", d.streamID, all)
	}
	w.MustApply("-destroy")
	w.WantEmptyState()
}

// configure writes the resource of the stream, with this set and other attributes.
func (d *deployment) configure(w *clitest.Workspace, set []string, others string) {
	w.Configure(resourceOf("this", d.streamID, strings.Trim(hclList(set), "[]"), others))
}

// accepts applies a set and reports whether the deployment accepts it. If not, the next plan sends the set again.
func (d *deployment) accepts(t *testing.T, w *clitest.Workspace, step string, set []string, others string) bool {
	t.Helper()
	d.configure(w, set, others)
	if r := w.Apply(); r.Code != 0 {
		t.Logf("the deployment refuses %s: %v", step, r)
		w.Plan().Want(2, "0 to add, 1 to change, 0 to destroy")
		return false
	}
	w.WantState("processor_ids", map[string]any{this: clitest.List(set...)})
	w.WantNoChanges()
	return true
}

func (d *deployment) mustAccept(t *testing.T, w *clitest.Workspace, set []string, others string) {
	t.Helper()
	if !d.accepts(t, w, "a set that it has accepted before", set, others) {
		t.FailNow()
	}
}

// TestAccRealDeploymentOfEnvironment runs TestAccRealDeployment on deployments that are unlike the stand-in, in another
// process that knows them by the environment alone. There, a test that needs the stand-in is skipped.
func TestAccRealDeploymentOfEnvironment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts   streamstest.Options
		env    []string
		want   []string // in the output
		fails  bool
		leaves []string // processors on the stream
	}{
		"refuses the empty set, keeps last_edited, has a read": {
			opts:   streamstest.Options{RefuseEmpty: true, KeepLastEdited: true, ServeGet: true},
			env:    []string{"STREAM_DETECT_DRIFT=true"},
			want:   []string{"refuses the empty set", "400 Bad Request", "keeps the processors", "--- SKIP: TestAccReplace"},
			leaves: []string{"p1", "p2"},
		},
		"merges, and has another processor": {
			opts:   streamstest.Options{Merge: true},
			want:   []string{"--- SKIP: TestAccRealDeployment", "detach what else is there", "needs the switches of the stand-in service"},
			leaves: []string{"p1", "p2", "stranger"},
		},
		"no stream": {
			env:    []string{"STREAM_ACC_STREAM_ID="},
			want:   []string{"set STREAM_BASE_URL, STREAM_ACC_STREAM_ID and STREAM_ACC_PROCESSOR_IDS"},
			fails:  true,
			leaves: []string{"stranger"},
		},
		"wrong token": {
			env:    []string{"STREAM_TOKEN=wrong"},
			want:   []string{"did not take the first update. Check", "Authentication Error"},
			fails:  true,
			leaves: []string{"stranger"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newWorkspace(t, "", "") // skips this test, too
			test.opts.Authorize = streamstest.Bearer("staging-token")
			service, url := streamstest.Start(t, test.opts, streamstest.Stream{ID: "a/b", ProcessorIDs: []string{"stranger"}})
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^(TestAccRealDeployment|TestAccReplace)$")
			cmd.Env = append(os.Environ(), "STREAM_BASE_URL="+url, "STREAM_TOKEN=staging-token",
				"STREAM_ACC_STREAM_ID=a/b", "STREAM_ACC_PROCESSOR_IDS=p1,p2", "STREAM_ACC_KEEP=")
			cmd.Env = append(cmd.Env, test.env...)
			out, err := cmd.CombinedOutput()
			if failed := err != nil; failed != test.fails {
				t.Fatalf("%v\n%s", err, out)
			}
			streamstest.WantText(t, string(out), test.want...)
			for _, r := range service.Requests() {
				if r.StreamID != "a/b" || r.Method != "PATCH" && !test.opts.ServeGet {
					t.Errorf("sent %s", r)
				}
			}
			service.WantAttached(t, "a/b", test.leaves...)
		})
	}
}
