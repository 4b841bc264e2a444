package streams_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// The error has the documented message unchanged, or the text of any other body. Neither can change the terminal's
// output.
func TestMessage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 5000)
	for name, test := range map[string]struct {
		body, want string
		documented bool
	}{
		"documented form":      {`{"message":"no such processor: \"p9\"  "}`, `no such processor: "p9"  `, true},
		"additional field":     {`{"code":7,"message":"no"}`, "no", true},
		"byte order mark":      {"\ufeff" + `{"message":"no"}`, "no", true},
		"empty message":        {`{"message":""}`, "", true},
		"long":                 {`{"message":"` + long + `"}`, long[:2*4000] + "…", true},
		"longest message":      {`{"message":"` + long[:2*4000] + `"}`, long[:2*4000], true},
		"another spelling":     {`{"Message":"No HTTP resource"}`, `{"Message":"No HTTP resource"}`, false},
		"message not a string": {`{"message":{"a":1}}`, `{"message":{"a":1}}`, false},
		"null message":         {`{"message":null}`, `{"message":null}`, false},
		"in an array":          {`[{"message":"no"}]`, `[{"message":"no"}]`, false},
		"trailing garbage":     {`{"message":"no"}}`, `{"message":"no"}}`, false},
		"empty":                {" \n ", "", false},
		"HTML": {"<!DOCTYPE html><html><title>502</title><style>p {}</style><script>if (a<b) {}</script><!-- <p> -->\n  <h1 a='b'>Bad\tGateway&nbsp;</h1>\n",
			"HTML page: 502 Bad Gateway", false},
		"long HTML":          {"<p>" + long, "HTML page: " + long[:2*289] + "…", false},
		"many escapes":       {strings.Repeat("\x1b", 200), strings.Repeat(`\x1b`, 75) + "…", false},
		"not UTF-8":          {"gr\xfcn", `gr\xfcn`, false},
		"terminal escapes":   {`{"message":"a\r\n\tb\u001b[31mred\u0007"}`, `a\r\n\tb\x1b[31mred\a`, true},
		"escapes in a page":  {"<p>\x1b]0;title\x07", `HTML page: \x1b]0;title\a`, false},
		"bidirectional text": {`{"message":"p1\u202e1p\u200b\udb40\udc41"}`, `p1\u202e1p\u200b\U000e0041`, true},
		"every script":       {`{"message":"grün 流れ 😀 \u00a0 é"}`, "grün 流れ 😀 \u00a0 é", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startService(t, respond(http.StatusConflict, test.body)).updateError(t, streams.Config{})
			if e.Message != test.want || e.Documented != test.documented {
				t.Errorf("%.100q is shown as %.200q, documented %t; want %.200q, %t", test.body, e.Message, e.Documented, test.want, test.documented)
			}
		})
	}
}
