package streams_test

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// What is wrong with a text of one line.
const (
	space   = "must not begin or end with white space, such as the line break of a file"
	control = "must not have control characters, such as a line break"
	mark    = "must not have a byte order mark (U+FEFF), with which some editors begin a file"
)

func TestCheckIDs(t *testing.T) {
	t.Parallel()
	const (
		empty = "must not be empty"
		first = "must not begin with a byte order mark (U+FEFF)"
		dots  = `must not be ".", which has a special meaning in a URL path`
	)
	for _, id := range []string{"s1", "a b", "a/b?c#d%2F;e", "...", "./..", "%2e%2e",
		"grün-流-😀", "a\u202eb", strings.Repeat("x", 5000)} {
		if err := streams.CheckStreamID(id); err != nil || streams.CheckProcessorID(id) != nil {
			t.Errorf("%.20q is refused: %v", id, err)
		}
	}
	for id, want := range map[string][2]string{
		"": {empty, empty}, " ": {space, space}, " a": {space, space}, "a ": {space, space}, "\u2003a": {space, space},
		".": {dots, ""}, "..": {strings.Replace(dots, ".", "..", 1), ""},
		"a\x00b": {control, ""}, "a\nb": {control, ""}, "a\u0085b": {control, ""},
		"a\r\n": {space, space}, "\ufeffa": {mark, first}, "a\ufeffb": {mark, ""}, "a\ufeffb\r": {mark, space},
	} {
		if got := [2]string{ErrorText(streams.CheckStreamID(id)), ErrorText(streams.CheckProcessorID(id))}; got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

func TestCheckLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a b": "", `"a"`: "", "ü": "",
		"a\r": space, "\na": space, "a ": space, "\ta": space, "a\u00a0": space, " \n": space,
		"a\r\nb": control, "a\rb": control, "a\x00b": control, "a\u009bb": control,
		"\ufeffa\r\n": mark, "a\ufeff": mark,
	} {
		if got := ErrorText(streams.CheckLine(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
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

// streamOf returns what streamJSON and streamWith describe.
func streamOf(id string, processors ...string) *streams.Stream {
	return &streams.Stream{
		ID: id, TerminalID: "t1", FragmentTypeID: "image/jpg", LastEdited: 1718000000000,
		ProcessorIDs: streams.NewProcessorSet(processors...), CompatibleNamespaces: []string{"ns1", "ns2"},
	}
}

// The body alone decides on success: status, headers and additional fields may differ.
func TestSuccess(t *testing.T) {
	t.Parallel()
	body := StreamWith(nil)
	for name, response := range map[string]http.HandlerFunc{
		"200":             Respond(200, body),
		"text/plain":      Respond(200, body, "Content-Type", "text/plain; charset=latin1"),
		"a Location":      Respond(201, body, "Location", "/v2/streams/other"),
		"byte order mark": Respond(200, "\ufeff"+body),
		"more fields":     Respond(200, StreamWith(map[string]string{"owner": `{"a":[null]}`, "ID": `"other"`, "Processor_Ids": `null`})),
		"identity":        Respond(200, body, "Content-Encoding", "identity"),
		"1 MiB":           Respond(200, body+strings.Repeat(" ", 1<<20-len(body))),
	} {
		s := StartService(t, response)
		got, err := s.Update(t, requests.Config{})
		WantEqual(t, name+": "+ErrorText(err), streamOf("s1", "p1"), got, IgnoreShown)
		s.WantRequests(t, 1)
	}
}

// A stream has its texts as Terraform stores them, in NFC. The request has what the user wrote.
func TestNormalForms(t *testing.T) {
	t.Parallel()
	const composed, decomposed = "gr\u00fcn", "gru\u0308n"
	field, list := `"`+decomposed+`"`, `["`+decomposed+`","`+composed+`"]`
	s := StartService(t, Respond(200, StreamWith(map[string]string{
		"id": field, "terminal_id": field, "fragment_type_id": field, "processor_ids": list, "compatible_namespaces": list,
	})))
	want := &streams.Stream{
		ID: composed, TerminalID: composed, FragmentTypeID: composed, LastEdited: 1718000000000,
		ProcessorIDs: streams.NewProcessorSet(composed), CompatibleNamespaces: []string{composed},
	}
	c := NewClient(t, requests.Config{BaseURL: s.URL})
	for _, id := range []string{composed, decomposed} {
		got, err := c.UpdateStream(t.Context(), id, streams.NewProcessorSet(id))
		WantEqual(t, "stream: "+ErrorText(err), want, got, IgnoreShown)
	}
	last := s.Requests()[1]
	if last.Body != `{"processor_ids":["`+decomposed+`"]}` || last.Target != "/v2/streams/gru%CC%88n" {
		t.Errorf("request %+v", last)
	}
}

// An integer is judged by its value, not by how it is written.
func TestInteger(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1718000000123": 1718000000123, "1718000000123.0": 1718000000123, "1.718000000123E12": 1718000000123,
		"1718000000123000e-3": 1718000000123,
		"0":                   0, "-0.0": 0, "-5e0": -5, "0e999999999": 0, "9223372036854775807": math.MaxInt64,
		"9223372036854775807.0":    math.MaxInt64,
		"-9.223372036854775808e18": math.MinInt64,
	} {
		s, err := StartService(t, Respond(200, StreamWith(map[string]string{"last_edited": text}))).Update(t, requests.Config{})
		if err != nil || s.LastEdited != want {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{
		"1.5", "1718000000123.0000000000000000000000000000000000001", "1e-3", "9223372036854775808", "9.3e18", "1e400", "1e99999999999",
		"1e-999999999",
		`"1718000000123"`, `"5.0"`, "true", "null", "[5]", "5" + strings.Repeat("0", 1<<20), "5." + strings.Repeat("0", 1000),
	} {
		s := StartService(t, Respond(200, StreamWith(map[string]string{"last_edited": text})))
		if e := s.UpdateError(t, requests.Config{}); !strings.Contains(e.Reason, "last_edited is not an integer") &&
			!strings.Contains(e.Reason, "longer than") {
			t.Errorf("%.50s: %s", text, e.Reason)
		}
	}
}

// A 2xx is an error unless its body is the stream with the requested id. The error shows the beginning of the body.
func TestInvalidSuccess(t *testing.T) {
	t.Parallel()
	const (
		noBody = "the response has no body"
		object = "the response is not a JSON object"
		text   = "the response is not UTF-8 text"
		stream = "the response is not a valid stream: "
		set    = stream + "processor_ids is not an array of strings"
	)
	body := StreamWith(nil)
	with := func(field, value string) string { return StreamWith(map[string]string{field: value}) }
	for name, test := range map[string]struct {
		status                int
		body, reason, message string
	}{
		"204":              {204, "", noBody, ""},
		"login page":       {200, "<!DOCTYPE html>\n<title>Log in</title>", object, "HTML page: Log in"},
		"null":             {200, "null", object, "null"},
		"incomplete JSON":  {299, body[:40], object, body[:40]},
		"deep":             {200, `{"a":` + strings.Repeat("[", 1e5), object, `{"a":[[[`},
		"not UTF-8":        {200, strings.Replace(body, "s1", "gr\xfcn", 1), text, `gr\xfcn`},
		"longer":           {200, strings.Repeat(" ", 1<<20) + body, "the response is longer than 1 MiB", ""},
		"another stream":   {200, with("id", `"s2"`), `the response describes another stream, "s2"`, ""},
		"another case":     {200, with("id", `"S1"`), `the response describes another stream, "S1"`, ""},
		"null in the set":  {200, with("processor_ids", `["p1",null]`), set, "null"},
		"another spelling": {200, strings.Replace(body, "terminal", "Terminal", 1), stream + "terminal_id is missing", "Terminal_id"},
		"date, other case": {200, strings.Replace(with("last_edited", `"x"`), `"s1"`, `"S1"`, 1), stream +
			"last_edited is not an integer", "S1"},
		"a fraction": {200, with("last_edited", `1.5`), stream + "last_edited is not an integer", "1.5"},
		"an error body": {200, `{"message":"not really"}`, stream + "id is missing, terminal_id is missing, fragment_type_id is missing, " +
			"processor_ids is missing, last_edited is missing, compatible_namespaces is missing", "not really"},
		"all wrong": {200, `{"id":1,"terminal_id":null,"processor_ids":{},"last_edited":"x","compatible_namespaces":[1]}`,
			stream + "id is not a string, terminal_id is not a string, fragment_type_id is missing, processor_ids is not an array of " +
				"strings, last_edited is not an integer, compatible_namespaces is not an array of strings", `{"id":1`},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			s := StartService(t, Respond(test.status, test.body))
			e := s.UpdateError(t, requests.Config{})
			if WantFailed(t, e, streams.KindUnexpected, streams.Unknown, 1); e.Reason != test.reason || e.Status != test.status {
				t.Errorf("error %#v", e)
			}
			if isObject := strings.HasPrefix(test.reason, stream); errors.Is(e, streams.ErrInvalidStream) != isObject {
				t.Errorf("error %#v", e)
			}
			streamstest.WantText(t, e.Message, test.message)
			s.WantRequests(t, 1)
		})
	}
}

// The id of another stream is shown as the service writes it, and the body is a stream, so that its text is no message.
func TestAnotherStream(t *testing.T) {
	t.Parallel()
	for id, theirs := range map[string]string{
		"6F9619FF-8B86-D011-B42D-00CF4FC964FF": "6f9619ff-8b86-d011-b42d-00cf4fc964ff", "cam-1": "CAM-1", "Straße-Ä": "straße-ä", "S1": "s2",
		"a": "",
	} {
		s := StartService(t, Respond(200, StreamJSON(theirs, []string{"p1"})))
		c := NewClient(t, requests.Config{BaseURL: s.URL})
		_, updateErr := c.UpdateStream(t.Context(), id, streams.NewProcessorSet("p1"))
		_, readErr := c.ReadStream(t.Context(), id)
		for _, e := range []*streams.Error{AsError(t, updateErr), AsError(t, readErr)} {
			if !errors.Is(e, streams.ErrOtherStream) || e.Kind != streams.KindUnexpected || e.Message != "" {
				t.Errorf("%q: %#v", id, e)
			}
			streamstest.WantText(t, e.Reason, strconv.Quote(theirs))
		}
	}
}
