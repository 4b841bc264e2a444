package masking

import (
	"fmt"
	"regexp"
	"strings"
)

// commandStart matches what may begin a command in the output of a pipeline: ::name:: where a line begins, and ##name[ anywhere.
var commandStart = regexp.MustCompile(`(?:^|[\s\pZ])(::)[A-Za-z]|(##)\w*\[`)

// breakCommands escapes the first character of each command that a CI system may look for. A line of the output may begin with
// any word, because Terraform breaks long lines.
func breakCommands(text string) string {
	var b strings.Builder
	done := 0
	for _, match := range commandStart.FindAllStringSubmatchIndex(text, -1) {
		begin := max(match[2], match[4])
		if text[begin] == ':' && !strings.Contains(text[begin+2:], "::") {
			continue
		}
		fmt.Fprintf(&b, `%s\x%x`, text[done:begin], text[begin])
		done = begin + 1
	}
	return b.String() + text[done:]
}
