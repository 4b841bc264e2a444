package masking

import (
	"encoding/json"
	"html"
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
	FormDocumented // the error body (INTERFACE.md, section 2); of a token request: a JSON object
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

// TextOfError returns the texts of an error in JSON that does not have the documented form: those of problem details (RFC 9457), of an
// OAuth2 error (RFC 6749, section 5.2), or a message beside them. It is "" if there are none.
func TextOfError(body []byte) string {
	var e struct {
		Title, Error, Message, Msg, Detail string
		Description                        string `json:"error_description"`
	}
	_ = json.Unmarshal(body, &e) // what is no text stays empty
	texts := []string{e.Title, e.Error, e.Message, e.Msg, e.Detail, e.Description}
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return strings.TrimSpace(text) == "" }), ": ")
}
