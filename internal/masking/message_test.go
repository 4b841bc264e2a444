package masking_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
)

// The error has the documented message unchanged, or the text of any other body. Neither can change the terminal's
// output.
func TestMessage(t *testing.T) {
	t.Parallel()
	const documented = masking.FormDocumented
	long := strings.Repeat("ä", 5000)
	for name, test := range map[string]struct {
		body, want string
		form       masking.Form
	}{
		"documented form":  {`{"message":"no such processor: \"p9\"  "}`, `no such processor: "p9"  `, documented},
		"byte order mark":  {"\ufeff" + `{"message":"no"}`, "no", documented},
		"long":             {`{"message":"` + long + `"}`, long[:2*4000] + "…", documented},
		"another spelling": {`{"Message":"No HTTP resource\u001b"}`, `No HTTP resource\x1b`, masking.FormJSON},
		"problem details":  {`{"title":"No","detail":"a\nb"}`, `No: a\nb`, masking.FormJSON},
		"other JSON":       {`{"a": {"b": 5}}`, `{"a": {"b": 5}}`, masking.FormJSON},
		"null message":     {`{"message":null}`, `{"message":null}`, masking.FormJSON},
		"empty":            {" \n ", "", masking.FormText},
		"HTML": {"<!DOCTYPE html><title>502</title><style>p {}</style><script>if (a<b) {}</script><!-- <p> -->\n  " +
			"<h1 a='b'>Bad\tGateway&nbsp;&lt;p&gt;</h1>\n", "HTML page: 502 Bad Gateway <p>", masking.FormPage},
		"cut HTML":           {"<H1>No</H1><SCRIPT>if (a", "HTML page: No", masking.FormPage},
		"long HTML":          {"<p>" + long, "HTML page: " + long[:2*289] + "…", masking.FormPage},
		"HTML without text":  {"<!DOCTYPE html><div id=app></div><script src=a></script>", "HTML page without text", masking.FormPage},
		"many escapes":       {strings.Repeat("\x1b", 200), strings.Repeat(`\x1b`, 75) + "…", masking.FormText},
		"not UTF-8":          {"gr\xfcn", `gr\xfcn`, masking.FormText},
		"terminal escapes":   {`{"message":"a\r\n\tb\u001b[31mred\u0007"}`, `a\r\n\tb\x1b[31mred\a`, documented},
		"bidirectional text": {`{"message":"p1\u202e1p\u200b\udb40\udc41"}`, `p1\u202e1p\u200b\U000e0041`, documented},
		"every script":       {`{"message":"grün 流れ 😀 \u00a0 é"}`, "grün 流れ 😀 \u00a0 é", documented},
	} {
		RunVirtual(t, name, func(t *testing.T) {
			e := StartService(t, Respond(http.StatusConflict, test.body)).UpdateError(t, requests.Config{})
			if e.Message != test.want || e.Form != test.form {
				t.Errorf("%.100q is shown as %.200q, form %d; want %.200q", test.body, e.Message, e.Form, test.want)
			}
		})
	}
}
