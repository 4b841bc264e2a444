package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// filledHint returns the hint about one stream.
func filledHint(e *streams.Error, did attempted) string {
	return messageOfError(id, e).fill(hintFor(failure{e, did}).whole(), 1)
}

// Each row of the table is the hint of at least one failure here, so none is hidden by those above it, and says what it must.
func TestHints(t *testing.T) {
	t.Parallel()
	beforeIt := regexp.MustCompile(`Install them|that name|without one|^If \{it`)
	used := map[int]bool{}
	for _, cases := range []map[string]hintCase{responseHints, tokenHints, connectionHints} {
		for name, test := range cases {
			if test.err.Method == "GET" {
				test.did = reading(Plan)
			}
			got := filledHint(&test.err, test.did)
			check := hintFor(failure{&test.err, test.did}).check
			if beforeIt.MatchString(check) {
				t.Errorf("%s: a short error does not say what this refers to: %s", name, check)
			}
			if strings.Contains(check, "detect_drift") { // many short errors would say so, although one stream may be missing
				t.Errorf("%s: the first thing to check turns reads off: %s", name, check)
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
	}
	for i, h := range hints {
		if !used[i] {
			t.Errorf("no failure has the hint of row %d: %s", i, h.whole())
		}
	}
}

// hintCase is a failure, and what its hint says and does not say.
type hintCase struct {
	err  streams.Error
	did  attempted
	want []string
	not  []string
}

// A response came.
var responseHints = map[string]hintCase{
	"read, a page":           {read(page(update(200, streams.KindUnexpected))), none, []string{"detect_drift = false"}, nil},
	"read, 400":              {read(update(400, bad)), none, []string{"See the status and what the response says", "If updates of the stream work", "detect_drift = false"}, []string{"processor"}},
	"read, 403":              {read(update(403, streams.KindUnauthorized)), none, []string{"may not permit", "If updates of the stream work", "detect_drift = false"}, nil},
	"read, 401":              {read(update(401, streams.KindAuthentication)), none, []string{"was rejected"}, []string{"detect_drift"}},
	"read, 418":              {read(update(418, bad)), none, []string{"See the status and what the response says, and check base_url.", "If updates of the stream work", "detect_drift = false"}, nil},
	"read, 422":              {read(update(422, bad)), none, []string{"See the status and what the response says"}, []string{"processor"}},
	"read, 405":              {read(update(405, bad)), none, []string{"detect_drift = false"}, nil},
	"read, 500":              {read(update(500, generic)), none, []string{"have a fault"}, []string{"detect_drift"}},
	"empty set, 400":         {update(400, bad), toLeave, []string{"terraform state rm", `on_destroy = "keep"`}, []string{"run the command"}},
	"empty set, dropped":     {update(400, bad), toDrop, []string{`set on_destroy = "keep" in the group, and run the command again`}, []string{"apply"}},
	"empty set, merged":      {merged(update(200, streams.KindUnexpected)), toLeave, []string{`on_destroy = "keep"`}, nil},
	"empty set of an update": {update(422, bad), toEmpty, []string{"may not accept an empty set"}, []string{"destroy"}},
	"403, no credentials": {with(requests.NoCredentials, update(403, streams.KindUnauthorized)), none,
		[]string{"A request with no credentials was rejected. Set token"}, []string{"permit"}},
	"empty set, 405":             {update(405, bad), toLeave, []string{"Check base_url"}, []string{"keep"}},
	"empty set, 500":             {update(500, generic), toLeave, []string{"Run the command again later"}, []string{"keep"}},
	"431":                        {update(431, bad), none, []string{"may be too long for the service or a proxy", "shorter credential"}, []string{"response says"}},
	"nearly the stream":          {because(streams.ErrNearly, update(200, streams.KindUnexpected)), none, []string{"another version of the interface", "Ask the operators"}, []string{"base_url", "keep"}},
	"nearly the stream, destroy": {because(streams.ErrNearly, update(200, streams.KindUnexpected)), toLeave, []string{"To leave the stream without a request, remove the resource"}, nil},
	"nearly the stream, dropped": {because(streams.ErrNearly, update(200, streams.KindUnexpected)), toDrop, []string{`To leave the stream without a request, set on_destroy = "keep" in the group`}, nil},
	"nearly the stream, read":    {because(streams.ErrNearly, read(update(200, streams.KindUnexpected))), none, []string{"If updates of the stream work", "Then set detect_drift = false"}, []string{"may not offer"}},
	"destroy, 404 of a proxy": {page(update(404, streams.KindNotFound)), toLeave,
		[]string{"error body of the service", "Run the command again; if this error persists, check base_url", "terraform state rm", `apply on_destroy = "keep"`}, []string{"in the group"}},
	"dropped, 404 in JSON": {inJSON(update(404, streams.KindNotFound)), toDrop,
		[]string{"check base_url", `set on_destroy = "keep" in the group, and run the command again`}, []string{"state rm"}},
	"destroy, 404 of a part": {part(update(404, streams.KindNotFound)), toLeave, []string{"the processors may still be attached", "check base_url", "terraform state rm"}, nil},
	"read, 404 of a proxy":   {read(page(update(404, streams.KindNotFound))), none, []string{"may not serve GET", "Check the id of the stream and base_url. If both are right, set detect_drift = false"}, nil},
	"read, 404": {read(update(404, streams.KindNotFound)), none,
		[]string{"stream may not exist", "Check the id of the stream and base_url. If the same apply creates", "-target=ADDRESS", "detect_drift = false"}, []string{"new"}},
	"create, 404": {update(404, streams.KindNotFound), attempted{missing: createFirst},
		[]string{"Check the id of the stream and base_url. If the stream has just been created, run the command again. If it is new, create it in the service first."}, []string{"configuration"}},
	"update, 404":            {update(404, streams.KindNotFound), none, []string{"Check the id of the stream and base_url."}, []string{"new", "-refresh"}},
	"redirect, only a slash": {redirected("/v2/streams/cam-1/", update(308, streams.KindRedirect)), none, []string{"No setting of the provider", "The operators have to serve the documented path"}, []string{"change base_url"}},
	"redirect, read":         {read(redirected("./cam-1/", update(301, streams.KindRedirect))), none, []string{"The operators have to serve"}, []string{"detect_drift"}},
	"redirect, read, host":   {read(redirected("https://api.example.com/v2/streams/cam-1", update(301, streams.KindRedirect))), none, []string{"change base_url to that address", "detect_drift = false"}, nil},
	"redirect, route's case": {redirected("https://STREAMS.example.com/V2/Streams/cam-1", update(301, streams.KindRedirect)), none, []string{"The operators have to serve"}, []string{"base_url"}},
	"redirect, slash, query": {redirected("/v2/streams/cam-1/?from=proxy", update(302, streams.KindRedirect)), none, []string{"The operators have to serve"}, []string{"base_url"}},
	"redirect, itself":       {redirected("/v2/streams/cam-1", update(302, streams.KindRedirect)), none, []string{"Location has the same path", "The operators have to serve"}, []string{"base_url"}},
	"redirect, id's case":    {redirected("/v2/streams/CAM-1", update(301, streams.KindRedirect)), none, []string{"Write the id of the stream as the service does."}, []string{"operators", "change base_url"}},
	"redirect, other host":   {redirected("https://api.example.com/v2/streams/cam-1/", update(301, streams.KindRedirect)), none, []string{"change base_url to that address"}, nil},
	"redirect, other scheme": {redirected("http://streams.example.com/v2/streams/cam-1/", update(301, streams.KindRedirect)), none, []string{"change base_url to that address"}, nil},
	"redirect, other path":   {redirected("/api/v2/streams/cam-1", update(301, streams.KindRedirect)), none, []string{"change base_url to that address"}, nil},
	"redirect, no Location":  {page(update(301, streams.KindRedirect)), none, []string{"Check base_url"}, []string{"Location"}},
	"402":                    {update(402, bad), none, []string{"See the status and what the response says, and check base_url."}, []string{"processor ids"}},
	"419":                    {update(419, bad), none, []string{"See the status and what the response says, and check base_url."}, []string{"stopped waiting"}},
	"498 of a page":          {page(update(498, bad)), none, []string{"See the status and what the response says"}, []string{"stopped waiting", "login"}},
	"511":                    {page(update(511, generic)), none, []string{"See the status and what the response says"}, []string{"overloaded"}},
	"405":                    {update(405, bad), none, []string{"A proxy may not let PATCH pass, or the service may not offer it", "base_url", "HTTPS_PROXY"}, []string{"processor_ids"}},
	"501 of a proxy":         {nothing(update(501, generic)), none, []string{"A proxy may not let PATCH pass"}, []string{"overloaded"}},
	"500":                    {update(500, generic), none, []string{"have a fault. Run the command again later. If this error persists, check base_url."}, []string{"max_attempts"}},
	"520":                    {update(520, generic), none, []string{"have a fault"}, []string{"max_attempts"}},
	"499":                    {update(499, bad), none, []string{"proxy may have stopped waiting", "Run the command again"}, []string{"processor_ids", "response says"}},
	"460":                    {page(update(460, bad)), none, []string{"proxy may have stopped waiting"}, []string{"response says"}},
	"407, no Basic, http://": {challenged("Negotiate", page(update(407, bad))), none, []string{"only with Basic", "local helper proxy"}, nil},
	"407, Basic, http://":    {challenged("Negotiate, Basic", page(update(407, bad))), none, []string{"user name and password"}, []string{"helper"}},
	"407":                    {page(update(407, bad)), none, []string{"user name and password in HTTPS_PROXY"}, []string{"processor_ids"}},
	"redirect":               {redirected("/login", page(update(302, streams.KindRedirect))), none, []string{"change base_url to that address", "login page"}, nil},
	"incomplete, 401":        {part(update(401, streams.KindAuthentication)), none, []string{"with a bearer token was rejected"}, []string{"wrong length"}},
	"another stream": {because(streams.ErrOtherStream, page(update(200, streams.KindUnexpected))), none,
		[]string{"such as in lower case", "Write the id of the stream as the service does", "check base_url"}, []string{"proxy"}},
	"read, another stream": {because(streams.ErrOtherStream, read(update(200, streams.KindUnexpected))), none,
		[]string{"Write the id of the stream as the service does", "detect_drift = false"}, nil},
	"merged":                      {merged(update(200, streams.KindUnexpected)), none, []string{"merge sets", "add them to the set", "former set, run the command again"}, nil},
	"304":                         {nothing(update(304, streams.KindUnexpected)), none, []string{"may have this set already", "a cache may have responded", "If-None-Match"}, []string{"Location", "proxy"}},
	"410":                         {update(410, bad), none, []string{"may not exist at this base_url", "id of the stream and base_url"}, []string{"offer this operation"}},
	"400 in other JSON":           {inJSON(update(400, bad)), none, []string{"may not know one of the processor ids", "a gateway may have responded: check base_url"}, []string{"login page", "proxy"}},
	"422 in other JSON":           {inJSON(update(422, bad)), none, []string{"may not accept this set", "a gateway may have responded: check base_url"}, []string{"login page"}},
	"404 in other JSON":           {inJSON(update(404, streams.KindNotFound)), none, []string{"Check the id of the stream", "a gateway may have responded: check base_url"}, []string{"login page"}},
	"403 in other JSON":           {inJSON(update(403, streams.KindUnauthorized)), none, []string{"may not permit the operation", "a gateway may have responded: check base_url"}, []string{"login page"}},
	"401 in other JSON":           {inJSON(update(401, streams.KindAuthentication)), none, []string{"may have expired", "a gateway may have responded: check base_url"}, []string{"login page"}},
	"400 without a text":          {nothing(update(400, bad)), none, []string{"may not have come from the service, but from a proxy."}, []string{"login page"}},
	"200 in other JSON":           {inJSON(update(200, streams.KindUnexpected)), none, []string{"may not have come from the service, but from a proxy."}, []string{"login page"}},
	"not a stream":                {page(update(200, streams.KindUnexpected)), none, []string{"may not have come from the service", "base_url"}, nil},
	"429":                         {update(429, bad), none, []string{"requests_per_second", "max_concurrent_requests"}, []string{"-parallelism", "timeouts", "max_attempts"}},
	"429, max_attempts":           {limited(update(429, bad)), none, []string{"Set requests_per_second or max_concurrent_requests, or raise retry.max_attempts."}, []string{"timeouts"}},
	"503 beside others":           {beside(update(503, generic)), none, []string{"Other requests have got through", "Set max_concurrent_requests to a smaller number, or run the command again later."}, []string{"overloaded"}},
	"504 beside others":           {beside(update(504, streams.KindTimeout)), none, []string{"max_concurrent_requests"}, nil},
	"500 beside others":           {beside(update(500, generic)), none, []string{"have a fault"}, []string{"max_concurrent"}},
	"token, 503, beside":          {token(beside(update(503, generic))), none, []string{"token endpoint may be overloaded"}, []string{"max_concurrent"}},
	"429, no time":                {because(requests.ErrNoTime, update(429, bad)), none, []string{"requests_per_second", "max_concurrent_requests", "timeouts of the resource"}, []string{"max_attempts"}},
	"413":                         {page(update(413, bad)), none, []string{"too large"}, []string{"may not know"}},
	"401":                         {with(`the basic_auth of user "me"`, update(401, streams.KindAuthentication)), none, []string{`A request with the basic_auth of user "me" was rejected.`}, nil},
	"401, unused variable":        {unused(with(requests.NoCredentials, update(401, streams.KindAuthentication))), none, []string{"A request with no credentials was rejected. STREAM_HEADERS has no effect. Set token"}, nil},
	"403, unused variable":        {unused(with("a key", update(403, streams.KindUnauthorized))), none, []string{"A request with a key was rejected. STREAM_HEADERS has no effect. The credentials"}, nil},
	"401, no credentials":         {with(requests.NoCredentials, update(401, streams.KindAuthentication)), none, []string{"A request with no credentials was rejected.", "token, token_file, basic_auth, oauth2"}, []string{"expired"}},
	"401 without a body":          {nothing(update(401, streams.KindAuthentication)), none, []string{"A request with a bearer token was rejected.", "Otherwise, a proxy may have responded: check base_url, HTTPS_PROXY"}, []string{"login page"}},
	"403 of a page":               {page(update(403, streams.KindUnauthorized)), none, []string{"A request with a bearer token was rejected.", "Otherwise, a proxy or a login page may have responded"}, nil},
	"401, no credentials or body": {nothing(with(requests.NoCredentials, update(401, streams.KindAuthentication))), none, []string{"A request with no credentials was rejected.", "Otherwise, a proxy may have responded"}, nil},
	"403":                         {update(403, streams.KindUnauthorized), none, []string{"A request with a bearer token was rejected.", "may not permit"}, []string{"detect_drift"}},
	"404 of a proxy":              {page(update(404, streams.KindNotFound)), none, []string{"may not have come from the service", "base_url"}, nil},
	"409":                         {update(409, bad), none, []string{"max_concurrent_requests = 1", "-parallelism=1", "run the command again later."}, []string{"processor_ids"}},
	"425":                         {update(425, bad), none, []string{"max_concurrent_requests = 1"}, nil},
	"400 of a web server":         {page(update(400, bad)), none, []string{"base_url", "https://"}, []string{"processor_ids"}},
	"400":                         {update(400, bad), none, []string{"may not know one of the processor ids"}, nil},
	"422":                         {update(422, bad), none, []string{"may not know one of the processor ids"}, []string{"keep"}},
	"504":                         {update(504, streams.KindTimeout), none, []string{"overloaded", "Run the command again later"}, []string{"request_timeout"}},
}

// A token request failed with a response.
var tokenHints = map[string]hintCase{
	"empty set, token, 400": {token(update(400, streams.KindAuthentication)), toLeave, []string{"oauth2.client_id"}, []string{"keep"}},
	"destroy, token, 404":   {token(page(update(404, streams.KindNotFound))), toLeave, []string{"oauth2.token_url"}, []string{"base_url", "keep"}},
	"redirect, token":       {redirected("/token/", token(update(301, streams.KindRedirect))), none, []string{"change oauth2.token_url to that address"}, nil},
	"token, 400": {token(update(400, streams.KindAuthentication)), none, []string{"with a bearer token was rejected.", "The client, its credentials or its scopes may be unknown, expired or not allowed.",
		"Check oauth2.client_id, oauth2.scopes, oauth2.endpoint_params and oauth2.token_url."}, []string{"base_url"}},
	"token, 403":                {token(update(403, streams.KindAuthentication)), none, []string{"A request with a bearer token was rejected.", "oauth2.scopes"}, []string{"base_url"}},
	"token, 400 in text":        {token(nothing(update(400, streams.KindAuthentication))), none, []string{"with a bearer token was rejected.", "a proxy may have responded: check oauth2.token_url"}, []string{"base_url", "login"}},
	"token, 403 in text":        {token(nothing(update(403, streams.KindAuthentication))), none, []string{"with a bearer token was rejected.", "oauth2.token_url"}, []string{"base_url"}},
	"token, 400 of a page":      {token(page(update(400, streams.KindAuthentication))), none, []string{"login page", "oauth2.token_url"}, []string{"The client", "bearer"}},
	"token, 401 of a page":      {token(page(update(401, streams.KindAuthentication))), none, []string{"login page", "oauth2.token_url"}, []string{"The client", "bearer"}},
	"token, refused, 200":       {token(update(200, streams.KindAuthentication)), none, []string{"with a bearer token was rejected.", "The client, its credentials"}, []string{"login page"}},
	"token, 403 of a page":      {token(page(update(403, streams.KindAuthentication))), none, []string{"login page", "oauth2.token_url"}, []string{"base_url"}},
	"token, 200 in JSON":        {token(update(200, streams.KindUnexpected)), none, []string{"oauth2.token_url", "oauth2.scopes"}, []string{"login page", "base_url"}},
	"token, 429":                {token(update(429, bad)), none, []string{"oauth2.token_url"}, []string{"base_url"}},
	"token, 200":                {token(page(update(200, streams.KindUnexpected))), none, []string{"login page", "oauth2.token_url"}, []string{"base_url"}},
	"token, 500":                {token(update(500, generic)), none, []string{"token endpoint may be overloaded or have a fault", "oauth2.token_url"}, []string{"base_url", "service"}},
	"token, 501":                {token(update(501, generic)), none, []string{"token endpoint may not offer", "oauth2.token_url"}, []string{"base_url", "service"}},
	"token, 504":                {token(update(504, streams.KindTimeout)), none, []string{"token endpoint", "oauth2.token_url"}, []string{"base_url", "service"}},
	"token, 401 without a body": {token(nothing(update(401, streams.KindAuthentication))), none, []string{"with a bearer token was rejected.", "Otherwise, a proxy may have responded: check oauth2.token_url"}, []string{"base_url"}},
}
