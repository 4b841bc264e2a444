package streams_test

import (
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func TestCheckIDs(t *testing.T) {
	t.Parallel()
	const (
		empty   = "must not be empty"
		space   = "must not begin or end with white space"
		control = "must not contain control characters"
	)
	for _, test := range []struct{ id, stream, processor string }{
		{"s1", "", ""},
		{"a b", "", ""},
		{"a/b?c#d%2F;e", "", ""},
		{"...", "", ""},
		{"./..", "", ""},
		{"%2e%2e", "", ""},
		{"grün-流-😀", "", ""},
		{"a\u202eb", "", ""},
		{strings.Repeat("x", 5000), "", ""},
		{"", empty, empty},
		{" ", space, space},
		{" a", space, space},
		{"a ", space, space},
		{"a\u00a0", space, space},
		{"\u2003a", space, space},
		{".", `must not be ".", which has a special meaning in a URL path`, ""},
		{"..", `must not be "..", which has a special meaning in a URL path`, ""},
		{"a\x00b", control, ""},
		{"a\nb", control, ""},
		{"a\x7fb", control, ""},
		{"a\u0085b", control, ""},
		{"a\n", control, space},
	} {
		if got := errorText(streams.CheckStreamID(test.id)); got != test.stream {
			t.Errorf("CheckStreamID(%.20q) = %q, want %q", test.id, got, test.stream)
		}
		if got := errorText(streams.CheckProcessorID(test.id)); got != test.processor {
			t.Errorf("CheckProcessorID(%.20q) = %q, want %q", test.id, got, test.processor)
		}
	}
}
