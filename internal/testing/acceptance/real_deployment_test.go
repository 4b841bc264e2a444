package acceptance

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// deployment is a deployment of the service, and what the tests may do there. The tests change one stream, and assume
// nothing that the interface document leaves open.
type deployment struct {
	streamID       string
	processorIDs   []string // at least one
	keepProcessors bool     // leave the stream as last applied
	provider       string   // block, "" for the environment
}

// realDeployment is the deployment that the environment names; nil means the stand-in service.
var realDeployment = sync.OnceValues(func() (*deployment, error) {
	address, ids := os.Getenv("STREAM_BASE_URL"), os.Getenv("STREAM_ACC_PROCESSOR_IDS")
	d := &deployment{streamID: os.Getenv("STREAM_ACC_STREAM_ID")}
	switch {
	case os.Getenv("TF_ACC") == "", address == "" && d.streamID == "" && ids == "":
		return nil, nil
	case address == "" || d.streamID == "" || ids == "":
		return nil, errors.New("to run the acceptance tests on a real deployment, set STREAM_BASE_URL, STREAM_ACC_STREAM_ID and " +
			"STREAM_ACC_PROCESSOR_IDS; to run them on the stand-in service, unset all three")
	}
	var err error
	if d.keepProcessors, err = strconv.ParseBool(cmp.Or(os.Getenv("STREAM_ACC_KEEP"), "false")); err != nil {
		return nil, fmt.Errorf("STREAM_ACC_KEEP: %w", err)
	}
	for id := range strings.SplitSeq(ids, ",") {
		d.processorIDs = append(d.processorIDs, strings.TrimSpace(id))
	}
	slices.Sort(d.processorIDs)
	d.processorIDs = slices.Compact(d.processorIDs)
	return d, nil
})

// TestAccRealDeployment takes one stream from create to destroy. On a real deployment, of which only the interface document
// is known, the test logs the steps that the service refuses and leaves them out.
func TestAccRealDeployment(t *testing.T) {
	d, _ := realDeployment()
	if d == nil {
		_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
		d = &deployment{"cam-1", []string{"p1", "p2", "p3"}, false, providerWith(fmt.Sprintf("base_url = %q", url))}
	}
	const (
		first, again   = "the first update", "a set that it has accepted before"
		smaller, empty = "a smaller set", "the empty set, which a destroy sends"
		trigger, keep  = "triggers = { run = \"1\" }\n", "on_destroy = \"keep\"\n"
	)
	step, refused := "", map[string]bool{} // "": a step that sends nothing
	config := func(set []string, others string) string {
		if d.keepProcessors && !strings.Contains(others, keep) {
			others += keep // also if a step fails
		}
		return d.provider + resourceOf("this", d.streamID, strings.Trim(hcl(append([]string{}, set...)), "[]"), others)
	}
	apply := func(name string, set []string, others string) resource.TestStep {
		return resource.TestStep{
			PreConfig:         func() { step = name },
			Config:            config(set, others),
			ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(this, processorIDs, setOf(set...))},
		}
	}
	ifRefused := func(name string, s resource.TestStep) resource.TestStep {
		s.SkipFunc = func() (bool, error) { return !refused[name], nil }
		return s
	}
	planAgain := func(name string, set []string, others string) resource.TestStep {
		return ifRefused(name, resource.TestStep{
			PreConfig:          func() { step = "" },
			Config:             config(set, others),
			PlanOnly:           true,
			ExpectNonEmptyPlan: true,
			ConfigPlanChecks:   resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{updated}},
		})
	}
	all := d.processorIDs
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	steps := []resource.TestStep{
		apply(first, all, ""),
		{PreConfig: func() { step = "" }, Config: config(append(reversed, all...), ""), PlanOnly: true},
	}
	if len(all) > 1 {
		steps = append(steps, apply(smaller, all[:1], ""), planAgain(smaller, all[:1], ""), apply(again, all, ""))
	}
	steps = append(steps,
		apply(again, all, trigger),
		apply(empty, nil, trigger), planAgain(empty, nil, trigger),
		apply(again, all, trigger),
		ifRefused(empty, apply(again, all, trigger+keep)))
	c := resource.TestCase{
		ProtoV6ProviderFactories: providers,
		Steps:                    steps,
		ErrorCheck: func(err error) error {
			switch {
			case step == first:
				if strings.Contains(cli.Unwrap(err.Error()), "The service reports that the stream now has") {
					t.Skipf("no set of the stream can be confirmed. If the deployment merges sets, detach what else is there.\n%v", err)
				}
				return fmt.Errorf("the deployment did not take the first update. Check its address, the credentials, STREAM_ACC_STREAM_ID "+
					"and STREAM_ACC_PROCESSOR_IDS.\n%w", err)
			case step == again:
				return fmt.Errorf("the deployment refuses %s: %w", step, err)
			case step != "" && strings.HasPrefix(err.Error(), "Error running apply"):
				t.Logf("the deployment refuses %s: %v", step, err)
				refused[step] = true
				return nil
			}
			return err
		},
	}
	resource.ParallelTest(t, c) // destroys the resource in the end, also after a failure

	imported := apply(again, all, trigger)
	if refused[empty] {
		imported = apply(again, all, trigger+keep)
	}
	c.Steps = []resource.TestStep{{
		PreConfig:          func() { step = "" },
		Config:             imported.Config,
		ResourceName:       this,
		ImportState:        true,
		ImportStateId:      d.streamID,
		ImportStatePersist: !d.keepProcessors, // an imported resource detaches until its first update
	}, imported}
	resource.Test(t, c)
	if d.keepProcessors || refused[empty] {
		t.Logf("stream %q keeps the processors %q", d.streamID, all)
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
			want:   []string{"refuses the empty set", "400 Bad Request", "keeps the processors", "--- SKIP: TestAccImport"},
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
			clitest.SkipUnlessAcc(t)
			skipOnRealDeployment(t)
			test.opts.Authorize = streamstest.Bearer("staging-token")
			service, url := streamstest.Start(t, test.opts, streamstest.Stream{ID: "a/b", ProcessorIDs: []string{"stranger"}})
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^(TestAccRealDeployment|TestAccImport)$")
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
