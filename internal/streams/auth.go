package streams

import (
	"context"
	"encoding/base64"
)

// BasicAuth is a user of HTTP Basic authentication.
type BasicAuth struct {
	Username string
	Password string
}

// authorizer provides the Authorization header of each request. No scheme is specified
// (INTERFACE.md, section 5).
type authorizer interface {
	// header returns the header's value, or "" for no header. After a 401 to the value refused, it
	// returns a new value if it can get one.
	header(ctx context.Context, refused string) (string, error)

	// accepted reports that the service has accepted a value.
	accepted(header string)
}

func (cfg Config) authorizer(t *transport) authorizer {
	switch {
	case cfg.OAuth2 != nil:
		return newTokenSource(*cfg.OAuth2, t)
	case cfg.BasicAuth != nil:
		return staticHeader("Basic " + basicCredentials(cfg.BasicAuth.Username, cfg.BasicAuth.Password))
	case cfg.TokenFile != "":
		return newTokenFile(cfg.TokenFile, t.redactor)
	case cfg.Token != "":
		return staticHeader(bearer(cfg.Token))
	}
	return staticHeader("")
}

// staticHeader is an Authorization header that cannot be renewed.
type staticHeader string

func (h staticHeader) header(context.Context, string) (string, error) { return string(h), nil }

func (staticHeader) accepted(string) {} // nothing depends on it

// basicCredentials encodes a user for HTTP Basic authentication (RFC 7617, section 2).
func basicCredentials(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}
