package streamstest_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func TestSection5Authorize(t *testing.T) {
	t.Parallel()
	header := func(name string, values ...string) http.Header { return http.Header{name: values} }
	for name, test := range map[string]struct {
		authorize func(*http.Request) error
		header    http.Header
		status    int
		message   string // "": not compared
	}{
		"open": {nil, nil, 200, ""},

		"bearer":                {streamstest.Bearer("t"), header("Authorization", "Bearer t"), 200, ""},
		"bearer in lower case":  {streamstest.Bearer("t"), header("Authorization", "bearer t"), 200, ""},
		"bearer missing":        {streamstest.Bearer("t"), nil, 401, "a bearer token is required"},
		"bearer wrong":          {streamstest.Bearer("t"), header("Authorization", "Bearer x"), 401, "the bearer token is not valid"},
		"bearer without scheme": {streamstest.Bearer("t"), header("Authorization", "t"), 401, ""},
		"bearer twice":          {streamstest.Bearer("t"), header("Authorization", "Bearer t", "Bearer t"), 401, ""},
		"basic for bearer":      {streamstest.Bearer("t"), header("Authorization", "Basic t"), 401, ""},

		"basic":                {streamstest.Basic("u", "p:ü"), header("Authorization", "Basic dTpwOsO8"), 200, ""},
		"basic missing":        {streamstest.Basic("u", "p:ü"), nil, 401, "basic credentials are required"},
		"basic wrong user":     {streamstest.Basic("x", "p:ü"), header("Authorization", "Basic dTpwOsO8"), 401, ""},
		"basic wrong password": {streamstest.Basic("u", "x"), header("Authorization", "Basic dTpwOsO8"), 401, ""},
		"basic twice":          {streamstest.Basic("u", "p:ü"), header("Authorization", "Basic dTpwOsO8", "Basic x"), 401, ""},

		"API key":         {streamstest.APIKey("X-Api-Key", "k"), header("X-Api-Key", "k"), 200, ""},
		"API key missing": {streamstest.APIKey("X-Api-Key", "k"), nil, 401, "the API key is missing or not valid"},
		"API key wrong":   {streamstest.APIKey("X-Api-Key", "k"), header("X-Api-Key", "x"), 401, ""},
		"API key twice":   {streamstest.APIKey("X-Api-Key", "k"), header("X-Api-Key", "k", "k"), 401, ""},

		"an error": {func(*http.Request) error { return errors.New("who?") }, nil, 401, "who?"},
		"a refusal": {func(*http.Request) error {
			return fmt.Errorf("wrapped: %w", &streamstest.Refusal{Status: 403, Message: "not yours"})
		}, nil, 403, "not yours"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{Authorize: test.authorize}, streamstest.Stream{ID: "cam"})
			req := newRequest(t, "PATCH", url+"/v2/streams/cam", `{"processor_ids":["p1"]}`)
			maps.Copy(req.Header, test.header)
			resp, body := sendChecked(t, req)
			if resp.StatusCode != test.status {
				t.Errorf("got %s %s, want %d", resp.Status, body, test.status)
			}
			if test.message != "" && errorMessage(t, body) != test.message {
				t.Errorf("got %s, want the message %q", body, test.message)
			}
			if applied := len(attachedProcessors(t, service, "cam")) > 0; applied != (test.status == 200) {
				t.Errorf("applied: %t", applied)
			}
		})
	}
}
