package acceptance

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// TestAccDeploymentByEnvironment runs TestAccDeployment on deployments that are unlike the stand-in, in another process
// that knows them by the environment alone. There, a test that needs the stand-in is skipped.
func TestAccDeploymentByEnvironment(t *testing.T) {
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
			want:   []string{"refuses the empty set", "400 Bad Request", "keeps the processors", "--- SKIP: TestAccRetry"},
			leaves: []string{"p1", "p2"},
		},
		"merges, and has another processor": {
			opts:   streamstest.Options{Merge: true},
			want:   []string{"--- SKIP: TestAccDeployment", "detach what else is there", "needs the switches of the stand-in service"},
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
			cli.SkipUnlessAcc(t)
			skipOnRealDeployment(t)
			test.opts.Authorize = streamstest.Bearer("staging-token")
			service, url := streamstest.Start(t, test.opts, streamstest.Stream{ID: "a/b", ProcessorIDs: []string{"stranger"}})
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^(TestAccDeployment|TestAccRetry)$")
			cmd.Env = slices.Concat(os.Environ(), []string{
				"STREAM_BASE_URL=" + url, "STREAM_TOKEN=staging-token",
				"STREAM_ACC_STREAM_ID=a/b", "STREAM_ACC_PROCESSOR_IDS=p1,p2", "STREAM_ACC_KEEP=",
			}, test.env)
			out, err := cmd.CombinedOutput()
			if failed := err != nil; failed != test.fails {
				t.Fatalf("%v\n%s", err, out)
			}
			wantContains(t, string(out), test.want...)
			for _, r := range service.Requests() {
				if r.StreamID != "a/b" || r.Method != "PATCH" && !test.opts.ServeGet {
					t.Errorf("sent %s", r)
				}
			}
			service.WantAttached(t, "a/b", test.leaves...)
		})
	}
}
