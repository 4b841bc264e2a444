package report

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// filledHint returns the hint about one stream.
func filledHint(e *streams.Error, did attempted) string {
	return messageOfError(id, e).fill(hintFor(failure{e, did}).whole(), 1)
}

// Each row of the table is the hint of at least one failure here, so none is hidden by those above it, and says what it must.
func TestHints(t *testing.T) {
	t.Parallel()
	beforeIt := regexp.MustCompile(`Install them|that name|without one|^If \{it`)
	const bad, generic = streams.KindBadRequest, streams.KindGeneric
	const testURL = "https://streams.example.com/v2/streams/cam-1"
	update := func(status int, kind streams.Kind) streams.Error {
		return streams.Error{Kind: kind, Result: requests.Result{
			Method: "PATCH", URL: testURL, Status: status, Form: masking.FormDocumented, Attempts: 1, Credentials: "a bearer token",
		}}
	}
	page := func(e streams.Error) streams.Error { e.Form = masking.FormPage; return e }
	plain := func(e streams.Error) streams.Error {
		e.URL, e.Outcome = "http://streams.example.com/v2/streams/cam-1", streams.Unknown
		return e
	}
	inJSON := func(e streams.Error) streams.Error { e.Form = masking.FormJSON; return e }
	nothing := func(e streams.Error) streams.Error { e.Form = masking.FormText; return e }
	uncertified := func(e streams.Error) streams.Error { e.Err = transport.ErrNoCertificate; return e }
	alert := func(alert tls.AlertError) error { return &net.OpError{Op: "remote error", Err: alert} }
	part := func(e streams.Error) streams.Error { e.Form = masking.FormPart; return e }
	token := func(e streams.Error) streams.Error { e.Method, e.TokenRequest = "POST", true; return e }
	read := func(e streams.Error) streams.Error { e.Method = "GET"; return e }
	merged := func(e streams.Error) streams.Error {
		e.Outcome, e.Stream = streams.Changed, &streams.Stream{ID: "cam-1"}
		return e
	}
	without := func(cause error) streams.Error {
		return streams.Error{Kind: streams.KindConnection, Result: requests.Result{
			Method: "PATCH", URL: testURL, Attempts: 1, Err: errors.Join(cause, errors.New("x")),
		}}
	}
	withCredentials := func(sent string) streams.Error {
		e := update(401, streams.KindAuthentication)
		e.Credentials = sent
		return e
	}
	afterStatus := update(503, streams.KindConnection)
	afterStatus.Err, afterStatus.Outcome = errors.New("refused"), streams.Unknown
	inCase := func(e streams.Error) streams.Error { e.Err = streams.ErrCase; return e }
	wrongName := func(names ...string) error {
		return x509.HostnameError{Certificate: &x509.Certificate{DNSNames: names}}
	}
	invalid := func(reason x509.InvalidReason) error {
		return &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: reason}}
	}
	onIP := x509.HostnameError{Certificate: &x509.Certificate{IPAddresses: []net.IP{{127, 0, 0, 1}}}}
	clientTimeout := update(0, streams.KindTimeout)
	clientTimeout.Err = requests.ErrRequestTimeout
	outOfTime := update(429, bad)
	outOfTime.Err = requests.ErrNoTime
	late := clientTimeout
	late.Err = context.DeadlineExceeded

	nearly := func(e streams.Error) streams.Error { e.Err = streams.ErrNearly; return e }
	to := func(location string, e streams.Error) streams.Error { e.Location = location; return e }
	none, toLeave, toDrop := attempted{}, attempted{purpose: aLeave, empty: true, keep: keepOfResource, orKeep: keepLater}, attempted{purpose: aDrop, empty: true, keep: keepOfGroup}
	toRead, toCreate, toUpdate := attempted{purpose: aRead}, attempted{purpose: aCreate}, attempted{purpose: anUpdate}
	used := map[int]bool{}
	for name, test := range map[string]struct {
		err  streams.Error
		did  attempted
		want []string
		not  []string
	}{
		"interrupted": {without(context.Canceled), none, []string{"Run the command again when you are ready."}, nil},
		"bad token file": {streams.Error{Kind: streams.KindAuthentication, Result: requests.Result{Err: errors.Join(requests.ErrSecretFile, errors.New("x"))}}, none,
			[]string{"Check the file. A relative path begins in the folder that -chdir names: write an absolute path, in Terraform \"${path.cwd}/…\"."}, []string{"base_url"}},
		"not sent":            {without(transport.ErrNotSent), none, []string{"this machine"}, []string{"base_url", "service"}},
		"proxy":               {without(&transport.ProxyError{Status: 403}), none, []string{"other credentials", "HTTPS_PROXY", "NO_PROXY"}, []string{"base_url"}},
		"no proxy":            {without(new(transport.ProxyError)), none, []string{"The proxy may be down", "HTTPS_PROXY", "NO_PROXY"}, []string{"base_url", "credentials"}},
		"no connection":       {without(errors.Join(requests.ErrRequestTimeout, transport.ErrNoConnection)), none, []string{"firewall", "base_url", "HTTPS_PROXY"}, []string{"request_timeout"}},
		"wait for a token":    {without(requests.ErrTokenWait), none, []string{"oauth2.token_url", "timeouts of the resource"}, []string{"base_url", "service"}},
		"rate limit":          {without(requests.ErrRateLimit), none, []string{"requests_per_second", "timeouts of the resource"}, []string{"base_url", "slow"}},
		"wait for the stream": {*asStreamError(errors.Join(session.ErrWaitedForOther, context.DeadlineExceeded)), none, []string{"Another operation on the same stream"}, []string{"base_url"}},
		"no time to begin":    {*asStreamError(context.DeadlineExceeded), none, []string{"too short", "Raise the timeouts."}, []string{"Another operation", "base_url"}},
		"wait for a turn":     {without(requests.ErrSlotWait), none, []string{"max_concurrent_requests", "timeouts of the resource"}, []string{"base_url", "slow"}},

		"read, a page": {read(page(update(200, streams.KindUnexpected))), none, []string{"detect_drift = false"}, nil},
		"read, 400":    {read(update(400, bad)), none, []string{"may not accept this id", "Check the id of the stream", "detect_drift = false"}, []string{"processor"}},
		"read, 403":    {read(update(403, streams.KindUnauthorized)), none, []string{"may not permit", "If updates work", "detect_drift = false"}, nil},
		"read, 401":    {read(update(401, streams.KindAuthentication)), none, []string{"was rejected"}, []string{"detect_drift"}},
		"read, 418":    {read(update(418, bad)), none, []string{"See what the response says, and check base_url.", "If updates work", "detect_drift = false"}, nil},
		"read, 422":    {read(update(422, bad)), none, []string{"may not accept this id"}, []string{"processor"}},
		"read, 405":    {read(update(405, bad)), none, []string{"detect_drift = false"}, nil},
		"read, 500":    {read(update(500, generic)), none, []string{"have a fault"}, []string{"detect_drift"}},

		"empty set, 400":         {update(400, bad), toLeave, []string{"terraform state rm", `on_destroy = "keep"`}, []string{"run the command"}},
		"empty set, dropped":     {update(400, bad), toDrop, []string{`set on_destroy = "keep" in the group, and run the command again`}, []string{"apply"}},
		"empty set, merged":      {merged(update(200, streams.KindUnexpected)), toLeave, []string{`on_destroy = "keep"`}, nil},
		"empty set of an update": {update(422, bad), attempted{purpose: anUpdate, empty: true}, []string{"may not accept an empty set"}, []string{"destroy"}},
		"403, no credentials": {func() streams.Error { e := withCredentials("no credentials"); e.Status = 403; return e }(), none,
			[]string{"A request with no credentials was rejected. Set token"}, []string{"permit"}},
		"empty set, 405":        {update(405, bad), toLeave, []string{"Check base_url"}, []string{"keep"}},
		"empty set, 500":        {update(500, generic), toLeave, []string{"Run the command again later"}, []string{"keep"}},
		"empty set, token, 400": {token(update(400, streams.KindAuthentication)), toLeave, []string{"oauth2.client_id"}, []string{"keep"}},

		"TLS, proxy": {without(errors.Join(new(transport.ProxyError), http.ErrSchemeMismatch)), none,
			[]string{"This port may not use TLS", "HTTPS_PROXY"}, []string{"base_url", "client certificate"}},
		"unknown authority": {without(x509.UnknownAuthorityError{}), none, []string{"private authority, or the service may not send its intermediate certificate",
			"Add the certificate of the issuer to tls.ca_cert_pem, or check base_url."}, []string{"client_cert_pem", "server_name"}},
		"unknown authority, token": {token(without(x509.UnknownAuthorityError{})), none, []string{"token endpoint may not send", "check oauth2.token_url"}, []string{"base_url"}},
		"unknown authority, proxy": {without(errors.Join(new(transport.ProxyError), x509.UnknownAuthorityError{})), none,
			[]string{"the proxy may not send", "tls.ca_cert_pem, or check HTTPS_PROXY"}, []string{"base_url"}},
		"another usage": {without(invalid(x509.IncompatibleUsage)), none, []string{"If the error has another reason, the operators have to replace"}, []string{"client_cert_pem", "client certificate"}},
		"wrong name": {without(wrongName("a")), none, []string{"Use a name of the certificate in base_url, or in tls.server_name."},
			[]string{"ca_cert_pem", "client_cert_pem"}},
		"wrong address":     {without(onIP), none, []string{"Use a name of the certificate in base_url"}, nil},
		"wrong name, token": {token(without(wrongName("a"))), none, []string{"Use a name of the certificate in oauth2.token_url."}, []string{"server_name"}},
		"wrong name, proxy": {without(errors.Join(new(transport.ProxyError), wrongName("a"))), none,
			[]string{"belong to the proxy", "Use a name of the certificate in HTTPS_PROXY"}, []string{"server_name"}},
		"expired": {without(invalid(x509.Expired)), none, []string{"renew its certificate", "clock", "one of tls.ca_cert_pem"}, []string{"server_name", "client_cert_pem"}},
		"expired, proxy": {token(without(errors.Join(new(transport.ProxyError), invalid(x509.Expired)))), none,
			[]string{"The proxy may have to renew its certificate"}, []string{"token endpoint"}},
		"alert":                {without(alert(40)), none, []string{"may not serve this host", "version or cipher of TLS", "another client certificate", "Check base_url, tls.server_name and"}, nil},
		"alert of a proxy":     {without(errors.Join(new(transport.ProxyError), alert(70))), none, []string{"The proxy may not serve", "HTTPS_PROXY"}, []string{"base_url"}},
		"unreadable handshake": {without(new(transport.HandshakeError)), none, []string{"may not serve this host"}, []string{"down"}},
		"no HTTP":              {without(transport.ErrNotHTTP), none, []string{"such as TLS, or HTTP/2 without TLS", "Write https:// in base_url, or use another port."}, []string{"certificate"}},
		"no HTTP, token":       {token(without(transport.ErrNotHTTP)), none, []string{"Write https:// in oauth2.token_url"}, []string{"base_url"}},

		"header refused here": {without(errors.Join(transport.ErrNotSent, transport.ErrLongHeader)), none, []string{"may be too long for the service or a proxy", "shorter credential"}, []string{"TF_APPEND"}},
		"431":                 {update(431, bad), none, []string{"may be too long for the service or a proxy", "shorter credential"}, []string{"response says"}},
		"494, token":          {token(page(update(494, bad))), none, []string{"may be too long for the token endpoint or a proxy"}, []string{"login"}},

		"nearly the stream":          {nearly(update(200, streams.KindUnexpected)), toUpdate, []string{"another version of the interface", "Ask the operators"}, []string{"base_url", "keep"}},
		"nearly the stream, destroy": {nearly(update(200, streams.KindUnexpected)), toLeave, []string{"To leave the stream without a request, remove the resource"}, nil},
		"nearly the stream, dropped": {nearly(update(200, streams.KindUnexpected)), toDrop, []string{`To leave the stream without a request, set on_destroy = "keep" in the group`}, nil},
		"nearly the stream, read":    {nearly(read(update(200, streams.KindUnexpected))), toRead, []string{"If updates work, set detect_drift = false"}, []string{"may not offer"}},

		"destroy, 404 of a proxy": {page(update(404, streams.KindNotFound)), toLeave,
			[]string{"error body of the service", "Run the command again; if this error persists, check base_url", "terraform state rm", `apply on_destroy = "keep"`}, []string{"in the group"}},
		"dropped, 404 in JSON": {inJSON(update(404, streams.KindNotFound)), toDrop,
			[]string{"check base_url", `set on_destroy = "keep" in the group, and run the command again`}, []string{"state rm"}},
		"destroy, 404 of a part": {part(update(404, streams.KindNotFound)), toLeave, []string{"check base_url", "terraform state rm"}, nil},
		"destroy, token, 404":    {token(page(update(404, streams.KindNotFound))), toLeave, []string{"oauth2.token_url"}, []string{"base_url", "keep"}},

		"read, 404 of a proxy": {read(page(update(404, streams.KindNotFound))), toRead, []string{"may not offer GET", "Check the id of the stream and base_url. If both are right, set detect_drift = false"}, nil},
		"read, 404": {read(update(404, streams.KindNotFound)), toRead,
			[]string{"stream may not exist", "Check the id of the stream and base_url. If the same apply creates", "-target=ADDRESS", "detect_drift = false"}, []string{"new"}},
		"create, 404": {update(404, streams.KindNotFound), toCreate,
			[]string{"Check the id of the stream and base_url. If the stream has just been created, run the command again. If it is new, create it in the service first."}, []string{"configuration"}},
		"update, 404": {update(404, streams.KindNotFound), toUpdate, []string{"Check the id of the stream and base_url. If the stream was deleted, remove it from the configuration."}, []string{"new", "-refresh"}},

		"redirect, only a slash": {to("/v2/streams/cam-1/", update(308, streams.KindRedirect)), none, []string{"No setting of the provider", "The operators have to serve the documented path"}, []string{"change base_url"}},
		"redirect, route's case": {to("https://STREAMS.example.com/V2/Streams/cam-1", update(301, streams.KindRedirect)), none, []string{"The operators have to serve"}, nil},
		"redirect, read":         {read(to("./cam-1/", update(301, streams.KindRedirect))), none, []string{"The operators have to serve"}, []string{"detect_drift"}},
		"redirect, id's case":    {to("/v2/streams/CAM-1", update(301, streams.KindRedirect)), none, []string{"Write the id of the stream as the service does."}, []string{"operators"}},
		"redirect, other host":   {to("https://api.example.com/v2/streams/cam-1/", update(301, streams.KindRedirect)), none, []string{"change base_url to that address"}, nil},
		"redirect, other scheme": {to("http://streams.example.com/v2/streams/cam-1/", update(301, streams.KindRedirect)), none, []string{"change base_url to that address"}, nil},
		"redirect, other path":   {to("/api/v2/streams/cam-1", update(301, streams.KindRedirect)), none, []string{"change base_url to that address"}, nil},
		"redirect, token":        {to("/token/", token(update(301, streams.KindRedirect))), none, []string{"change oauth2.token_url to that address"}, nil},
		"redirect, no Location":  {page(update(301, streams.KindRedirect)), none, []string{"Check base_url"}, []string{"Location"}},

		"402":                     {update(402, bad), none, []string{"See what the response says, and check base_url."}, []string{"processor ids"}},
		"419":                     {update(419, bad), none, []string{"See what the response says, and check base_url."}, []string{"stopped waiting"}},
		"498 of a page":           {page(update(498, bad)), none, []string{"See what the response says"}, []string{"stopped waiting", "login"}},
		"511":                     {page(update(511, generic)), none, []string{"See what the response says"}, []string{"overloaded"}},
		"499":                     {update(499, bad), none, []string{"proxy may have stopped waiting", "Run the command again"}, []string{"processor_ids", "response says"}},
		"460":                     {page(update(460, bad)), none, []string{"proxy may have stopped waiting"}, []string{"response says"}},
		"405":                     {update(405, bad), none, []string{"A proxy may not let PATCH pass, or the service may not offer it", "base_url", "HTTPS_PROXY"}, []string{"processor_ids"}},
		"501 of a proxy":          {nothing(update(501, generic)), none, []string{"A proxy may not let PATCH pass"}, []string{"overloaded"}},
		"500":                     {update(500, generic), none, []string{"have a fault. Run the command again later. If this error persists, check base_url."}, []string{"max_attempts"}},
		"520":                     {update(520, generic), none, []string{"have a fault"}, []string{"max_attempts"}},
		"only a common name":      {without(wrongName()), none, []string{"only a common name", "service needs a certificate"}, []string{"server_name", "client_cert_pem"}},
		"common name, token":      {token(without(wrongName())), none, []string{"token endpoint needs a certificate"}, []string{"server_name"}},
		"asked for a certificate": {without(&net.OpError{Op: "local error"}), none, []string{"tls.client_cert_pem"}, []string{"down"}},
		"TLS":                     {without(http.ErrSchemeMismatch), none, []string{"may not use TLS", "http:// or https://", "base_url"}, []string{"client_cert_pem", "ca_cert_pem", "server_name"}},
		"no TLS record, token":    {token(without(tls.RecordHeaderError{})), none, []string{"may not use TLS", "oauth2.token_url"}, []string{"client_cert_pem", "base_url"}},
		"407":                     {page(update(407, bad)), none, []string{"user name and password in HTTPS_PROXY"}, []string{"processor_ids"}},
		"redirect":                {to("/login", page(update(302, streams.KindRedirect))), none, []string{"change base_url to that address", "login page"}, nil},

		"token, 400": {token(update(400, streams.KindAuthentication)), none, []string{"with a bearer token was rejected.", "The client, its credentials or its scopes may be unknown, expired or not allowed.",
			"Check oauth2.client_id, oauth2.scopes, oauth2.endpoint_params and oauth2.token_url."}, []string{"base_url"}},
		"token, 403":           {token(update(403, streams.KindAuthentication)), none, []string{"A request with a bearer token was rejected.", "oauth2.scopes"}, []string{"base_url"}},
		"token, 400 in text":   {token(nothing(update(400, streams.KindAuthentication))), none, []string{"with a bearer token was rejected.", "a proxy may have responded: check oauth2.token_url"}, []string{"base_url", "login"}},
		"token, 403 in text":   {token(nothing(update(403, streams.KindAuthentication))), none, []string{"with a bearer token was rejected.", "oauth2.token_url"}, []string{"base_url"}},
		"token, 400 of a page": {token(page(update(400, streams.KindAuthentication))), none, []string{"login page", "oauth2.token_url"}, []string{"The client", "bearer"}},
		"token, 401 of a page": {token(page(update(401, streams.KindAuthentication))), none, []string{"login page", "oauth2.token_url"}, []string{"The client", "bearer"}},
		"token, refused, 200":  {token(update(200, streams.KindAuthentication)), none, []string{"with a bearer token was rejected.", "The client, its credentials"}, []string{"login page"}},
		"token, 403 of a page": {token(page(update(403, streams.KindAuthentication))), none, []string{"login page", "oauth2.token_url"}, []string{"base_url"}},
		"token, 200 in JSON":   {token(update(200, streams.KindUnexpected)), none, []string{"oauth2.token_url", "oauth2.scopes"}, []string{"login page", "base_url"}},
		"token, 429":           {token(update(429, bad)), none, []string{"oauth2.token_url"}, []string{"base_url"}},
		"token, 200":           {token(page(update(200, streams.KindUnexpected))), none, []string{"login page", "oauth2.token_url"}, []string{"base_url"}},
		"token, 500":           {token(update(500, generic)), none, []string{"token endpoint may be overloaded or have a fault", "oauth2.token_url"}, []string{"base_url", "service"}},
		"token, 501":           {token(update(501, generic)), none, []string{"token endpoint may not offer", "oauth2.token_url"}, []string{"base_url", "service"}},
		"token, 504":           {token(update(504, streams.KindTimeout)), none, []string{"token endpoint", "oauth2.token_url"}, []string{"base_url", "service"}},
		"token, no response":   {token(without(errors.New("refused"))), none, []string{"token endpoint may be down", "oauth2.token_url"}, []string{"base_url", "service"}},

		"no client certificate":      {without(transport.ErrNoCertificate), none, []string{"may require a client certificate", "Set tls.client_cert_pem"}, []string{"another", "down"}},
		"no client certificate, 400": {uncertified(page(update(400, bad))), none, []string{"may require a client certificate", "base_url"}, []string{"login page"}},
		"no client certificate, 403": {uncertified(page(update(403, streams.KindUnauthorized))), none, []string{"with a bearer token was rejected"}, []string{"Set tls"}},
		"incomplete": {func() streams.Error {
			e := update(200, streams.KindConnection)
			e.Err = requests.ErrIncomplete
			return e
		}(), none,
			[]string{"wrong length", "Run the command again", "base_url"}, []string{"request_timeout", "address"}},
		"incomplete, 400":       {part(update(400, bad)), none, []string{"wrong length", "Run the command again", "base_url"}, []string{"processor", "login"}},
		"incomplete, read, 404": {part(read(update(404, streams.KindNotFound))), none, []string{"wrong length"}, []string{"detect_drift"}},
		"incomplete, 401":       {part(update(401, streams.KindAuthentication)), none, []string{"with a bearer token was rejected"}, []string{"wrong length"}},
		"id in another case": {inCase(page(update(200, streams.KindUnexpected))), none,
			[]string{"Write the id of the stream as the service does"}, []string{"proxy", "base_url"}},
		"read, id in another case": {inCase(read(update(200, streams.KindUnexpected))), none,
			[]string{"Write the id of the stream as the service does"}, []string{"detect_drift"}},
		"merged":             {merged(update(200, streams.KindUnexpected)), none, []string{"merge sets", "add them to the set", "former set, run the command again"}, nil},
		"304":                {nothing(update(304, streams.KindUnexpected)), none, []string{"may have this set already", "If-None-Match"}, []string{"Location", "proxy"}},
		"304 to a read":      {read(nothing(update(304, streams.KindUnexpected))), none, []string{"A cache may have responded", "base_url"}, []string{"detect_drift", "Location"}},
		"410":                {update(410, bad), none, []string{"may have been deleted", "id of the stream and base_url"}, []string{"offer this operation"}},
		"400 in other JSON":  {inJSON(update(400, bad)), none, []string{"may not know one of the processor ids", "a gateway may have responded: check base_url"}, []string{"login page", "proxy"}},
		"422 in other JSON":  {inJSON(update(422, bad)), none, []string{"may not accept this set", "a gateway may have responded: check base_url"}, []string{"login page"}},
		"404 in other JSON":  {inJSON(update(404, streams.KindNotFound)), none, []string{"Check the id of the stream", "a gateway may have responded: check base_url"}, []string{"login page"}},
		"403 in other JSON":  {inJSON(update(403, streams.KindUnauthorized)), none, []string{"may not permit the operation", "a gateway may have responded: check base_url"}, []string{"login page"}},
		"401 in other JSON":  {inJSON(update(401, streams.KindAuthentication)), none, []string{"may have expired", "a gateway may have responded: check base_url"}, []string{"login page"}},
		"400 without a text": {nothing(update(400, bad)), none, []string{"may not have come from the service, but from a proxy."}, []string{"login page"}},
		"200 in other JSON":  {inJSON(update(200, streams.KindUnexpected)), none, []string{"may not have come from the service, but from a proxy."}, []string{"login page"}},
		"not a stream":       {page(update(200, streams.KindUnexpected)), none, []string{"may not have come from the service", "base_url"}, nil},
		"429":                {update(429, bad), none, []string{"requests_per_second", "max_concurrent_requests"}, []string{"-parallelism", "timeouts", "max_attempts"}},
		"429, no time":       {outOfTime, none, []string{"requests_per_second", "max_concurrent_requests", "timeouts of the resource"}, []string{"max_attempts"}},
		"401":                {withCredentials(`the basic_auth of user "me"`), none, []string{`A request with the basic_auth of user "me" was rejected.`}, nil},
		"401, unused variable": {func() streams.Error {
			e := withCredentials("no credentials")
			e.Unused = "STREAM_HEADERS has no effect"
			return e
		}(), none, []string{"A request with no credentials was rejected. STREAM_HEADERS has no effect. Set token"}, nil},
		"403, unused variable": {func() streams.Error {
			e := withCredentials("a key")
			e.Status, e.Unused = 403, "STREAM_HEADERS has no effect"
			return e
		}(), none, []string{"A request with a key was rejected. STREAM_HEADERS has no effect. The credentials"}, nil},
		"401, no credentials":         {withCredentials("no credentials"), none, []string{"A request with no credentials was rejected.", "token, token_file, basic_auth, oauth2"}, []string{"expired"}},
		"401 without a body":          {nothing(update(401, streams.KindAuthentication)), none, []string{"A request with a bearer token was rejected.", "Otherwise, a proxy may have responded: check base_url, HTTPS_PROXY"}, []string{"login page"}},
		"403 of a page":               {page(update(403, streams.KindUnauthorized)), none, []string{"A request with a bearer token was rejected.", "Otherwise, a proxy or a login page may have responded"}, nil},
		"401, no credentials or body": {nothing(withCredentials("no credentials")), none, []string{"A request with no credentials was rejected.", "Otherwise, a proxy may have responded"}, nil},
		"token, 401 without a body":   {token(nothing(update(401, streams.KindAuthentication))), none, []string{"with a bearer token was rejected.", "Otherwise, a proxy may have responded: check oauth2.token_url"}, []string{"base_url"}},
		"403":                         {update(403, streams.KindUnauthorized), none, []string{"A request with a bearer token was rejected.", "may not permit"}, []string{"detect_drift"}},
		"404 of a proxy":              {page(update(404, streams.KindNotFound)), none, []string{"may not have come from the service", "base_url"}, nil},
		"409":                         {update(409, bad), none, []string{"max_concurrent_requests = 1", "-parallelism=1", "run the command again later."}, []string{"processor_ids"}},
		"425":                         {update(425, bad), none, []string{"max_concurrent_requests = 1"}, nil},
		"413":                         {page(update(413, bad)), none, []string{"too large"}, []string{"may not know"}},
		"400 of a web server":         {page(update(400, bad)), none, []string{"base_url", "https://"}, []string{"processor_ids"}},
		"400":                         {update(400, bad), none, []string{"may not know one of the processor ids"}, nil},
		"422":                         {update(422, bad), none, []string{"may not know one of the processor ids"}, []string{"keep"}},
		"504":                         {update(504, streams.KindTimeout), none, []string{"overloaded", "Run the command again later"}, []string{"request_timeout"}},
		"timeout":                     {clientTimeout, none, []string{"request_timeout", "base_url"}, []string{"timeouts of the resource"}},
		"late":                        {late, none, []string{"timeouts of the resource", "base_url"}, []string{"request_timeout"}},
		"503, then no service":        {afterStatus, none, []string{"have a fault"}, nil},
		"no answer, http://":          {plain(without(io.EOF)), none, []string{"may use TLS at this port", "base_url (http:// or https://)"}, []string{"down"}},
		"no service":                  {without(errors.New("refused")), none, []string{"base_url", "HTTPS_PROXY"}, nil},
	} {
		test.did.unserved, test.did.missing = readers[Plan].unserved, readers[Plan].missing
		got := filledHint(&test.err, test.did)
		if check := hintFor(failure{&test.err, test.did}).check; beforeIt.MatchString(check) {
			t.Errorf("%s: a short error does not say what this refers to: %s", name, check)
		}
		used[slices.IndexFunc(hints, func(h hint) bool { return h.applies(failure{&test.err, test.did}) })] = true
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
	for i, h := range hints {
		if !used[i] {
			t.Errorf("no failure has the hint of row %d: %s", i, h.whole())
		}
	}
}
