package streams

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Stream is a stream as the service reports it (INTERFACE.md, section 2).
type Stream struct {
	ID                   string
	TerminalID           string
	FragmentTypeID       string
	ProcessorIDs         ProcessorSet
	LastEdited           int64    // epoch milliseconds
	CompatibleNamespaces []string // sorted, each once, never nil

	shown string // see ShownProcessors
}

// ShownProcessors returns the set as an error or a warning may show it. The fields of a stream are what the
// service reported, so that a state is truthful, and the service may repeat a secret: known secrets are masked
// in the ids that the user did not write.
func (s *Stream) ShownProcessors() string { return cmp.Or(s.shown, s.ProcessorIDs.String()) }

// CheckStreamID returns an error, such as "must not be empty", if id cannot address a stream. The
// format of ids is not shown (INTERFACE.md, section 2), so any id is valid that a URL path can contain.
func CheckStreamID(id string) error {
	// Servers and proxies resolve dot segments, escaped or not, and the request would miss the stream.
	if id == "." || id == ".." {
		return fmt.Errorf("must not be %q, which has a special meaning in a URL path", id)
	}
	for _, c := range id { // a terminal shows none of these
		switch {
		case c == '\ufeff':
			return errors.New("must not contain a byte order mark (U+FEFF)")
		case unicode.IsControl(c):
			return fmt.Errorf("must not contain the control character %U", c)
		}
	}
	return CheckProcessorID(id)
}

// CheckProcessorID returns an error, such as "must not be empty", if id cannot be a processor id.
func CheckProcessorID(id string) error {
	switch {
	case id == "":
		return errors.New("must not be empty")
	case strings.TrimSpace(id) != id:
		return errors.New("must not begin or end with white space")
	}
	return nil
}
