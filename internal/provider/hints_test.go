package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/config"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Each row of the table is the hint of at least one failure here, and says what it must.
func TestHints(t *testing.T) {
	t.Parallel()
	const testURL = "https://streams.example.com/v2/streams/cam-1"
	update := func(status int, kind streams.Kind) streams.Error {
		return streams.Error{Kind: kind, Method: "PATCH", URL: testURL, Status: status, Documented: true, Attempts: 1, Credentials: "a bearer token"}
	}
	page := func(e streams.Error) streams.Error { e.Documented = false; return e }
	token := func(e streams.Error) streams.Error { e.Method, e.TokenRequest = "POST", true; return e }
	read := func(e streams.Error) streams.Error { e.Method = "GET"; return e }
	merged := func(e streams.Error) streams.Error {
		e.Outcome, e.Stream = streams.Changed, &streams.Stream{ID: "cam-1"}
		return e
	}
	without := func(cause error) streams.Error {
		return streams.Error{Kind: streams.KindConnection, Method: "PATCH", URL: testURL, Attempts: 1, Err: errors.Join(cause, errors.New("x"))}
	}
	withCredentials := func(sent string) streams.Error {
		e := update(401, streams.KindAuthentication)
		e.Credentials = sent
		return e
	}
	afterStatus := update(503, streams.KindConnection)
	afterStatus.Err, afterStatus.Outcome = errors.New("refused"), streams.Unknown
	notSent := without(context.DeadlineExceeded)
	notSent.Attempts = 0
	clientTimeout := update(0, streams.KindTimeout)
	clientTimeout.Err = errors.New("no response")
	const bad, generic = streams.KindBadRequest, streams.KindGeneric

	used := map[int]bool{}
	for name, test := range map[string]struct {
		err   streams.Error
		empty bool
		want  []string
		not   []string
	}{
		"interrupted": {without(context.Canceled), false, []string{"Apply again when you are ready."}, nil},
		"bad token file": {streams.Error{Kind: streams.KindAuthentication, Err: errors.Join(streams.ErrSecretFile, errors.New("x"))}, false,
			[]string{"relative to the folder where Terraform runs"}, []string{"base_url"}},
		"token file in UTF-16": {streams.Error{Kind: streams.KindAuthentication, Err: errors.Join(streams.ErrSecretFile, streams.ErrUTF16)}, false,
			[]string{"Windows PowerShell"}, []string{"base_url", "mounted"}},
		"not sent":            {without(streams.ErrNotSent), false, []string{"this machine"}, []string{"base_url", "service"}},
		"proxy":               {without(streams.ErrProxyRefused), false, []string{"HTTPS_PROXY", "NO_PROXY"}, []string{"base_url", "credentials"}},
		"wait for a token":    {without(streams.ErrTokenWait), false, []string{"oauth2.token_url", "timeouts of the resource"}, []string{"base_url", "service"}},
		"rate limit":          {without(streams.ErrRateLimit), false, []string{"requests_per_second"}, []string{"base_url", "slow"}},
		"wait for the stream": {streams.Error{Kind: streams.KindTimeout, Err: context.DeadlineExceeded}, false, []string{"Another operation on the same stream"}, []string{"base_url"}},
		"wait for a turn":     {notSent, false, []string{"max_concurrent_requests", "timeouts of the resource"}, []string{"base_url", "slow"}},

		"read, 404 of a proxy": {read(page(update(404, streams.KindNotFound))), false, []string{"detect_drift = false"}, nil},
		"read, 404":            {read(update(404, streams.KindNotFound)), false, []string{"stream may not exist"}, []string{"detect_drift"}},
		"read, 405":            {read(update(405, bad)), false, []string{"detect_drift = false"}, nil},
		"read, 500":            {read(update(500, generic)), false, []string{"temporary fault"}, []string{"detect_drift"}},

		"empty set, 400":        {update(400, bad), true, []string{`on_destroy = "keep"`}, nil},
		"empty set, merged":     {merged(update(200, streams.KindUnexpected)), true, []string{`on_destroy = "keep"`}, nil},
		"empty set, 405":        {update(405, bad), true, []string{"Check base_url"}, []string{"keep"}},
		"empty set, 500":        {update(500, generic), true, []string{"Apply again later"}, []string{"keep"}},
		"empty set, token, 400": {token(update(400, streams.KindAuthentication)), true, []string{"oauth2.client_id"}, []string{"keep"}},

		"unknown authority":        {without(streams.ErrUnknownAuthority), false, []string{"tls.ca_cert_pem", "check base_url"}, []string{"client_cert_pem", "server_name"}},
		"unknown authority, token": {token(without(streams.ErrUnknownAuthority)), false, []string{"tls.ca_cert_pem", "check oauth2.token_url"}, []string{"base_url"}},
		"wrong name":               {without(streams.ErrWrongName), false, []string{"tls.server_name", "base_url"}, []string{"ca_cert_pem", "client_cert_pem"}},
		"expired":                  {without(streams.ErrExpired), false, []string{"renew its certificate", "clock"}, []string{"ca_cert_pem", "server_name", "client_cert_pem"}},
		"not TLS":                  {without(streams.ErrNotTLS), false, []string{"may not use TLS", "http://"}, []string{"_pem", "server_name"}},
		"client certificate":       {without(streams.ErrClientCertificate), false, []string{"tls.client_cert_pem and tls.client_key_pem"}, []string{"ca_cert_pem", "server_name"}},
		"TLS version":              {without(streams.ErrTLS), false, []string{"TLS 1.2"}, []string{"_pem"}},
		"proxy credentials":        {without(streams.ErrProxyCredentials), false, []string{"HTTPS_PROXY"}, []string{"base_url"}},
		"407":                      {page(update(407, bad)), false, []string{"user name and password in HTTPS_PROXY"}, []string{"processor_ids"}},
		"redirect":                 {page(update(301, streams.KindRedirect)), false, []string{"change base_url to that address"}, nil},

		"token, 400":         {token(update(400, streams.KindAuthentication)), false, []string{"carried a bearer token.", "may not know the client", "oauth2.client_id", "oauth2.token_url"}, []string{"base_url"}},
		"token, 403":         {token(update(403, streams.KindAuthentication)), false, []string{"oauth2.token_url"}, []string{"the client", "base_url"}},
		"token, 429":         {token(update(429, bad)), false, []string{"oauth2.token_url"}, []string{"base_url"}},
		"token, 200":         {token(page(update(200, streams.KindUnexpected))), false, []string{"login page", "oauth2.token_url"}, []string{"base_url"}},
		"token, 500":         {token(update(500, generic)), false, []string{"token endpoint may have a temporary fault", "oauth2.token_url"}, []string{"base_url", "service"}},
		"token, 501":         {token(update(501, generic)), false, []string{"token endpoint may not offer", "oauth2.token_url"}, []string{"base_url", "service"}},
		"token, 504":         {token(update(504, streams.KindTimeout)), false, []string{"token endpoint", "oauth2.token_url"}, []string{"base_url", "service"}},
		"token, no response": {token(without(errors.New("refused"))), false, []string{"token endpoint may be down", "oauth2.token_url"}, []string{"base_url", "service"}},

		"merged":               {merged(update(200, streams.KindUnexpected)), false, []string{"merge sets"}, nil},
		"not a stream":         {page(update(200, streams.KindUnexpected)), false, []string{"may not have come from the service", "base_url"}, nil},
		"429":                  {update(429, bad), false, []string{"requests_per_second", "-parallelism"}, nil},
		"401":                  {withCredentials(`the basic_auth of user "me"`), false, []string{`The request carried the basic_auth of user "me".`}, nil},
		"401, no credentials":  {withCredentials("no credentials"), false, []string{"The request carried no credentials.", "token, token_file, basic_auth, oauth2"}, []string{"expired"}},
		"401 of a proxy":       {page(update(401, streams.KindAuthentication)), false, []string{"may not have come from the service", "proxy"}, []string{"carried"}},
		"403":                  {update(403, streams.KindUnauthorized), false, []string{"The request carried a bearer token.", "may not permit"}, nil},
		"403 of a proxy":       {page(update(403, streams.KindUnauthorized)), false, []string{"may not have come from the service", "proxy"}, []string{"permit"}},
		"404":                  {update(404, streams.KindNotFound), false, []string{"stream may not exist", "id of the stream"}, nil},
		"404 of a proxy":       {page(update(404, streams.KindNotFound)), false, []string{"may not have come from the service", "base_url"}, nil},
		"405":                  {update(405, bad), false, []string{"may not offer this operation at this address", "base_url"}, []string{"processor_ids"}},
		"409":                  {update(409, bad), false, []string{"Apply again"}, []string{"processor_ids"}},
		"413":                  {page(update(413, bad)), false, []string{"too large"}, []string{"may not know"}},
		"400 of a web server":  {page(update(400, bad)), false, []string{"base_url", "https://"}, []string{"processor_ids"}},
		"400":                  {update(400, bad), false, []string{"may not know one of the processor ids"}, nil},
		"422":                  {update(422, bad), false, []string{"may not know one of the processor ids"}, []string{"keep"}},
		"415":                  {update(415, bad), false, []string{"base_url"}, []string{"processor_ids"}},
		"504":                  {update(504, streams.KindTimeout), false, []string{"slow or overloaded", "Apply again later"}, []string{"request_timeout"}},
		"408":                  {update(408, streams.KindTimeout), false, []string{"slow or overloaded", "Apply again later"}, []string{"another version"}},
		"timeout":              {clientTimeout, false, []string{"request_timeout", "base_url"}, nil},
		"502":                  {update(502, streams.KindBadGateway), false, []string{"A proxy may not reach the service"}, nil},
		"500":                  {update(500, generic), false, []string{"temporary fault", "Apply again later"}, nil},
		"503, then no service": {afterStatus, false, []string{"temporary fault"}, nil},
		"no service":           {without(errors.New("refused")), false, []string{"base_url", "HTTPS_PROXY"}, nil},
	} {
		hints := hintsOf(&test.err, test.empty, "set detect_drift = false.")
		got := firstHint(hints).text
		used[slices.IndexFunc(hints, func(h hint) bool { return h.text == got })] = true
		streamstest.WantText(t, got, test.want...)
		for _, part := range test.not {
			if strings.Contains(got, part) {
				t.Errorf("%s: %q in %q", name, part, got)
			}
		}
		if !strings.HasSuffix(got, ".") {
			t.Errorf("%s: %q", name, got)
		}
	}
	for i, h := range hintsOf(new(streams.Error), false, "") {
		if !used[i] {
			t.Errorf("no failure has the hint of row %d: %s", i, h.text)
		}
	}
}

func TestPlanWarningsHaveTexts(t *testing.T) {
	t.Parallel()
	for w, text := range planWarnings {
		if text.summary == "" || text.detail == "" {
			t.Errorf("warning %d is %+v", w, text)
		}
	}
}

// Every diagnostic about an operation ends with what is now true. All outcomes are here.
func TestNowTrue(t *testing.T) {
	t.Parallel()
	reported := &streams.Stream{ProcessorIDs: streams.NewProcessorSet("p1", "p2")}
	const (
		unchanged   = "The stream was not changed."
		changed     = "The stream was changed."
		mayHave     = "The stream may or may not have been changed; apply again: sending the same set twice is safe."
		nothingSent = "Nothing was sent by this operation. "
		nowBoth     = `The service reports that the stream now has ["p1", "p2"].`
	)
	failed := func(outcome streams.Outcome, s *streams.Stream) error {
		return &streams.Error{Kind: streams.KindGeneric, Method: "PATCH", URL: "https://host", Attempts: 1, Outcome: outcome, Stream: s}
	}
	const id = "cam-1"
	first := streams.NewProcessorSet("p1")
	unsent, unknown := claims.Facts{Reported: reported}, claims.Facts{Reported: reported, Unknown: true}
	say := func(err error, facts claims.Facts) string {
		return diagnose(id, "it could not be done", "", operation{err: err, facts: facts}).Detail()
	}
	sayRefused := func(refusal claims.Refusal, facts claims.Facts) string {
		o := operation{decision: claims.Decision{Refusal: refusal}, facts: facts}
		return diagnose(id, "it could not be done", "", o).Detail()
	}
	counts := &tally{subject: ofGroup, changed: 1, leaves: 2}
	for _, outcomeOfStream := range []streams.Outcome{streams.NotChanged, streams.Changed, streams.Unknown, streams.Unknown} {
		counts.failed(id, change{kind: update}, operation{err: failed(outcomeOfStream, nil), result: new(claims.Result)})
	}
	group := counts.diagnostics("The state is as before.")
	at := func(terminal string) *processorsModel {
		return &processorsModel{streamModel: streamModel{TerminalID: types.StringValue(terminal)}}
	}
	changes := at("t2").unexpectedChanges(at("t1"), strings.ToUpper)
	streamstest.WantText(t, say(failed(streams.NotChanged, nil), claims.Facts{Left: &first}), `an object that had set ["p1"] left the stream and sent nothing`)
	for name, test := range map[string]struct {
		detail string
		want   string
	}{
		"refused":               {say(failed(streams.NotChanged, nil), claims.Facts{}), unchanged},
		"unknown":               {say(failed(streams.Unknown, nil), claims.Facts{}), mayHave},
		"merged":                {say(failed(streams.Changed, reported), claims.Facts{}), nowBoth},
		"left by another one":   {say(failed(streams.NotChanged, nil), claims.Facts{Left: &first}), unchanged},
		"read":                  {diagnoseRead(id, failed(streams.Unknown, nil), withoutReads).Detail(), "Nothing was changed by this read."},
		"wait":                  {say(fmt.Errorf("waiting: %w", context.Canceled), claims.Facts{}), unchanged},
		"wait for another one":  {say(fmt.Errorf("waiting: %w", context.Canceled), claims.Facts{Unknown: true}), mayHave},
		"interrupted":           {say(interruptedError{context.Canceled}, unsent), nowBoth},
		"not configured":        {notConfiguredError("it could not be done").Detail(), nothingSent + unchanged},
		"conflict":              {sayRefused(claims.ConflictingSets, unsent), nothingSent + "The stream was not changed by this resource."},
		"left alone":            {sayRefused(claims.Blocked, claims.Facts{}), nothingSent + unchanged},
		"left alone, unknown":   {sayRefused(claims.Blocked, unknown), nothingSent + mayHave},
		"left, other failed":    {staysAttached.about(id, nowTrue(operation{facts: claims.Facts{Unknown: true}}.now())).Detail(), mayHave},
		"gone on destroy":       {notFoundOnDestroy(id, asStreamError(failed(streams.NotChanged, nil))).Detail(), unchanged},
		"gone, after a failure": {notFoundOnDestroy(id, asStreamError(failed(streams.Unknown, nil))).Detail(), mayHave},
		"unexpected change":     {changes[0].Detail(), changed},
		"group, refused":        {group[0].Detail(), unchanged},
		"group, unknown":        {group[2].Detail(), mayHave},
		"group, dropped":        {droppedStreamError(id, first).Detail(), nothingSent + unchanged},
		"group, all streams": {group[4].Detail(), "1 stream has its planned set. 2 streams were left as on_destroy says. 1 stream was not changed. " +
			"1 stream was changed, but not as planned. 2 streams may or may not have been changed. The state is as before."},
	} {
		if !strings.HasSuffix(test.detail, "\n\n"+test.want) {
			t.Errorf("%s: the last paragraph is not %q: %s", name, test.want, test.detail)
		}
	}
}

// An error that repeats another's cause has at most six lines of 78 characters, also with long texts from outside. It says
// what to check, and ends with what is now true.
func TestRepeatedErrorsAreShort(t *testing.T) {
	t.Parallel()
	const id = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	for name, e := range map[string]streams.Error{
		"credentials": {Kind: streams.KindAuthentication, Status: 401, Documented: true, Credentials: "a bearer token from STREAM_TOKEN",
			Reason: "the service has rejected the same credentials for other streams"},
		"no credentials": {Kind: streams.KindAuthentication, Status: 401, Documented: true, Credentials: config.NoCredentials},
		"a proxy":        {Kind: streams.KindAuthentication, Status: 401},
		"token request": {Kind: streams.KindAuthentication, Status: 401, TokenRequest: true,
			Credentials: `the client_secret of the oauth2 client "terraform" from STREAM_OAUTH2_CLIENT_SECRET`},
		"503": {Kind: streams.KindGeneric, Status: 503, Attempts: 1, Outcome: streams.Unknown},
		"no connection": {Kind: streams.KindConnection, Attempts: 1, Err: errors.New("refused"),
			Reason: "the connection failed: dial tcp: lookup streams.staging.example.com on 127.0.0.53:53: no such host"},
		"no response": {Kind: streams.KindTimeout, Attempts: 1, Err: errors.New("none"), Outcome: streams.Unknown,
			Reason: "the service did not respond within 6s (shortened from 30s after other failures)"},
	} {
		e.Method, e.URL, e.Repeated, e.Message = "PATCH", "https://streams.example.com/v2/streams/"+id, true, strings.Repeat("a long message ", 30)
		hint, next := firstHint(hintsOf(&e, false, "")).text, map[bool]string{true: changeTriggers}[e.Outcome == streams.Unknown]
		detail := diagnose(id, fmt.Sprintf("the processors of stream %q could not be updated", id), next, operation{err: &e}).Detail()
		streamstest.WantText(t, detail, hint, nowTrue(e.Outcome, nil))
		lines := 0
		for line := range strings.Lines(detail) {
			lines += (utf8.RuneCountInString(line) + 76) / 77 // TestAccFleetOutput counts those of a CLI
		}
		if lines > 6 {
			t.Errorf("%s: %d lines:\n%s", name, lines, detail)
		}
	}
}
