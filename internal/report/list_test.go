package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// The texts that differ stand beside their streams: the first 20, each up to 300 characters. The others are counted, and have names.
func TestManyDifferentMessages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(" and a long explanation", 30)
	var f failures
	f.add(25, service(503, "{id}: trace"+long, streams.Unknown))
	detail := f.diagnostics()[0].Detail()
	streamstest.WantText(t, detail,
		"503 Service Unavailable (2 attempts)\nThe service said: s0000: trace"+long+"\n\n\"s0000\": The service said: s0000: trace and",
		"…\n\"s0001\": The service said: s0001: trace and",
		"…\n\"s0020\", \"s0021\", \"s0022\", \"s0023\", \"s0024\": 5 more different messages; TF_LOG_PROVIDER=TRACE shows all responses\n\nThe "+
			"service may ",
		"\n\nFor each of them: The stream may or may not")
	for line := range strings.Lines(detail) {
		if _, text, found := strings.Cut(line, `": `); found && len([]rune(text)) > masking.MaxText+2 { // "…" and a line break
			t.Errorf("%d characters: %s", len(text), line)
		}
	}

	var many failures
	many.add(5000, service(400, "trace {id}", streams.NotChanged))
	detail = many.diagnostics()[0].Detail()
	if named := strings.Count(detail, `"s`); named != namedStreams {
		t.Errorf("%d names", named)
	}
	streamstest.WantText(t, detail, `, "s0999" and 4000 more: 4980 more different messages;`,
		"\nFor each of them: The stream was not changed.")
}

// The streams with one text of thousands have names, and so has each text.
func TestListNames(t *testing.T) {
	t.Parallel()
	many := row{"many", slices.Repeat([]string{"x"}, namedStreams+20)}
	got := list([]row{many, {"", []string{"n"}}, {"one", []string{"y"}}, {"two", []string{"z", "z"}}}, 2)
	want := strings.Repeat("x, ", namedStreams-1) +
		"x and 20 more: many\ny: one\nz and 1 more: 1 more different messages; TF_LOG_PROVIDER=TRACE shows all responses\nn"
	if got != want {
		t.Errorf("%s", got)
	}
}
