package streams_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func TestCheckIDs(t *testing.T) {
	t.Parallel()
	const (
		empty   = "must not be empty"
		space   = "must not begin or end with white space"
		control = "must not contain the control character U+"
		mark    = "must not contain a byte order mark (U+FEFF)"
		dots    = `must not be ".", which has a special meaning in a URL path`
	)
	for _, id := range []string{"s1", "a b", "a/b?c#d%2F;e", "...", "./..", "%2e%2e", "grün-流-😀", "a\u202eb", strings.Repeat("x", 5000)} {
		if err := streams.CheckStreamID(id); err != nil || streams.CheckProcessorID(id) != nil {
			t.Errorf("%.20q is refused: %v", id, err)
		}
	}
	for id, want := range map[string][2]string{
		"": {empty, empty}, " ": {space, space}, " a": {space, space}, "a ": {space, space}, "\u2003a": {space, space},
		".": {dots, ""}, "..": {strings.Replace(dots, ".", "..", 1), ""},
		"a\x00b": {control + "0000", ""}, "a\nb": {control + "000A", ""}, "a\u0085b": {control + "0085", ""},
		"a\r\n": {control + "000D", space}, "\ufeffa": {mark, ""}, "a\ufeffb\r": {mark, space},
	} {
		if got := [2]string{errorText(streams.CheckStreamID(id)), errorText(streams.CheckProcessorID(id))}; got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

func TestProcessorSet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in, ids    []string
		text, json string
	}{
		{nil, []string{}, `[]`, `[]`},
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
