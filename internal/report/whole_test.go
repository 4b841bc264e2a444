package report

import (
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Whole errors whose advice depends on what was attempted, or on more than a status. Each says what happened, what the service said, what
// to check, and what is now true of the stream.
func TestWholeErrors(t *testing.T) {
	t.Parallel()
	const (
		url       = "https://streams.example.com/v2/streams/cam-1"
		unchanged = "The stream was not changed."
		mayHave   = "The stream may or may not have been changed; run the command again: sending the same set twice is safe."
	)
	documented := func(status int, kind streams.Kind, message string) streams.Error {
		return streams.Error{Kind: kind, Result: requests.Result{Status: status, Form: masking.FormDocumented, Message: message}}
	}
	redirect := func(location string) streams.Error {
		return streams.Error{Kind: streams.KindRedirect, Result: requests.Result{Status: 308, Location: location}}
	}
	token := func(status int, message string) streams.Error {
		e := documented(status, streams.KindAuthentication, message)
		e.Method, e.URL, e.TokenRequest = "POST", "https://login.example.com/token", true
		e.Credentials = `the client_secret of the oauth2 client "tf" from STREAM_OAUTH2_CLIENT_SECRET`
		return e
	}
	nearly := streams.Error{Kind: streams.KindUnexpected, Outcome: streams.Unknown, Result: requests.Result{
		Status: 200, Form: masking.FormJSON, Message: `{"id":"cam-1","last_edited":"2026-01-02"}`,
		Err: streams.ErrNearly, Reason: "the response is nearly the stream, but last_edited is not an integer",
	}}
	nearlyRead := nearly
	nearlyRead.Method, nearlyRead.Outcome = "GET", streams.NotChanged
	unregistered := documented(419, streams.KindBadRequest, "The session has expired.")
	unregistered.Outcome = streams.Unknown
	gone := documented(404, streams.KindNotFound, "There is no such stream.")
	goneRead := gone
	goneRead.Method = "GET"

	proxy := streams.Error{Kind: streams.KindConnection, Result: requests.Result{
		Err:    &transport.ProxyError{Status: 407, Schemes: "NTLM, Negotiate"},
		Reason: "the connection failed: the proxy http://proxy:3128 responded to CONNECT with 407 Proxy Authentication Required, and offers NTLM, Negotiate",
	}}

	reads := func(by Reader) func(streams.Error) string {
		return func(e streams.Error) string {
			return New("").Reads(t.Context(), OneStream, 1, []session.Finding{{Stream: id, Err: &e}}, by)[0].Detail()
		}
	}
	changes := func(kind session.Kind) func(streams.Error) string {
		return func(e streams.Error) string {
			c := session.Change{Kind: kind, Was: session.Entries{id: {}}, Want: session.Sets{id: &first}}
			switch kind {
			case session.Create:
				c.Was = nil
			case session.Destroy:
				c.Want = nil
			}
			after := session.After{Findings: []session.Finding{operation(&e, *factsAfter(&e))}}
			return New("").Apply(t.Context(), OneStream, c, after)[0].Detail()
		}
	}
	creates, updates, destroys := changes(session.Create), changes(session.Edit), changes(session.Destroy)
	for name, test := range map[string]struct {
		detail func(streams.Error) string
		err    streams.Error
		want   string
	}{
		"redirect, a slash": {updates, redirect("/v2/streams/cam-1/"), `The processors of stream "cam-1" could not be updated.

PATCH https://streams.example.com/v2/streams/cam-1 → 308 Permanent Redirect
Location: /v2/streams/cam-1/

Location has the same path, except perhaps for a slash at its end or its case. No setting of the provider changes that. The operators have to serve the documented path, /v2/streams/{id}, without a redirect.

` + unchanged},
		"redirect, no Location": {updates, redirect(""), `The processors of stream "cam-1" could not be updated.

PATCH https://streams.example.com/v2/streams/cam-1 → 308 Permanent Redirect

The response may not have come from the service, but from a proxy. Check base_url, HTTPS_PROXY and NO_PROXY. base_url may need another path, or https://, and the id of the stream may be wrong.

` + unchanged},
		"nearly the stream": {updates, nearly, `The processors of stream "cam-1" could not be updated. The response is nearly the stream, but last_edited is not an integer.

PATCH https://streams.example.com/v2/streams/cam-1 → 200 OK
The response does not have the documented form: {"id":"cam-1","last_edited":"2026-01-02"}

The service may have another version of the interface, or a gateway may change its responses. Ask the operators for the fields that the error names, as version 2 of the interface has them.

` + mayHave},
		"nearly the stream, destroy": {destroys, nearly, `The processors of stream "cam-1" could not be detached. The response is nearly the stream, but last_edited is not an integer.

PATCH https://streams.example.com/v2/streams/cam-1 → 200 OK
The response does not have the documented form: {"id":"cam-1","last_edited":"2026-01-02"}

The service may have another version of the interface, or a gateway may change its responses. Ask the operators for the fields that the error names, as version 2 of the interface has them. To leave the stream without a request, remove the resource from the state with terraform state rm.

` + mayHave},
		"nearly the stream, read": {reads(Refresh), nearlyRead, `Stream "cam-1" could not be read. The response is nearly the stream, but last_edited is not an integer.

GET https://streams.example.com/v2/streams/cam-1 → 200 OK
The response does not have the documented form: {"id":"cam-1","last_edited":"2026-01-02"}

The service may have another version of the interface, or a gateway may change its responses. Ask the operators for the fields that the error names, as version 2 of the interface has them. If updates of the stream work, the deployment may not serve GET /v2/streams/{id} as detect_drift needs it. Then set detect_drift = false, or unset STREAM_DETECT_DRIFT.

Nothing was changed by this read.`},
		"proxy without Basic": {updates, proxy, `The processors of stream "cam-1" could not be updated. The connection failed: the proxy http://proxy:3128 responded to CONNECT with 407 Proxy Authentication Required, and offers NTLM, Negotiate.

PATCH https://streams.example.com/v2/streams/cam-1 → no valid response

The provider authenticates at a proxy only with Basic, which this one does not offer. Set HTTPS_PROXY (HTTP_PROXY for http://) to a local helper proxy that authenticates at this one, or list the host in NO_PROXY. NO_PROXY has host names, domains, IP addresses and CIDR blocks, separated by commas.

` + unchanged},
		"timeout beside others": {updates, beside(streams.Error{Kind: streams.KindTimeout, Outcome: streams.Unknown, Result: requests.Result{
			Err: requests.ErrRequestTimeout, Reason: "the service did not respond within 30s",
		}}), `The processors of stream "cam-1" could not be updated. The service did not respond within 30s.

PATCH https://streams.example.com/v2/streams/cam-1 → no valid response

Other requests have got through meanwhile, so there may be too many at a time. Set max_concurrent_requests to a smaller number, or run the command again later. If this error persists, check base_url, or raise request_timeout or the timeouts of the resource.

` + mayHave},
		"429, max_attempts": {updates, limited(documented(429, streams.KindBadRequest, "Slow down.")), `The processors of stream "cam-1" could not be updated.

PATCH https://streams.example.com/v2/streams/cam-1 → 429 Too Many Requests
The service said: Slow down.

There may be too many requests at a time. Set requests_per_second or max_concurrent_requests, or raise retry.max_attempts.

` + unchanged},
		"token endpoint, scope": {updates, token(400, "invalid_scope: no such scope"), `The processors of stream "cam-1" could not be updated. The token request to oauth2.token_url failed.

POST https://login.example.com/token → 400 Bad Request
The token endpoint said: invalid_scope: no such scope

A request with the client_secret of the oauth2 client "tf" from STREAM_OAUTH2_CLIENT_SECRET was rejected. The client, its credentials or its scopes may be unknown, expired or not allowed. Check oauth2.client_id, oauth2.scopes, oauth2.endpoint_params and oauth2.token_url.

` + unchanged},
		"token endpoint, 403": {updates, token(403, "unauthorized_client"), `The processors of stream "cam-1" could not be updated. The token request to oauth2.token_url failed.

POST https://login.example.com/token → 403 Forbidden
The token endpoint said: unauthorized_client

A request with the client_secret of the oauth2 client "tf" from STREAM_OAUTH2_CLIENT_SECRET was rejected. The client, its credentials or its scopes may be unknown, expired or not allowed. Check oauth2.client_id, oauth2.scopes, oauth2.endpoint_params and oauth2.token_url.

` + unchanged},
		"unregistered": {updates, unregistered, `The processors of stream "cam-1" could not be updated.

PATCH https://streams.example.com/v2/streams/cam-1 → 419
The service said: The session has expired.

See the status and what the response says, and check base_url.

` + mayHave},
		"404 of a create": {creates, gone, `The processors of stream "cam-1" could not be set.

PATCH https://streams.example.com/v2/streams/cam-1 → 404 Not Found
The service said: There is no such stream.

The stream may not exist at this base_url, or the credentials may not permit access. Check the id of the stream and base_url. If the stream has just been created, run the command again. If it is new, create it in the service first.

` + unchanged},
		"404 of an update": {updates, gone, `The processors of stream "cam-1" could not be updated.

PATCH https://streams.example.com/v2/streams/cam-1 → 404 Not Found
The service said: There is no such stream.

The stream may not exist at this base_url, or the credentials may not permit access. Check the id of the stream and base_url. If the stream was deleted, remove it from the configuration.

` + unchanged},
		"404 of a data source": {reads(DataSource), goneRead, `Stream "cam-1" could not be read.

GET https://streams.example.com/v2/streams/cam-1 → 404 Not Found
The service said: There is no such stream.

The stream may not exist at this base_url, or the credentials may not permit access. Check the id of the stream and base_url. If updates of the stream work, the deployment may not serve GET /v2/streams/{id} as detect_drift needs it. Then remove the data source: the state of a resource has the set that was sent last.

Nothing was changed by this read.`},
	} {
		e := test.err
		e.Attempts = 1
		if e.URL == "" {
			e.URL = url
		}
		if e.Method == "" {
			e.Method = "PATCH"
		}
		if got := test.detail(e); got != test.want {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}
