package acceptance

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestAccDeploymentByEnvironment runs TestAccDeployment on deployments of several kinds, in another process that knows
// them by the environment alone.
func TestAccDeploymentByEnvironment(t *testing.T) {
	t.Parallel()
	const keepsProcessors = "keeps the processors"
	for name, test := range map[string]struct {
		opts           streamstest.Options
		attachedBefore []string
		env            []string
		want           []string // in the output
		fails          bool
		attachedAfter  []string
	}{
		"as the stand-in": {attachedBefore: []string{"stranger"}},
		"one id, kept": {
			env:           []string{"STREAM_ACC_PROCESSOR_IDS=p1", "STREAM_ACC_KEEP=1"},
			want:          []string{"has one id", keepsProcessors},
			attachedAfter: []string{"p1"},
		},
		"refuses the empty set, keeps last_edited, knows its processors": {
			opts:          streamstest.Options{RefuseEmpty: true, KeepLastEdited: true, KnownProcessors: []string{"p1", "p2"}},
			want:          []string{"refuses an empty one", "answered 400", keepsProcessors},
			attachedAfter: []string{"p1", "p2"},
		},
		"merges": {
			opts:          streamstest.Options{Merge: true},
			want:          []string{"merges sets, or refuses a smaller one", "merges sets, or refuses an empty one", keepsProcessors},
			attachedAfter: []string{"p1", "p2"},
		},
		"merges, and has other processors": {
			opts:           streamstest.Options{Merge: true},
			attachedBefore: []string{"stranger"},
			want:           []string{"--- SKIP: TestAccDeployment", "detach what else is there"},
			attachedAfter:  []string{"stranger", "p1", "p2"},
		},
		"with a read": {
			opts: streamstest.Options{ServeGet: true},
			env:  []string{"STREAM_DETECT_DRIFT=true"},
		},
		"wrong token": {
			env:   []string{"STREAM_TOKEN=wrong"},
			want:  []string{"did not take the first update. Check", "Authentication Error"},
			fails: true,
		},
		"unknown processor": {
			opts:  streamstest.Options{KnownProcessors: []string{"p1"}},
			want:  []string{"did not take the first update. Check", "Bad Request Error"},
			fails: true,
		},
		"no stream named": {
			env:   []string{"STREAM_ACC_STREAM_ID="},
			want:  []string{"STREAM_ACC_STREAM_ID is missing"},
			fails: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cli.SkipUnlessAcc(t)
			skipOnRealDeployment(t)
			test.opts.Authorize = streamstest.Bearer("staging-token")
			service, url := streamstest.Start(t, test.opts, streamstest.Stream{ID: "a/b", ProcessorIDs: test.attachedBefore})
			// The other test is one that needs the stand-in service.
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^(TestAccDeployment|TestAccDriftOnAServiceWithoutIt)$")
			cmd.Env = slices.Concat(os.Environ(), []string{
				"STREAM_BASE_URL=" + url, "STREAM_TOKEN=staging-token",
				"STREAM_ACC_STREAM_ID=a/b", "STREAM_ACC_PROCESSOR_IDS=p1,p2", "STREAM_ACC_KEEP=",
			}, test.env)
			out, err := cmd.CombinedOutput()
			if failed := err != nil; failed != test.fails {
				t.Fatalf("%v\n%s", err, out)
			}
			wantContains(t, string(out), test.want...)
			if !test.fails {
				wantContains(t, string(out), "--- SKIP: TestAccDriftOnAServiceWithoutIt", "needs the switches of the stand-in service")
			}
			for _, r := range service.Requests() {
				if r.StreamID != "a/b" || r.Method != "PATCH" && !test.opts.ServeGet {
					t.Errorf("sent %s", r)
				}
			}
			if !test.fails {
				service.WantAttached(t, "a/b", test.attachedAfter...)
			}
		})
	}
}
