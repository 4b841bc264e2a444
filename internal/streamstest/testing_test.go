package streamstest_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// failures is a test that records its failures and goes on.
type failures []string

func (*failures) Helper()        {}
func (*failures) Cleanup(func()) {}
func (f *failures) Fatalf(format string, args ...any) {
	*f = append(*f, fmt.Sprintf(format, args...))
}

func TestWantRequests(t *testing.T) {
	t.Parallel()
	const one, two = `PATCH /v2/streams/s1 {"processor_ids":["p2"]}`, `GET /v2/streams/s2`
	for name, test := range map[string]struct {
		want  []string
		fails bool
	}{
		"all, in any order": {[]string{two, one}, false},
		"none":              {nil, true},
		"one is missing":    {[]string{one}, true},
		"one is twice":      {[]string{one, two, two}, true},
		"another":           {[]string{one, `GET /v2/streams/s3`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("s1", "s2")...)
			patch(t, url+"/v2/streams/s1", `{"processor_ids":["p2"]}`)
			sendChecked(t, newRequest(t, "GET", url+"/v2/streams/s2", ""))
			f := new(failures)
			service.WantRequests(f, test.want...)
			if failed := len(*f) > 0; failed != test.fails {
				t.Errorf("failures: %q", *f)
			}
			service.WantRequests(t)
		})
	}
}

func TestWantAttached(t *testing.T) {
	t.Parallel()
	service := streamstest.New(streamstest.Options{}, streamstest.Stream{ID: "s1", ProcessorIDs: []string{"p2", "p1"}})
	service.WantAttached(t, "s1", "p1", "p2")
	f := new(failures)
	service.WantAttached(f, "s1", "p1")
	service.WantAttached(f, "s1", "p1", "p2", "p3")
	service.WantAttached(f, "s2")
	want := []string{
		`stream "s1" has processors ["p1" "p2"], want ["p1"]`,
		`stream "s1" has processors ["p1" "p2"], want ["p1" "p2" "p3"]`,
		`the service has no stream "s2"`,
	}
	if diff := cmp.Diff(want, []string(*f)); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}
