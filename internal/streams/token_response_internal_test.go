package streams

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// Responses of token endpoints that differ from RFC 6749 in a harmless way are accepted.
func TestTolerantTokens(t *testing.T) {
	t.Parallel()
	const jsonType = "application/json"
	for name, test := range map[string]struct {
		contentType, body string
		validFor          time.Duration // 0: for ever
	}{
		"as specified":          {jsonType, `{"access_token":"a","token_type":"Bearer","expires_in":3600}`, time.Hour},
		"JSON as text":          {"text/plain; charset=utf-8", `{"access_token":"a","expires_in":3600}`, time.Hour},
		"JSON as a form":        {"application/x-www-form-urlencoded", ` {"access_token":"a","expires_in":3600}`, time.Hour},
		"a form":                {"application/x-www-form-urlencoded", "access_token=a&expires_in=3600", time.Hour},
		"a form as text":        {"text/plain", "access_token=a&expires_in=3600", time.Hour},
		"byte order mark":       {jsonType, "\ufeff" + `{"access_token":"a","expires_in":3600}`, time.Hour},
		"float":                 {jsonType, `{"access_token":"a","expires_in":3600.0}`, time.Hour},
		"float with a fraction": {jsonType, `{"access_token":"a","expires_in":3600.75}`, time.Hour},
		"exponent":              {jsonType, `{"access_token":"a","expires_in":3.6e3}`, time.Hour},
		"string":                {jsonType, `{"access_token":"a","expires_in":"3600"}`, time.Hour},
		"string with a float":   {jsonType, `{"access_token":"a","expires_in":"3600.0"}`, time.Hour},
		"huge":                  {jsonType, `{"access_token":"a","expires_in":1e300}`, (1<<31 - 1) * time.Second},
		"beyond 64 bits":        {jsonType, `{"access_token":"a","expires_in":99999999999999999999}`, (1<<31 - 1) * time.Second},
		"null":                  {jsonType, `{"access_token":"a","expires_in":null}`, 0},
		"none":                  {jsonType, `{"access_token":"a"}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := clientOver(t, Config{OAuth2: &OAuth2{TokenURL: "https://token.example"}}, transportFunc(func(req *http.Request) (*http.Response, error) {
					if req.Method == http.MethodPost {
						return respond(200, test.body, "Content-Type", test.contentType)(req)
					}
					if got := req.Header.Get("Authorization"); got != "Bearer a" {
						t.Errorf("the service received %q", got)
					}
					return respondSuccess(req)
				}))
				if e := update(t, c); e != nil {
					t.Fatal(e)
				}
				expiry := c.authorizer.(*tokenSource).token.Expiry
				if test.validFor == 0 != expiry.IsZero() || test.validFor != 0 && time.Until(expiry) != test.validFor {
					t.Errorf("the token expires at %s", expiry)
				}
			})
		})
	}
}

// The error code is found in a response of any type.
func TestTolerantTokenErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		refuse := respond(401, "\ufeff"+`{"error":"invalid_client","error_description":"who?"}`, "Content-Type", "text/plain")
		c := clientOver(t, Config{OAuth2: &OAuth2{TokenURL: "https://token.example"}}, transportFunc(refuse))
		if e := update(t, c); e == nil || e.Message != "invalid_client: who?" || !e.Documented {
			t.Errorf("error %#v", e)
		}
	})
}

// A byte order mark before a stream is ignored.
func TestByteOrderMarkBeforeAStream(t *testing.T) {
	t.Parallel()
	_, e := runUpdate(t, Config{}, 0, respond(200, "\ufeff"+streamBody(map[string]string{"processor_ids": `["p1"]`})))
	if e != nil {
		t.Error(e)
	}
}
