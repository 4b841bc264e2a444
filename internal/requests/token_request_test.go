package requests_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	. "github.com/stream-management/terraform-provider-stream/internal/testing/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// A token is used, and for how long, although its response does not keep to RFC 6749.
func TestTokenResponses(t *testing.T) {
	t.Parallel()
	const plain, form = "text/plain; charset=utf-8", "application/x-www-form-urlencoded"
	for body, test := range map[string]struct {
		contentType string
		life        time.Duration // 0 means that the token has no known end
	}{
		`{"access_token":"t","token_type":"BearerToken","expires_in":50}`:       {"", 45 * time.Second},
		`{"access_token":"t","token_type":"bearer token","expires_in":50.0}`:    {"", 45 * time.Second},
		`{"access_token":"t","token_type":"BEARER","expires_in":"50"}`:          {"", 45 * time.Second},
		`{"access_token":"t","token_type":"","expires_in":"5e1"}`:               {"", 45 * time.Second},
		`{"access_token":"t","token_type":null,"expires_in":50.9}`:              {"", 45 * time.Second},
		`{"access_token":"t","token_type":"DPoP","expires_in":""}`:              {"", 0},
		`{"access_token":"t","token_type":["Bearer"],"expires_in":"soon"}`:      {"", 0},
		`{"access_token":"t","token_type":"N_A","expires_in":true}`:             {"", 0},
		`{"access_token":"t","token_type":"a b","expires_in":"0x10"}`:           {"", 0},
		`{"access_token":"t","token_type":"urn:x","expires_in":{"seconds":50}}`: {"", 0},
		`{"access_token":"t","token_type":"oauth","expires_in":"50s"}`:          {"", 0},
		`{"access_token":"t","expires_in":null,"refresh_token":false}`:          {"", 0},
		`{"access_token":"t","expires_in":-1,"error":null,"id_token":{}}`:       {"", 0},
		`{"access_token":"t","expires_in":99999999999999.0}`:                    {plain, 1000 * time.Hour},
		`{"access_token":"t","expires_in":1e300}`:                               {plain, 1000 * time.Hour},
		`{"access_token":"t","token_type":"BearerToken","expires_in":"3600.0"}`: {plain, 3590 * time.Second},
		"\ufeff" + ` {"access_token":"t","scope":["a"]}`:                        {form, 0},
		"access_token=t&token_type=BearerToken&expires_in=50":                   {form, 45 * time.Second},
	} {
		RunVirtual(t, body, func(t *testing.T) {
			if test.contentType == "" {
				test.contentType = "application/json"
			}
			endpoint := StartService(t, Respond(200, body, "Content-Type", test.contentType))
			s := StartService(t, ApplyUpdate)
			c := NewClient(t, OAuth2Config(s, endpoint))
			life := test.life
			if life == 0 {
				life = 1000 * time.Hour
			}
			for _, wait := range []time.Duration{0, life - time.Millisecond} {
				<-time.After(wait)
				MustUpdateAll(t, c, 1)
			}
			endpoint.WantRequests(t, 1)
			if <-time.After(2 * time.Millisecond); test.life != 0 && test.life < 1000*time.Hour {
				MustUpdateAll(t, c, 1)
				endpoint.WantRequests(t, 2)
			}
			WantEqual(t, "header", "Bearer t", s.Requests()[0].Header.Get("Authorization"))
		})
	}
}

// What has no token says why, and whether it was JSON.
func TestTokenResponsesRefused(t *testing.T) {
	t.Parallel()
	const json, plain = "application/json", "text/plain"
	for body, test := range map[string]struct {
		contentType string
		status      int
		want        string
		isJSON      bool
	}{
		`{"access_token":5}`:                       {json, 200, "access_token is empty, or no string", true},
		`{"token":"t"}`:                            {plain, 200, "access_token is missing; there is only token", true},
		`{"access_token":null,"scope":"a"}`:        {json, 200, "the response has no usable token: access_token is empty, or no string", true},
		`{"access_token":"","error":""}`:           {json, 200, "access_token is empty, or no string", true},
		`"t"`:                                      {json, 200, "it is not a JSON object", false},
		"access_token=":                            {"application/x-www-form-urlencoded", 200, "it is not a JSON object", false},
		"\ufeff" + `{"error":"invalid_scope"}`:     {plain, 403, "invalid_scope", true},
		`{"error":{"code":7},"expires_in":"soon"}`: {json, 403, `{"error":{"code":7},"expires_in":"soon"}`, true},
		`["t"]`:  {json, 200, "it is not a JSON object", false},
		"<html>": {"text/html", 200, "it is not a JSON object", false},
		"no":     {plain, 403, "no", false},
	} {
		endpoint := StartService(t, Respond(test.status, body, "Content-Type", test.contentType))
		s := StartService(t, ApplyUpdate)
		e := s.UpdateError(t, OAuth2Config(s, endpoint))
		streamstest.WantText(t, e.Error(), test.want, fmt.Sprint(test.status))
		if strings.Contains(e.Reason, "Post ") || e.Documented() != test.isJSON || e.Status != test.status || !e.TokenRequest ||
			test.status == http.StatusOK && e.Kind != streams.KindUnexpected {
			t.Errorf("%s: %#v", body, e)
		}
		s.WantRequests(t, 0)
	}
}
