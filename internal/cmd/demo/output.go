package main

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// columns is the width of a narrow terminal.
const columns = 80

// terminal reports whether the output goes to a terminal and may have colors.
var terminal = func() bool {
	info, err := os.Stdout.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == ""
}()

// wrapRequest returns a request on one line or, if it is too long, with its body on a second line.
func wrapRequest(request string) string {
	line := "  " + request
	start, end := strings.Index(request, "{"), strings.LastIndex(request, "}")
	if utf8.RuneCountInString(line) < columns || start < 0 || end < start {
		return line
	}
	return "  " + request[:start] + strings.TrimSpace(request[end+1:]) + "\n    " + request[start:end+1]
}

func headline(text string) { fmt.Printf("\n%s\n\n", bold("━━━ "+text)) }

func bold(text string) string  { return styled("1", text) }
func green(text string) string { return styled("32", text) }
func red(text string) string   { return styled("31", text) }

func styled(code, text string) string {
	if !terminal {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
