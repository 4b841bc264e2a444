package report

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// The failures of the tests: an update with a response, or without one, and what changes it.

const (
	bad, generic = streams.KindBadRequest, streams.KindGeneric

	testURL = "https://streams.example.com/v2/streams/cam-1"
)

func update(status int, kind streams.Kind) streams.Error {
	return streams.Error{Kind: kind, Result: requests.Result{
		Method: "PATCH", URL: testURL, Status: status, Form: masking.FormDocumented, Attempts: 1, Credentials: "a bearer token",
	}}
}

func without(cause error) streams.Error {
	return streams.Error{Kind: streams.KindConnection, Result: requests.Result{
		Method: "PATCH", URL: testURL, Attempts: 1, Err: errors.Join(cause, errors.New("x")),
	}}
}

func read(e streams.Error) streams.Error  { e.Method = "GET"; return e }
func token(e streams.Error) streams.Error { e.Method, e.TokenRequest = "POST", true; return e }
func with(sent string, e streams.Error) streams.Error {
	e.Credentials = sent
	return e
}

func plain(e streams.Error) streams.Error {
	e.URL = "http://streams.example.com/v2/streams/cam-1"
	return e
}

func unused(e streams.Error) streams.Error  { e.Unused = "STREAM_HEADERS has no effect"; return e }
func unknown(e streams.Error) streams.Error { e.Outcome = streams.Unknown; return e }

// The forms of a response.

func page(e streams.Error) streams.Error    { e.Form = masking.FormPage; return e }
func inJSON(e streams.Error) streams.Error  { e.Form = masking.FormJSON; return e }
func nothing(e streams.Error) streams.Error { e.Form = masking.FormText; return e }
func part(e streams.Error) streams.Error    { e.Form = masking.FormPart; return e }

func because(cause error, e streams.Error) streams.Error        { e.Err = cause; return e }
func redirected(location string, e streams.Error) streams.Error { e.Location = location; return e }

func beside(e streams.Error) streams.Error                { e.OthersTaken = true; return e }
func limited(e streams.Error) streams.Error               { e.OutOfAttempts = true; return e }
func challenged(by string, e streams.Error) streams.Error { e.Challenge = by; return e }

func merged(e streams.Error) streams.Error {
	e.Outcome, e.Stream = streams.Changed, &streams.Stream{ID: "cam-1"}
	return e
}

// Causes.

func alert(alert tls.AlertError) error { return &net.OpError{Op: "remote error", Err: alert} }

func wrongName(names ...string) error {
	return &tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{DNSNames: names}}}
}

var untrusted = &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}

func invalid(reason x509.InvalidReason) error {
	return &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: reason}}
}

func ofProxy(cause error) error { return errors.Join(new(transport.ProxyError), cause) }

// What was attempted.
var (
	none    = attempted{}
	toEmpty = attempted{empty: true}
	toLeave = attempted{empty: true, toLeave: leaveByState, orKeep: createsAgain + " " + keepFirst}
	toDrop  = attempted{empty: true, toLeave: leaveByGroup}
)

// The first error with a cause is whole. The others have three sentences: what failed, with the response and what the provider has found;
// the first thing to check; and what is now true.
func TestShortDetails(t *testing.T) {
	t.Parallel()
	const url, nothing = "https://host/v2/streams/cam-1", "Nothing was sent by this operation. "
	const unchanged, mayHave = "The stream was not changed.", "The stream may or may not have been changed; run the command again: sending the same set twice is safe."
	long := strings.TrimSpace(strings.Repeat("a long message ", 30))
	for name, test := range map[string]struct {
		err  streams.Error
		want string
	}{
		"credentials": {streams.Error{Kind: streams.KindAuthentication, Result: requests.Result{
			Status: 401, Form: masking.FormDocumented, Message: "token expired", Reason: "the service has rejected the same credentials for other streams",
		}}, "could not be updated: 401 Unauthorized: token expired. The service has rejected the same credentials for other streams. " +
			"Check the provider block and the variables STREAM_….\n" + nothing + unchanged},
		"token request": {streams.Error{Kind: streams.KindAuthentication, Result: requests.Result{Status: 401, TokenRequest: true, Attempts: 1, Message: "no"}},
			"could not be updated. The token request to oauth2.token_url failed: 401 Unauthorized: no. " +
				"Check oauth2.client_id, oauth2.scopes, oauth2.endpoint_params and oauth2.token_url.\n" + unchanged},
		"token request of another operation": {streams.Error{Kind: streams.KindAuthentication, Result: requests.Result{Status: 401, TokenRequest: true, SentBefore: true, Message: "no"}},
			"could not be updated. The token request to oauth2.token_url failed: 401 Unauthorized: no. " +
				"Check oauth2.client_id, oauth2.scopes, oauth2.endpoint_params and oauth2.token_url.\n" + unchanged},
		"long": {streams.Error{Kind: streams.KindBadRequest, Result: requests.Result{Status: 400, Attempts: 1, Form: masking.FormDocumented, Message: long}},
			"could not be updated: 400 Bad Request: " + cut(long) + " Check the processor ids.\n" + unchanged},
		"request id": {streams.Error{Kind: streams.KindGeneric, Outcome: streams.Unknown, Result: requests.Result{
			Status: 503, Attempts: 9, Form: masking.FormDocumented, Message: "Busy!", RequestID: "4bf92f35", Reason: "the operation did not finish within its time limit",
		}}, "could not be updated: 503 Service Unavailable (request id 4bf92f35): Busy! The operation did not finish within its time limit. " +
			"If this error persists, check base_url.\n" + mayHave},
		"redirect": {streams.Error{Kind: streams.KindRedirect, Result: requests.Result{Status: 302, Attempts: 1, RequestID: "7", Location: "https://login.example.com"}},
			"could not be updated: 302 Found (request id 7, Location https://login.example.com). If Location is the service, change base_url to that address.\n" + unchanged},
		"no response": {streams.Error{Kind: streams.KindConnection, Result: requests.Result{Attempts: 9, Err: errors.New("x"), Reason: "the connection failed: no such host"}},
			"could not be updated. The connection failed: no such host. Check base_url, the network and the proxy settings (HTTPS_PROXY, NO_PROXY).\n" + unchanged},
	} {
		e := test.err
		e.Method, e.URL = "PATCH", url
		r := New("")
		apply := func() string {
			return r.Apply(t.Context(), OneStream, updates, session.After{Findings: []session.Finding{operation(&e, *factsAfter(&e))}})[0].Detail()
		}
		streamstest.WantText(t, apply(), e.Message, filledHint(&e, attempted{}))
		for range 2 {
			if got, want := apply(), `The processors of stream "cam-1" `+test.want; got != want {
				t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
			}
		}
	}
}

// What an earlier operation of the run has done to the stream stands in a short error, too.
func TestShortErrorAfterLeave(t *testing.T) {
	t.Parallel()
	r := New("")
	for range 2 {
		f := operation(failed(streams.NotChanged, nil), claims.Facts{Detached: true, Reported: &streams.Stream{}})
		detail := r.Apply(t.Context(), OneStream, updates, session.After{Findings: []session.Finding{f}})[0].Detail()
		streamstest.WantText(t, detail, "The stream's processors were detached before, in this run.", "\nThe service reports that the stream now has [].")
	}
}

// What a short error cuts is in the log.
func TestLogOfShortErrors(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]int{"busy": 0, strings.Repeat("busy ", 70): 1} {
		var logged bytes.Buffer
		e := failed(streams.NotChanged, nil)
		e.Status, e.Form, e.Message = 503, masking.FormDocumented, message
		r := New("")
		for range 2 {
			after := session.After{Findings: []session.Finding{operation(e, claims.Facts{})}}
			r.Apply(tflogtest.RootLogger(t.Context(), &logged), OneStream, updates, after)
		}
		if got := strings.Count(logged.String(), "stream failed"); got != want || want > 0 && !strings.Contains(logged.String(), message) {
			t.Errorf("%q: %d lines, want %d: %s", message, got, want, &logged)
		}
	}
}
