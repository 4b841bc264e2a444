package streamstest

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// Refusal is an error of Options.Authorize with a status of its own, such as 403 for an Unauthorized Error.
type Refusal struct {
	Status  int
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// Bearer requires the header Authorization: Bearer token. It is a function for Options.Authorize.
func Bearer(token string) func(*http.Request) error {
	return func(r *http.Request) error {
		got, err := bearerToken(r)
		if err == nil && got != token {
			err = errors.New("the bearer token is not valid")
		}
		return err
	}
}

// Basic requires HTTP Basic credentials. It is a function for Options.Authorize.
func Basic(user, pass string) func(*http.Request) error {
	return func(r *http.Request) error {
		gotUser, gotPass, ok := r.BasicAuth()
		if !ok || len(r.Header.Values("Authorization")) != 1 {
			return errors.New("basic credentials are required")
		}
		if gotUser != user || gotPass != pass {
			return errors.New("the user name or the password is not valid")
		}
		return nil
	}
}

// APIKey requires exactly one header with this name and value. It is a function for Options.Authorize.
func APIKey(header, value string) func(*http.Request) error {
	return func(r *http.Request) error {
		if !slices.Equal(r.Header.Values(header), []string{value}) {
			return errors.New("the API key is missing or not valid")
		}
		return nil
	}
}

// bearerToken returns the token of the only Authorization header.
func bearerToken(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 1 {
		if scheme, token, ok := strings.Cut(values[0], " "); ok && strings.EqualFold(scheme, "Bearer") {
			return token, nil
		}
	}
	return "", errors.New("a bearer token is required")
}
