package streams

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Some services encode every number as a float. Only whole numbers that a float represents exactly are times.
func TestDecodeTime(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int64{
		"0": 0, "-0.0": 0, "-1": -1, "1.0": 1, "1.718e12": 1718000000000, "9007199254740991.0": 1<<53 - 1,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
	} {
		var got int64
		if !integerInto(&got)(json.RawMessage(raw)) || got != want {
			t.Errorf("%s is read as %d", raw, got)
		}
	}
	for _, raw := range []string{"1.5", "1e-1", "1e300", "1e400", "1e16", "9007199254740993.0", "9223372036854775808", `"1"`, "null", "[]"} {
		if integerInto(new(int64))(json.RawMessage(raw)) {
			t.Errorf("%s is accepted", raw)
		}
	}
}

// An accepted body has all six fields, with their types and exact names, according to another decoder.
func FuzzDecodeStream(f *testing.F) {
	const stream = `{"id":"a","terminal_id":"b","fragment_type_id":"c","processor_ids":["p2","p1","p1"],"last_edited":1,"compatible_namespaces":[]}`
	for _, last := range []string{"1", "1.718e12", "9007199254740993.0"} {
		f.Add([]byte(strings.Replace(stream, `:1,`, ":"+last+",", 1)))
	}
	f.Add([]byte(strings.ReplaceAll(stream, `"id"`, `"ID"`)))
	f.Add([]byte(`{"id":"a","id":null}`))
	f.Add([]byte(`null`))
	f.Add([]byte("\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := decodeStream(in)
		if err != nil {
			if s != nil || err.Error() == "" {
				t.Fatalf("error %q with %+v", err, s)
			}
			return
		}
		var fields map[string]any
		decoder := json.NewDecoder(strings.NewReader(string(in)))
		decoder.UseNumber()
		if err := decoder.Decode(&fields); err != nil || decoder.More() || !utf8.Valid(in) {
			t.Fatalf("%q was accepted, but is not a JSON object in UTF-8 (%v)", in, err)
		}
		for field, got := range map[string]string{
			"id": s.ID, "terminal_id": s.TerminalID, "fragment_type_id": s.FragmentTypeID,
		} {
			if want, ok := fields[field].(string); !ok || got != want {
				t.Errorf("%s is %q, want %#v", field, got, fields[field])
			}
		}
		for field, got := range map[string][]string{
			"processor_ids": s.ProcessorIDs.IDs(), "compatible_namespaces": s.CompatibleNamespaces,
		} {
			list, ok := fields[field].([]any)
			if !ok || got == nil || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
				t.Errorf("%s is %q, want %#v as a set", field, got, fields[field])
			}
			members := map[any]bool{}
			for _, member := range list {
				members[member] = true
			}
			for _, member := range got {
				if !members[member] {
					t.Errorf("%s has %q, which is not in %#v", field, member, list)
				}
			}
			if len(members) != len(got) {
				t.Errorf("%s is %q, want %#v", field, got, list)
			}
		}
		number, ok := fields["last_edited"].(json.Number)
		if ms, err := number.Float64(); !ok || err != nil || float64(s.LastEdited) != ms {
			t.Errorf("last_edited is %d, want %#v", s.LastEdited, fields["last_edited"])
		}
	})
}
