package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// text is what a message says of any stream, or of several. attribute is that of one stream; "" for none. Head and advice have
// placeholders: {streams} is a clause such as `stream "cam-1"` or "3 streams", which each head has; {it|them} is "it" for
// one stream and "them" for several; {own} is what is a stream's own, such as a set of processors. See [message.fill].
type text struct{ summary, attribute, head, advice string }

// cause is what the provider itself knows of why. The messages of a call with one cause are one diagnostic, so each sentence
// here must be true of all of its streams. All else stands beside them.
type cause struct {
	text
	severity diag.Severity
	status   int // of the response; 0 without one
}

// message is what a person reads about one stream.
type message struct {
	cause
	stream   string
	reason   string // sentences
	request  string // with what identifies the response
	response string // what it said, after words such as "The service said: "; "" for nothing
	own      string // what stands for {own}
	now      string // what is now true of the stream
	short    string // what failed and what to check, if another error has the cause in full; "" for none
	all      int    // the streams of the resource, of which a number leaves; 0 where that does not matter
}

// alone is the detail of a diagnostic about one stream.
func (m message) alone() string {
	return paragraphs(join(" ", m.happened(1), m.reason), join("\n", m.request, m.response), m.fill(m.advice, 1), m.now)
}

// happened is the first sentence about a number of streams.
func (m message) happened(n int) string { return Sentence(m.fill(m.head, n)) }

// forms matches the two forms of a part of a text: {for one stream|for several}.
var forms = regexp.MustCompile(`\{([^{}|]*)\|([^{}|]*)\}`)

// fill fills in a text about a number of streams.
func (m message) fill(text string, n int) string {
	form, names, own := "$1", fmt.Sprintf("stream %q", m.stream), m.own
	if n > 1 {
		form, names, own = "$2", fmt.Sprintf("%d streams", n), "see below"
	}
	values := strings.NewReplacer("{streams}", names, "{count}", fmt.Sprintf("%d of %d", n, m.all), "{own}", own)
	return values.Replace(forms.ReplaceAllString(text, form))
}

// inOrder groups elements with equal keys, in the order of the first ones.
func inOrder[E any, K comparable](all []E, key func(E) K) (groups [][]E) {
	at := map[K]int{}
	for _, e := range all {
		k := key(e)
		i, found := at[k]
		if !found {
			i, at[k] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], e)
	}
	return groups
}

const (
	notChanged     = "The stream was not changed."
	notChangedHere = "The stream was not changed by this resource." // always true of an operation that was not begun
	nothingSent    = "Nothing was sent by this operation. "

	notChangedByRead = "Nothing was changed by this read."
)

// nowTrue is the last sentence of every diagnostic about an operation: what is now true of the stream.
// reported is what the service reported instead of the set that was sent, or nil.
func nowTrue(o streams.Outcome, reported *streams.Stream) string {
	switch {
	case o == streams.Unknown:
		return "The stream may or may not have been changed; run the command again: sending the same set twice is safe."
	case reported != nil:
		return fmt.Sprintf("The service reports that the stream now has %s.", reported.ShownProcessors())
	case o == streams.Changed:
		return "The stream was changed."
	}
	return notChanged
}

// What a failed create leaves. With create_before_destroy, Terraform keeps the old object, and may plan no change.
const (
	runAgain = "Resolve the errors, then run the command again"
	notSaved = "Nothing of this create is in the state, and what it attached may stay attached. " + runAgain +
		"; if the plan shows no changes, change a value in triggers."
)

// paragraphs leaves out the parts that are empty.
func paragraphs(parts ...string) string { return join("\n\n", parts...) }

// join leaves out the parts that are empty.
func join(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), separator)
}

// labelled returns a text after its label, or "" without a text.
func labelled(label, text string) string {
	if text == "" {
		return ""
	}
	return label + text
}

// cut shortens a text from outside that stands beside other streams.
func cut(s string) string { return masking.Truncate(s, masking.MaxText) }

// Sentence makes a clause a sentence.
func Sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(first)) + s[size:]
	if last, _ := utf8.DecodeLastRuneInString(s); strings.ContainsRune(".…!?", last) {
		return s
	}
	return s + "."
}
