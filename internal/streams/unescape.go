package streams

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
)

// unescapeURL undoes the escapes of a URL.
func unescapeURL(text string) string {
	parts := strings.Split(text, "%")
	for i, part := range parts[1:] {
		if c, err := hex.DecodeString(part[:min(2, len(part))]); err == nil && len(c) == 1 {
			parts[i+1] = string(c) + part[2:]
		} else {
			parts[i+1] = "%" + part
		}
	}
	return strings.Join(parts, "")
}

// unquote undoes the escapes that begin with a backslash, in JSON and in most languages.
func unquote(text string) string {
	var plain strings.Builder
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 {
			return plain.String() + text
		}
		plain.WriteString(text[:i])
		c, multibyte, rest, err := strconv.UnquoteChar(text[i:], '"')
		pair := ""
		switch {
		case err == nil && multibyte:
			plain.WriteRune(c)
		case err == nil:
			plain.WriteByte(byte(c))
		case i+12 <= len(text) && json.Unmarshal([]byte(`"`+text[i:i+12]+`"`), &pair) == nil: // surrogates
			plain.WriteString(pair)
			rest = text[i+12:]
		default: // a character that needs no escape, such as a slash
			rest = text[i+1:]
		}
		text = rest
	}
}
