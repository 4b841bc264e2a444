package acceptance

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

var (
	quotedID = regexp.MustCompile(`cam-\d+`)
	similar  = regexp.MustCompile(`\(and (\d+) more similar warnings elsewhere\)`)
)

// fleetOf has resources of 30 streams each: the time of a CLI grows faster than the streams of one resource.
func fleetOf(name string, ids []string, others string) (hcl string) {
	for part := range slices.Chunk(ids, 30) {
		resource := resourceForEach(part, `"p1"`, others)
		hcl += strings.Replace(resource, `"this"`, strconv.Quote(name+"-"+part[0]), 1)
	}
	return hcl
}

// What a person reads when 300 streams are in one plan is short, counts right and says what to do, and -json has the rest.
// It needs clitest for the exact output.
func TestAccFleetOutput(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(300)
	seeds := streamstest.Streams(ids...)
	for i := range seeds {
		seeds[i].ProcessorIDs = []string{"old"}
	}
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true, Authorize: streamstest.Bearer("t0ken")}, seeds...)
	w := newWorkspace(t, url, providerWith(`token = "wr0ng"`)+
		"provider \"stream\" {\n  alias    = \"down\"\n  base_url = \"http://127.0.0.1:1\"\n  retry = { max_attempts = 2 }\n}\n"+
		fleetOf("wrong", ids[:150], "")+fleetOf("down", ids[150:], "provider = stream.down"))

	// Errors: a wrong token, and an outage.
	failed := w.Apply().Want(1)
	blocks := strings.Split(failed.Stderr, "\nError: ")[1:]
	long := 0
	for _, block := range blocks {
		if strings.Count("Error: "+block, "\n") > 13 { // a terminal adds one more line
			long++
		}
		streamstest.WantText(t, strings.Join(strings.Fields(block), " "), " could not be set. ", " Check ", "The stream was not changed.")
	}
	if len(blocks) != len(ids) || long > 20 {
		t.Errorf("%d errors, %d of them long: %v", len(blocks), long, failed)
	}

	// wantWarnings checks how many warnings of a kind a command shows in full, and that the others are counted.
	wantWarnings := func(what, out, kind string, full, others int) {
		t.Helper()
		got := strings.Count(out, "Warning: "+kind+`: stream "`)
		if counted := similar.FindAllStringSubmatch(out, -1); got != full || strings.Count(out, "Warning: "+kind+": more streams") != 1 ||
			len(counted) != 1 || counted[0][1] != fmt.Sprint(others-1) {
			t.Errorf("%s: %d warnings in full, and %v, want %d, and %d more", what, got, counted, full, others-1)
		}
	}
	w.Configure(providerWith("token = \"t0ken\"\n  detect_drift = true") + fleetOf("this", ids, ""))
	const lost = "Processors Will Be Detached"
	wantWarnings("plan", w.MustRun("plan", "-out=tfplan").Stdout, lost, 20, 280)

	// The apply repeats few of them; -json names every stream with what it loses.
	var named []string
	full := 0
	for line := range strings.Lines(w.MustRun("apply", "-json", "tfplan").Stdout) {
		if strings.Contains(line, `"@level":"warn"`) && strings.Contains(line, lost) {
			streamstest.WantText(t, line, `the apply detaches them: [\"old\"].`)
			named = append(named, quotedID.FindString(line[strings.Index(line, lost):]))
			if strings.Contains(line, lost+`: stream `) {
				full++
			}
		}
	}
	slices.Sort(named)
	if named = slices.Compact(named); len(named) != len(ids) || full > 10 {
		t.Errorf("%d streams are named, %d in full", len(named), full)
	}

	// 150 resources are renamed without moved blocks. The apply shows few of the warnings again.
	w.Configure(providerWith(`token = "t0ken"`) + fleetOf("this", ids[:150], "") + fleetOf("renamed", ids[150:], ""))
	renamed := w.MustApply().Stdout
	for _, kind := range []string{"Processors May Be Detached for a Moment", "Processors Were Detached for a Moment"} {
		if n := strings.Count(renamed, "Warning: "+kind); n > 6 {
			t.Errorf("%d × %s", n, kind)
		}
	}

	// One warning for all imports says that nothing was read.
	service.ForgetRequests()
	hcl := providerWith(`token = "t0ken"`) + fleetOf("this", ids, "")
	for i, id := range ids {
		hcl += fmt.Sprintf("import {\n  to = stream_processors.this-%s[%q]\n  id = %q\n}\n", ids[i/30*30], id, id)
	}
	if n := strings.Count(newWorkspace(t, url, hcl).MustRun("plan").Stdout, "Warning: "); n != 1 {
		t.Errorf("the plan of 300 imports has %d warnings", n)
	}
	service.WantRequests(t)
}
