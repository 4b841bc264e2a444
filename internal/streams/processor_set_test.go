package streams_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func TestProcessorSet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in, ids    []string
		text, json string
	}{
		{nil, []string{}, `[]`, `[]`},
		{[]string{""}, []string{""}, `[""]`, `[""]`},
		{[]string{"b", "a", "C", "b"}, []string{"C", "a", "b"}, `["C", "a", "b"]`, `["C","a","b"]`},
		{[]string{`"\`, "\n", "<ä&>"}, []string{"\n", `"\`, "<ä&>"}, `["\n", "\"\\", "<ä&>"]`, `["\n","\"\\","\u003cä\u0026\u003e"]`},
		{[]string{"\x1b\u202e"}, []string{"\x1b\u202e"}, `["\x1b\u202e"]`, "[\"\\u001b\u202e\"]"},
	} {
		set := streams.NewProcessorSet(test.in...)
		if diff := cmp.Diff(test.ids, set.IDs()); diff != "" || set.Len() != len(test.ids) || set.String() != test.text {
			t.Errorf("%q: %d ids, %s (-want +got):\n%s", test.in, set.Len(), set, diff)
		}
		encoded, err := set.MarshalJSON()
		if err != nil || string(encoded) != test.json {
			t.Errorf("%q is encoded as %s, %v", test.in, encoded, err)
		}
		decoded := streams.NewProcessorSet("before")
		if err := json.Unmarshal(encoded, &decoded); err != nil || !decoded.Equal(set) {
			t.Errorf("%s is decoded as %v, %v", encoded, decoded, err)
		}
	}
	for _, in := range []string{`null`, `[null]`, `["a",null]`, `[1]`, `{}`, `"a"`} {
		set := streams.NewProcessorSet("before")
		if err := json.Unmarshal([]byte(in), &set); err == nil || set.String() != `["before"]` {
			t.Errorf("%s is decoded as %v", in, set)
		}
	}
}
