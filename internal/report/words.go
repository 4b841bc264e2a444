package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

const (
	notChanged     = "The stream was not changed."
	notChangedHere = "The stream was not changed by this resource." // always true of an operation that was not begun
	nothingSent    = "Nothing was sent by this operation. "
	nothingDone    = nothingSent + "It changed nothing in the state."
)

// nowTrue is the last sentence of every diagnostic about an operation: what is now true of the stream.
// reported is what the service reported instead of the set that was sent, or nil.
func nowTrue(o streams.Outcome, reported *streams.Stream) string {
	switch {
	case o == streams.Unknown:
		return "The stream may or may not have been changed; apply again: sending the same set twice is safe."
	case reported != nil:
		return fmt.Sprintf("The service reports that the stream now has %s.", reported.ShownProcessors())
	case o == streams.Changed:
		return "The stream was changed."
	}
	return notChanged
}

// Paragraphs leaves out the parts that are empty.
func Paragraphs(parts ...string) string { return join("\n\n", parts...) }

func join(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), separator)
}

// Sentence makes a clause a sentence.
func Sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(first)) + s[size:]
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// countOf returns "" for none.
func countOf(count int, one, many string) string {
	switch count {
	case 0:
		return ""
	case 1:
		return "1 stream " + one + "."
	}
	return fmt.Sprintf("%d streams %s.", count, many)
}
