package streamstest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
)

// APIKey requires exactly one header with this name and value. It is a function for Options.Authorize.
func APIKey(header, value string) func(*http.Request) error {
	return func(r *http.Request) error {
		if !slices.Equal(r.Header.Values(header), []string{value}) {
			return fmt.Errorf("the header %s is missing or not valid", header)
		}
		return nil
	}
}

// Bearer requires the header Authorization: Bearer token. It is a function for Options.Authorize.
func Bearer(token string) func(*http.Request) error {
	return APIKey("Authorization", "Bearer "+token)
}

// Basic requires HTTP Basic credentials. It is a function for Options.Authorize.
func Basic(user, pass string) func(*http.Request) error {
	return APIKey("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+pass)))
}
