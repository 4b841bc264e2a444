package main

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// theme has a color for each kind of line.
type theme struct {
	page, panel, border         string
	text, faint, added, refused string
}

// The colors are those of GitHub's pages.
var (
	light = theme{"#ffffff", "#f6f8fa", "#d1d9e0", "#1f2328", "#59636e", "#1a7f37", "#d1242f"}
	dark  = theme{"#0d1117", "#151b23", "#3d444d", "#f0f6fc", "#9198a1", "#3fb950", "#f85149"}
)

// All measures are in pixels.
const (
	lineHeight = 16
	padding    = 12
	divider    = 530 // between the output and the requests
	width      = 900
	maxRequest = 50 // characters of a line on the right
)

// svg draws the panels from top to bottom.
func svg(panels []panel, th theme) string {
	var b strings.Builder
	y := 0
	for _, p := range panels {
		requests := []string{"The service receives no request."}
		if p.requests != nil {
			requests = []string{"The service receives:"}
		}
		for _, r := range p.requests {
			requests = append(requests, wrap(r)...)
		}
		y += padding + lineHeight
		text(&b, padding, y, th.text, true, p.title)
		y += padding / 2
		height := 2*padding + lineHeight*max(len(p.lines), len(requests))
		fmt.Fprintf(&b, `<rect x="0.5" y="%d.5" width="%d" height="%d" rx="6" fill="%s" stroke="%s"/>`+"\n", y, width-1, height, th.panel, th.border)
		fmt.Fprintf(&b, `<path d="M%d.5 %d.5v%d" stroke="%s"/>`+"\n", divider, y, height, th.border)
		for i, line := range p.lines {
			text(&b, padding, y+padding+lineHeight*i+lineHeight*3/4, th.color(line), i == 0, line)
		}
		for i, line := range requests {
			color := th.color(line)
			if i == 0 {
				color = th.faint
			}
			text(&b, divider+padding, y+padding+lineHeight*i+lineHeight*3/4, color, false, line)
		}
		y += height + padding
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">
<title>A plan, an apply and a refused change, with the requests that the service receives</title>
<rect width="%d" height="%d" fill="%s"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="11">
%s</g>
</svg>
`, width, y, width, y, width, y, th.page, b.String())
}

func text(b *strings.Builder, x, y int, color string, bold bool, line string) {
	weight := ""
	if bold {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s"%s xml:space="preserve">`, x, y, color, weight)
	_ = xml.EscapeText(b, []byte(line)) // a strings.Builder has no errors
	b.WriteString("</text>\n")
}

// color returns the color that a terminal gives a line, as far as a picture needs it.
func (th theme) color(line string) string {
	switch trimmed := strings.TrimSpace(line); {
	case strings.HasPrefix(trimmed, "Error"), strings.HasPrefix(trimmed, "→ 4"):
		return th.refused
	case strings.HasPrefix(trimmed, "+"), strings.HasPrefix(trimmed, "→ 2"), strings.HasPrefix(trimmed, "Apply complete"):
		return th.added
	case trimmed == "…":
		return th.faint
	}
	return th.text
}

// wrap returns a request in lines: the method and target, the body, and the status.
func wrap(request string) []string {
	head, rest, _ := strings.Cut(request, "{")
	body, status, _ := strings.Cut(rest, "} ")
	lines := []string{strings.TrimSpace(head)}
	line := "  {"
	for i, part := range strings.SplitAfter(body+"}", ",") {
		if i > 0 && len(line)+len(part) > maxRequest {
			lines, line = append(lines, line), "    "
		}
		line += part
	}
	return append(lines, line, status)
}
