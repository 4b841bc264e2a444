package streams

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// ParseBaseURL parses the address of a deployment (INTERFACE.md, section 4). It removes a slash or /v2 at the end.
func ParseBaseURL(raw string) (*url.URL, error) {
	u, err := transport.ParseURL(raw)
	if err != nil {
		return nil, err
	}
	if strings.Contains(raw, "?") { // u.RawQuery is also empty for a bare ?
		return nil, errors.New("must not have a query")
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	path = strings.TrimRight(strings.TrimSuffix(path, "/v2"), "/")
	if end := streamPath.FindString(path); end != "" {
		return nil, fmt.Errorf("must be the address of the service, not of its streams; write %q",
			u.Scheme+"://"+u.Host+strings.TrimSuffix(path, end))
	}
	u.RawPath = path
	u.Path, err = url.PathUnescape(path)
	return u, err
}

// streamPath is the end of a path to streams or to one stream.
var streamPath = regexp.MustCompile(`/v2/streams(/[^/]+)?$`)
