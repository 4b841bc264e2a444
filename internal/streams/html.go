package streams

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// describeText returns the text of a response body in any form. A web page is reduced to its title and
// visible text: its first characters are markup, and would say nothing.
func describeText(body []byte) []byte {
	if !isHTML(body) {
		return body
	}
	title, text := visibleText(body)
	switch {
	case title != "" && text != "":
		return []byte(`HTML page "` + title + `": ` + text)
	case title != "":
		return []byte(`HTML page "` + title + `"`)
	case text != "":
		return []byte("HTML page: " + text)
	}
	return []byte("HTML page without text")
}

func isHTML(body []byte) bool {
	if strings.HasPrefix(http.DetectContentType(body), "text/html") {
		return true
	}
	const searched = 1024 // an XML declaration or white space may come first
	return bytes.Contains(bytes.ToLower(body[:min(len(body), searched)]), []byte("<html"))
}

// notShown are the elements whose text a browser does not show as part of the page.
var notShown = []string{"script", "style", "noscript", "template", "svg", "title"}

func visibleText(page []byte) (title, text string) {
	var titles, texts strings.Builder
	within := "" // the element of notShown that the text is in
	for tokens := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := tokens.Next()
		switch kind {
		case html.ErrorToken: // the end of the page
			return joinFields(titles.String()), joinFields(texts.String())
		case html.TextToken:
			switch within {
			case "":
				texts.Write(tokens.Text())
				texts.WriteByte(' ')
			case "title":
				titles.Write(tokens.Text())
			}
		case html.StartTagToken, html.EndTagToken:
			name, _ := tokens.TagName()
			if within == "" && kind == html.StartTagToken && slices.Contains(notShown, string(name)) {
				within = string(name)
			} else if kind == html.EndTagToken && within == string(name) {
				within = ""
			}
		}
	}
}

// joinFields replaces each sequence of white space by one space.
func joinFields(s string) string { return strings.Join(strings.Fields(s), " ") }
