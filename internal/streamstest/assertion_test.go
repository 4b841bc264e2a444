package streamstest_test

import (
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// The token endpoint checks signature, client, audience and expiry of an assertion.
func TestAssertions(t *testing.T) {
	t.Parallel()
	const audience = "https://login.example"
	assertions := streamstest.NewAssertions(t, audience)
	otherAudience := *assertions
	otherAudience.Audience = "https://other.example"
	valid := assertions.Issue("me", time.Minute)
	server := httptest.NewServer(&streamstest.TokenServer{ClientID: "me", Assertions: assertions})
	t.Cleanup(server.Close)
	for name, test := range map[string]struct {
		assertion string
		change    func(url.Values)
		want      int
	}{
		"valid":            {valid, nil, 200},
		"none":             {"", nil, 401},
		"no signature":     {"e30.e30", nil, 401},
		"another key":      {streamstest.NewAssertions(t, audience).Issue("me", time.Minute), nil, 401},
		"changed":          {"x" + valid, nil, 401},
		"another client":   {assertions.Issue("you", time.Minute), nil, 401},
		"another audience": {otherAudience.Issue("me", time.Minute), nil, 401},
		"expired":          {assertions.Issue("me", -time.Second), nil, 401},
		"no type":          {valid, func(form url.Values) { form.Del("client_assertion_type") }, 401},
		"also a secret":    {valid, func(form url.Values) { form.Set("client_secret", "s") }, 401},
		"no grant":         {valid, func(form url.Values) { form.Del("grant_type") }, 400},
	} {
		form := url.Values{
			"grant_type": {"client_credentials"}, "client_id": {"me"}, "client_assertion": {test.assertion},
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
		}
		if test.change != nil {
			test.change(form)
		}
		resp, err := server.Client().PostForm(server.URL, form)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != test.want {
			t.Errorf("%s: %s, want %d", name, resp.Status, test.want)
		}
	}
}
