package acceptance

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
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
	if os.Getenv("TF_ACC") == "" {
		return nil, nil
	}
	return readDeployment(os.Environ())
})

// skipOnRealDeployment skips a test that needs the stand-in service if the environment names a deployment.
func skipOnRealDeployment(t *testing.T) {
	t.Helper()
	if d, _ := realDeployment(); d != nil {
		t.Skip("needs the switches of the stand-in service, and STREAM_BASE_URL names another one")
	}
}

// readDeployment returns nil if the environment names no deployment.
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
	if list := vars["STREAM_ACC_PROCESSOR_IDS"]; list != "" {
		for id := range strings.SplitSeq(list, ",") {
			d.processorIDs = append(d.processorIDs, strings.TrimSpace(id))
		}
		slices.Sort(d.processorIDs)
		d.processorIDs = slices.Compact(d.processorIDs)
	}
	if keepProcessors := vars["STREAM_ACC_KEEP"]; keepProcessors != "" {
		var err error
		if d.keepProcessors, err = strconv.ParseBool(keepProcessors); err != nil {
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

		"address alone": {[]string{base}, nil, []string{"because of STREAM_BASE_URL in", "STREAM_ACC_STREAM_ID is missing", "STREAM_ACC_PROCESSOR_IDS is missing", "unset STREAM_BASE_URL"}},
		"no address":    {[]string{stream, ids}, nil, []string{"STREAM_BASE_URL is missing", "unset STREAM_ACC_PROCESSOR_IDS, STREAM_ACC_STREAM_ID"}},
		"no processors": {[]string{base, stream}, nil, []string{"STREAM_ACC_PROCESSOR_IDS is missing"}},
		"keep alone":    {[]string{"STREAM_ACC_KEEP=1"}, nil, []string{"STREAM_BASE_URL is missing"}},
		"wrong keep":    {[]string{base, stream, ids, "STREAM_ACC_KEEP=yes"}, nil, []string{"STREAM_ACC_KEEP must be 1 or 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readDeployment(test.environ)
			if (err != nil) != (test.problems != nil) {
				t.Fatalf("error: %v", err)
			}
			if err != nil {
				wantContains(t, err.Error(), test.problems...)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}
