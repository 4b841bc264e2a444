package streams

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// streamBody returns a valid response with some fields replaced. The value "" removes a field.
func streamBody(replace map[string]string) string {
	fields := map[string]string{
		"id":                    `"s1"`,
		"terminal_id":           `"t1"`,
		"fragment_type_id":      `"image/jpg"`,
		"processor_ids":         `["p2","p1"]`,
		"last_edited":           `1718000000000`,
		"compatible_namespaces": `["ns2","ns1"]`,
	}
	maps.Copy(fields, replace)
	var members []string
	for name, value := range fields {
		if value != "" {
			members = append(members, `"`+name+`":`+value)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestDecodeStream(t *testing.T) {
	t.Parallel()
	whole := func(change func(*Stream)) *Stream {
		s := &Stream{
			ID: "s1", TerminalID: "t1", FragmentTypeID: "image/jpg", LastEdited: 1718000000000,
			ProcessorIDs: NewProcessorSet("p1", "p2"), CompatibleNamespaces: []string{"ns1", "ns2"},
		}
		change(s)
		return s
	}
	unchanged := func(*Stream) {}
	edited := func(ms int64) func(*Stream) { return func(s *Stream) { s.LastEdited = ms } }
	for name, test := range map[string]struct {
		body string
		want func(*Stream)
	}{
		"as specified":          {streamBody(nil), unchanged},
		"white space around it": {" \r\n\t" + streamBody(nil) + "\n", unchanged},
		"unknown fields":        {streamBody(map[string]string{"owner": `{"a":[null]}`, "": `1`}), unchanged},
		"another spelling too":  {streamBody(map[string]string{"ID": `"other"`, "Processor_Ids": `null`}), unchanged},
		"the last of two":       {`{"id":"other",` + streamBody(nil)[1:], unchanged},
		"empty strings": {streamBody(map[string]string{"terminal_id": `""`, "fragment_type_id": `""`}),
			func(s *Stream) { s.TerminalID, s.FragmentTypeID = "", "" }},
		"empty sets": {streamBody(map[string]string{"processor_ids": `[]`, "compatible_namespaces": `[ ]`}),
			func(s *Stream) { s.ProcessorIDs, s.CompatibleNamespaces = NewProcessorSet(), []string{} }},
		"repeated members": {streamBody(map[string]string{"processor_ids": `["b","a","b","a"]`}),
			func(s *Stream) { s.ProcessorIDs = NewProcessorSet("a", "b") }},
		"escapes and every plane": {streamBody(map[string]string{"terminal_id": `"\u0000\ud83d\ude00é\""`}),
			func(s *Stream) { s.TerminalID = "\x00😀é\"" }},
		"time with exponent":       {streamBody(map[string]string{"last_edited": `1.718e12`}), edited(1718000000000)},
		"time with big exponent":   {streamBody(map[string]string{"last_edited": `1.718E+12`}), edited(1718000000000)},
		"time with decimal point":  {streamBody(map[string]string{"last_edited": `1.0`}), edited(1)},
		"time zero":                {streamBody(map[string]string{"last_edited": `0`}), edited(0)},
		"time minus zero":          {streamBody(map[string]string{"last_edited": `-0.0`}), edited(0)},
		"time before 1970":         {streamBody(map[string]string{"last_edited": `-1`}), edited(-1)},
		"largest time":             {streamBody(map[string]string{"last_edited": `9223372036854775807`}), edited(math.MaxInt64)},
		"smallest time":            {streamBody(map[string]string{"last_edited": `-9223372036854775808`}), edited(math.MinInt64)},
		"largest exact float time": {streamBody(map[string]string{"last_edited": `9007199254740991.0`}), edited(1<<53 - 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := decodeStream([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(whole(test.want), got, cmpopts.IgnoreUnexported(Stream{})); diff != "" {
				t.Errorf("decodeStream(%s) (-want +got):\n%s", test.body, diff)
			}
		})
	}
}

// Each field is required and has one type (INTERFACE.md, section 2).
func TestDecodeStreamWrongField(t *testing.T) {
	t.Parallel()
	const text, list, number = "a string", "an array of strings", "an integer"
	for field, kind := range map[string]string{
		"id": text, "terminal_id": text, "fragment_type_id": text,
		"processor_ids": list, "compatible_namespaces": list, "last_edited": number,
	} {
		wrong := []string{`null`, `true`, `{}`, `[null]`, `["a",null]`, `[["a"]]`, `["a",1]`, `"1718000000000"`, `1.5`, `[1]`}
		switch kind {
		case text:
			wrong = slices.DeleteFunc(wrong, func(v string) bool { return v[0] == '"' })
			wrong = append(wrong, `[]`, `1`)
		case list:
			wrong = append(wrong, `1`)
		case number:
			wrong = append(wrong, `[]`, `"now"`, `""`, `1e400`, `1e300`, `9223372036854775808`, `-9223372036854775809`,
				`1e-1`, `9007199254740993.0`, `1e16`)
		}
		for _, value := range wrong {
			_, err := decodeStream([]byte(streamBody(map[string]string{field: value})))
			if want := "the response is not a stream: " + field + " is not " + kind; err == nil || err.Error() != want {
				t.Errorf("%s %s: error %v, want %q", field, value, err, want)
			}
		}

		want := "the response is not a stream: " + field + " is missing"
		first := strings.ToUpper(field[:1]) + field[1:]
		for _, spelling := range []string{"", strings.ToUpper(field), first, strings.ReplaceAll(field, "_", "-") + "s", field + " "} {
			replace := map[string]string{field: ""}
			if spelling != "" {
				replace[spelling] = `"s1"`
			}
			if _, err := decodeStream([]byte(streamBody(replace))); err == nil || err.Error() != want {
				t.Errorf("%s spelled %q: error %v, want %q", field, spelling, err, want)
			}
		}
	}
}

func TestDecodeStreamAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`: "the response is not a stream: id is missing, terminal_id is missing, fragment_type_id is missing, " +
			"processor_ids is missing, last_edited is missing, compatible_namespaces is missing",
		`{"id":1,"terminal_id":null,"processor_ids":{},"last_edited":"x","compatible_namespaces":[1]}`: "the response is not a " +
			"stream: id is not a string, terminal_id is not a string, fragment_type_id is missing, processor_ids is not an " +
			"array of strings, last_edited is not an integer, compatible_namespaces is not an array of strings",
	} {
		if _, err := decodeStream([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("decodeStream(%s): error\n%v, want\n%s", in, err, want)
		}
	}
}

func TestDecodeStreamNotAnObject(t *testing.T) {
	t.Parallel()
	const text, empty, object = "the response is not UTF-8 text", "the response has no body", "the response is not a JSON object"
	for in, want := range map[string]string{
		"":                                 empty,
		" \r\n\t":                          empty,
		"null":                             object,
		"true":                             object,
		`"s1"`:                             object,
		"[" + streamBody(nil) + "]":        object,
		streamBody(nil) + "x":              object,
		streamBody(nil) + streamBody(nil):  object,
		streamBody(nil)[1:]:                object,
		streamBody(nil)[:40]:               object,
		")]}'\n" + streamBody(nil):         object,
		"<!DOCTYPE html><title>Log in":     object,
		strings.Repeat("[", 20000):         object,
		`{"a":` + strings.Repeat("[", 1e5): object,
		strings.Replace(streamBody(nil), "s1", "s\xff1", 1): text,
		"\xff\xfe{\x00}\x00": text,
		strings.Replace(streamBody(nil), "s1", "\xed\xa0\x80", 1):   text, // half of a surrogate pair
		strings.Replace(streamBody(nil), "s1", "gr\xfc\xdfe", 1):    text, // Latin-1
		streamBody(map[string]string{"other": "\"\xc3\x28\""}):      text,
		"\x1f\x8b\x08\x00\x00\x00\x00\x00":                          text, // gzip
		strings.Replace(streamBody(nil), `"s1"`, "\"s\n1\"", 1):     object,
		strings.Replace(streamBody(nil), `"s1"`, `'s1'`, 1):         object,
		strings.Replace(streamBody(nil), `1718000000000`, "01", 1):  object,
		strings.Replace(streamBody(nil), `1718000000000`, "NaN", 1): object,
	} {
		s, err := decodeStream([]byte(in))
		if s != nil || err == nil || err.Error() != want {
			t.Errorf("decodeStream(%.80q): %v, error %v, want %q", in, s, err, want)
		}
	}
}

// An accepted body has all six fields, with their types and exact names, according to another decoder.
func FuzzDecodeStream(f *testing.F) {
	f.Add([]byte(streamBody(nil)))
	f.Add([]byte(streamBody(map[string]string{"last_edited": "1.718e12", "processor_ids": "[]"})))
	f.Add([]byte(streamBody(map[string]string{"last_edited": "9007199254740993.0"})))
	f.Add([]byte(streamBody(map[string]string{"id": "", "ID": `"s1"`})))
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
