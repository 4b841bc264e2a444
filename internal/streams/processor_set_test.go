package streams_test

import (
	"encoding/json"
	"slices"
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
		{[]string{`"\`, "\n", "<ä&>"}, []string{"\n", `"\`, "<ä&>"}, `["\n", "\"\\", "<ä&>"]`, `["\n","\"\\","<ä&>"]`},
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

func TestProcessorSetOperations(t *testing.T) {
	t.Parallel()
	set := streams.NewProcessorSet
	for _, test := range []struct {
		a, b, minus streams.ProcessorSet
		equal       bool
	}{
		{set(), streams.ProcessorSet{}, set(), true},
		{set("a", "b"), set("b", "a", "a"), set(), true},
		{set(), set("a"), set(), false},
		{set("a"), set("A"), set("a"), false},
		{set("a", "b", "c"), set("b", "d"), set("a", "c"), false},
	} {
		if test.a.Equal(test.b) != test.equal || test.b.Equal(test.a) != test.equal || !test.a.Minus(test.b).Equal(test.minus) {
			t.Errorf("%v and %v: equal %t, minus %v", test.a, test.b, test.a.Equal(test.b), test.a.Minus(test.b))
		}
	}
}

// No slice that went into a set or came out of it can change the set.
func TestProcessorSetIsImmutable(t *testing.T) {
	t.Parallel()
	in := []string{"b", "a"}
	s := streams.NewProcessorSet(in...)
	if !slices.Equal(in, []string{"b", "a"}) {
		t.Errorf("NewProcessorSet changed its argument to %q", in)
	}
	in[0] = "x"
	s.IDs()[0] = "z"
	_ = append(s.IDs()[:1], "z")
	if s.String() != `["a", "b"]` {
		t.Errorf("the set changed to %v", s)
	}
}
