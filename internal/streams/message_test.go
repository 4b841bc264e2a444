package streams_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// The error has the documented message unchanged, or the text of any other body.
func TestMessage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 5000)
	for name, test := range map[string]struct {
		body       string
		want       string
		documented bool
	}{
		"documented form":       {`{"message":"no such processor: \"p9\""}`, `no such processor: "p9"`, true},
		"additional field":      {`{"code":7,"message":"no"}`, "no", true},
		"empty message":         {`{"message":""}`, "", true},
		"white space in it":     {`{"message":"  a  b "}`, "  a  b ", true},
		"lines in it":           {`{"message":"a\r\n\tb"}`, `a\u000d\n\tb`, true},
		"long":                  {`{"message":"` + long + `"}`, long[:2*4000] + "…", true},
		"longest message":       {`{"message":"` + long[:2*4000] + `"}`, long[:2*4000], true},
		"another spelling":      {`{"Message":"No HTTP resource"}`, `{"Message":"No HTTP resource"}`, false},
		"message not a string":  {`{"message":{"a":1}}`, `{"message":{"a":1}}`, false},
		"null message":          {`{"message":null}`, `{"message":null}`, false},
		"another form":          {`{"error":"nope"}`, `{"error":"nope"}`, false},
		"in an array":           {`[{"message":"no"}]`, `[{"message":"no"}]`, false},
		"JSON text":             {`"no"`, `"no"`, false},
		"null":                  {`null`, `null`, false},
		"trailing garbage":      {`{"message":"no"}}`, `{"message":"no"}}`, false},
		"empty":                 {"", "", false},
		"white space":           {" \n ", "", false},
		"HTML":                  {"<html>\n  <h1>502\tBad Gateway</h1>\n</html>\n", "HTML page: 502 Bad Gateway", false},
		"long HTML":             {"<p>" + long, "HTML page: " + long[:2*289] + "…", false},
		"not UTF-8":             {"gr\xfcn", `gr\xfcn`, false},
		"not UTF-8 in JSON":     {"{\"message\":\"gr\xfcn\"}", "gr\ufffdn", true},
		"terminal escapes":      {`{"message":"\u001b[31mred\u001b[0m\u0007"}`, `\u001b[31mred\u001b[0m\u0007`, true},
		"terminal escapes raw":  {"\x1b]0;title\x07\x9b", `\u001b]0;title\u0007\x9b`, false},
		"bidirectional control": {`{"message":"p1\u202e1p\u2066\u200f"}`, `p1\u202e1p\u2066\u200f`, true},
		"invisible":             {`{"message":"a\u200bb\ufeff\u00ad\u2028\udb40\udc41"}`, `a\u200bb\ufeff\u00ad\u2028\U000e0041`, true},
		"every script":          {`{"message":"grün 流れ 😀 \u00a0 é"}`, "grün 流れ 😀 \u00a0 é", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startService(t, respond(http.StatusConflict, test.body)).updateError(t, streams.Config{})
			if e.Message != test.want || e.Documented != test.documented {
				t.Errorf("%.100q is shown as %.200q, documented %t; want %.200q, %t",
					test.body, e.Message, e.Documented, test.want, test.documented)
			}
		})
	}
}
