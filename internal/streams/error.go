package streams

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is one of the error kinds of the interface document (section 7).
type Kind string

// The kinds of the interface document. It leaves their status codes open; they follow RFC 9110.
const (
	KindBadRequest     Kind = "Bad Request Error"        // 400, 422 and the other 4xx not below
	KindAuthentication Kind = "Authentication Error"     // 401, or no token from the token endpoint
	KindUnauthorized   Kind = "Unauthorized Error"       // 403
	KindNotFound       Kind = "Resource Not Found Error" // 404
	KindTimeout        Kind = "Timeout Error"            // 408, 504, or a time limit of the client
	KindBadGateway     Kind = "Bad Gateway Error"        // 502
	KindGeneric        Kind = "Error"                    // everything else
)

func kindOf(status int) Kind {
	switch status {
	case http.StatusUnauthorized:
		return KindAuthentication
	case http.StatusForbidden:
		return KindUnauthorized
	case http.StatusNotFound:
		return KindNotFound
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return KindTimeout
	case http.StatusBadGateway:
		return KindBadGateway
	}
	if status/100 == 4 {
		return KindBadRequest
	}
	return KindGeneric
}

// Outcome is what a failed operation is known to have done to the stream.
type Outcome int

// The outcomes, from the harmless to the certain.
const (
	NotChanged Outcome = iota // the service did not take the update
	Unknown                   // it may or may not have taken it
	Changed                   // it took an update, but the stream is not as asked
)

// outcomeOf tells what an answer without success says about the stream. A service may fail after it
// wrote; only a refusal is a sign that it did not.
func outcomeOf(status int) Outcome {
	switch status {
	case http.StatusRequestTimeout, http.StatusSeeOther:
		return Unknown
	case http.StatusNotImplemented,
		http.StatusMovedPermanently, http.StatusFound,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return NotChanged
	}
	if status/100 == 4 {
		return NotChanged
	}
	return Unknown
}

// Error is how every operation of a [Client] fails; find it with [errors.As]. No text in it holds
// a known secret or a control character.
type Error struct {
	Kind       Kind
	Method     string
	URL        string  // where the last request went: the stream, or the token endpoint
	Status     int     // of the last answer, also when a later attempt got none; 0 without any
	Message    string  // what the service said, also when a later attempt got no answer
	Documented bool    // Message came in the documented error body (section 2)
	Reason     string  // what the client found, beyond status and message; may be empty
	Location   string  // where a redirect pointed
	Attempts   int     // requests sent, at least 1 unless nothing could be sent
	Outcome    Outcome // what is now true of the stream
	Stream     *Stream // what the service reported instead of what was asked; nil unless Changed
	Err        error   // the cause, for errors.Is; its text may hold secrets
}

// Error says what happened in one line.
func (e *Error) Error() string {
	parts := []string{fmt.Sprintf("%s: %s %s", e.Kind, e.Method, e.URL)}
	if e.Status != 0 {
		parts = append(parts, StatusText(e.Status))
	}
	if e.Message != "" {
		parts = append(parts, e.Message)
	}
	if e.Reason != "" {
		parts = append(parts, e.Reason)
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// StatusText is a status code with its name, such as "404 Not Found".
func StatusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// Longest texts taken over from a service, in characters: a documented message is worth more than a
// page of HTML.
const (
	maxMessage = 4000
	maxText    = 300
)

// readMessage finds what an error body says, and whether it has the documented form (section 2).
func readMessage(body []byte, secrets *mask) (message string, documented bool) {
	// A map, because a struct would take "Message" too, which web frameworks answer for no such route.
	var doc map[string]json.RawMessage
	var said string
	if json.Unmarshal(body, &doc) == nil && stringInto(&said)(doc["message"]) {
		return cut(visible(secrets.hide(said)), maxMessage), true
	}
	text := strings.Join(strings.Fields(secrets.hide(string(body))), " ")
	return cut(visible(text), maxText), false
}

// visible escapes what a terminal would act on or not show: a message must not move the cursor,
// hide a word or end a line of Terraform's output.
func visible(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				fmt.Fprintf(&b, `\x%02x`, s[i])
				continue
			}
		}
		switch {
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func cut(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}
