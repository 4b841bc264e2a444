package masking

import (
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Form is how a body is written.
type Form int

// The forms of a body.
const (
	FormText Form = iota // also none at all
	FormJSON
	FormPage       // of HTML
	FormPart       // of a body that is incomplete, of no other form
	FormDocumented // the error body (INTERFACE.md, section 2); of a token request: a JSON object, or what RFC 6749 defines
)

func formOf(body []byte) Form {
	switch {
	case json.Valid(body):
		return FormJSON
	case strings.HasPrefix(http.DetectContentType(body), "text/html"):
		return FormPage
	}
	return FormText
}

// Message returns the message of an error body (INTERFACE.md, section 2), or the text of a body in another form.
func (r *Redactor) Message(body []byte) (text string, form Form) {
	// Not a struct: that would accept "Message", which web frameworks send for an unknown route.
	var fields map[string]json.RawMessage
	var message *string
	if json.Unmarshal(body, &fields) == nil && json.Unmarshal(fields["message"], &message) == nil && message != nil {
		return r.Printable(*message, MaxMessage), FormDocumented
	}
	if text := TextOfError(body); text != "" {
		return r.Printable(text, MaxMessage), FormJSON
	}
	text = r.Mask(string(body), MaxShown)
	form = formOf(body)
	if form == FormPage {
		text = html.UnescapeString(markup.ReplaceAllString(text, " "))
	}
	switch text = strings.Join(strings.Fields(text), " "); {
	case form == FormPage && text == "":
		text = "HTML page without text"
	case form == FormPage:
		text = "HTML page: " + text
	}
	return r.Printable(text, MaxText), form
}

// markup is what a browser does not show of a web page. The first characters of a page are markup, and say nothing.
var markup = regexp.MustCompile(`(?is)<!--.*?-->|<(script|style|svg|noscript|template)\b.*?` +
	`(</(script|style|svg|noscript|template)\s*>|$)|<[^>]*>`)

// messageNames are the names under which services and gateways put the texts of an error, in the order in which they are shown.
var messageNames = []string{
	"title", "error", "message", "msg", "error_message", "detail", "description", "error_description", "reason", "errors", "violations",
}

// TextOfError returns the texts of an error in JSON that does not have the documented form: problem details (RFC 9457), or a list
// of messages or of objects with messages. It is "" if there are none.
func TextOfError(body []byte) string {
	var value any
	if len(body) > MaxShown || json.Unmarshal(body, &value) != nil { // a long one needs many times its size
		return ""
	}
	return strings.Join(textsIn(value, 1), ": ")
}

// textsIn returns the texts in an object, or in a list, of which the elements are one text.
func textsIn(value any, level int) (texts []string) {
	const deepest = 5
	if level > deepest {
		return nil
	}
	switch value := value.(type) {
	case string:
		texts = []string{value}
	case []any:
		var elements []string
		for _, element := range value {
			elements = append(elements, strings.Join(textsIn(element, level+1), ": "))
		}
		texts = []string{strings.Join(elements, "; ")}
	case map[string]any:
		named := map[string]any{} // case does not matter
		for name, field := range value {
			named[strings.ToLower(name)] = field
		}
		for _, name := range messageNames {
			texts = append(texts, textsIn(named[name], level+1)...)
		}
		if len(texts) > 0 || level == 1 {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(value)) { // such as the messages about a field
			if about := textsIn(value[name], level+1); len(about) > 0 {
				texts = append(texts, name+": "+strings.Join(about, ": "))
			}
		}
	}
	return slices.DeleteFunc(texts, func(text string) bool { return strings.TrimSpace(text) == "" })
}
