package streams_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func TestProcessorSet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		set  streams.ProcessorSet
		ids  []string
		text string
		json string
	}{
		"zero value":     {streams.ProcessorSet{}, []string{}, `[]`, `[]`},
		"no ids":         {streams.NewProcessorSet(), []string{}, `[]`, `[]`},
		"one id":         {streams.NewProcessorSet("a"), []string{"a"}, `["a"]`, `["a"]`},
		"the empty id":   {streams.NewProcessorSet(""), []string{""}, `[""]`, `[""]`},
		"unsorted":       {streams.NewProcessorSet("b", "a", "C"), []string{"C", "a", "b"}, `["C", "a", "b"]`, `["C","a","b"]`},
		"repeated":       {streams.NewProcessorSet("b", "a", "b", "b"), []string{"a", "b"}, `["a", "b"]`, `["a","b"]`},
		"special":        {streams.NewProcessorSet(`"\`, "\n", "ä"), []string{"\n", `"\`, "ä"}, `["\n", "\"\\", "ä"]`, `["\n","\"\\","ä"]`},
		"HTML stays":     {streams.NewProcessorSet("<a&b>"), []string{"<a&b>"}, `["<a&b>"]`, `["<a&b>"]`},
		"not graphic":    {streams.NewProcessorSet("\x1b\u202e"), []string{"\x1b\u202e"}, `["\x1b\u202e"]`, "[\"\\u001b\u202e\"]"},
		"commas, spaces": {streams.NewProcessorSet("a, b", "a,b"), []string{"a, b", "a,b"}, `["a, b", "a,b"]`, `["a, b","a,b"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.set.IDs(); !reflect.DeepEqual(got, test.ids) {
				t.Errorf("IDs() = %#v, want %#v", got, test.ids)
			}
			if got := test.set.Len(); got != len(test.ids) {
				t.Errorf("Len() = %d, want %d", got, len(test.ids))
			}
			if got := test.set.String(); got != test.text {
				t.Errorf("String() = %s, want %s", got, test.text)
			}
			encoded, err := test.set.MarshalJSON()
			if err != nil || string(encoded) != test.json {
				t.Errorf("MarshalJSON() = %s, %v, want %s", encoded, err, test.json)
			}
			decoded := streams.NewProcessorSet("before")
			if err := json.Unmarshal(encoded, &decoded); err != nil || !decoded.Equal(test.set) {
				t.Errorf("json.Unmarshal(%s) = %v, %v", encoded, decoded, err)
			}
		})
	}
}

func TestProcessorSetOperations(t *testing.T) {
	t.Parallel()
	set := streams.NewProcessorSet
	for name, test := range map[string]struct {
		a, b, minus streams.ProcessorSet
		equal       bool
	}{
		"both empty":      {set(), streams.ProcessorSet{}, set(), true},
		"same ids":        {set("a", "b"), set("b", "a", "a"), set(), true},
		"first is empty":  {set(), set("a"), set(), false},
		"second is empty": {set("a"), set(), set("a"), false},
		"subset":          {set("b"), set("a", "b", "c"), set(), false},
		"superset":        {set("a", "b", "c"), set("b"), set("a", "c"), false},
		"overlap":         {set("a", "b"), set("b", "c"), set("a"), false},
		"disjoint":        {set("a", "c"), set("b"), set("a", "c"), false},
		"another case":    {set("a"), set("A"), set("a"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.a.Equal(test.b) != test.equal || test.b.Equal(test.a) != test.equal {
				t.Errorf("%v equal to %v: want %t", test.a, test.b, test.equal)
			}
			if diff := cmp.Diff(test.minus.IDs(), test.a.Minus(test.b).IDs()); diff != "" {
				t.Errorf("%v minus %v (-want +got):\n%s", test.a, test.b, diff)
			}
			if test.a.Minus(test.a).Len() != 0 {
				t.Errorf("%v minus itself is not empty", test.a)
			}
		})
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
	in[0], in[1] = "x", "y"
	s.IDs()[0] = "z"
	_ = append(s.IDs()[:1], "z")
	if want := streams.NewProcessorSet("a", "b"); !s.Equal(want) {
		t.Errorf("the set changed to %v", s)
	}
}

func TestProcessorSetUnmarshalRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`null`, `[null]`, `["a",null]`, `[1]`, `[["a"]]`, `{}`, `"a"`, `true`} {
		s := streams.NewProcessorSet("before")
		if err := json.Unmarshal([]byte(in), &s); err == nil {
			t.Errorf("%s was accepted as %v", in, s)
		}
		if !s.Equal(streams.NewProcessorSet("before")) {
			t.Errorf("%s was refused, but changed the set to %v", in, s)
		}
	}
}

// As a field, too, the empty set is an array, and HTML escaping is the encoder's choice.
func TestProcessorSetAsField(t *testing.T) {
	t.Parallel()
	type body struct {
		IDs streams.ProcessorSet `json:"ids"`
	}
	for want, set := range map[string]streams.ProcessorSet{
		`{"ids":[]}`:      {},
		`{"ids":["<a>"]}`: streams.NewProcessorSet("<a>"),
	} {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(body{set}); err != nil || b.String() != want+"\n" {
			t.Errorf("encoded as %s (%v), want %s", b.String(), err, want)
		}
	}
}
