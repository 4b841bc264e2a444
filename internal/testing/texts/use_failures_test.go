package texts_test

import (
	"maps"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// credentials are those that a service rejects.
func credentials() []failure {
	rejected := says(401, "Unauthorized")
	with := func(a coretest.Attributes) func(*world) {
		return func(w *world) {
			w.configure(coretest.Attributes{"token": nil})
			w.configure(a)
			rejected(w)
		}
	}
	all := slices.Concat(
		in("rejected: no credentials", with(nil), "create"),
		in("rejected: basic_auth", with(coretest.Attributes{"basic_auth": coretest.Attributes{"username": "alice", "password": "s3cret"}}), "create"),
		in("rejected: an API key", with(coretest.Attributes{"headers": coretest.Attributes{"X-Api-Key": "k-4711-4711"}}), "create"),
		in("403: no credentials", func(w *world) {
			w.configure(coretest.Attributes{"token": nil})
			says(403, "Forbidden")(w)
		}, "create"),
		in("no token file", with(coretest.Attributes{"token_file": "/var/run/secrets/streams/token"}), "create"),
		in("empty token file", with(coretest.Attributes{"token_file": os.DevNull}), "create"),
	)
	both := in("rejected: headers in place of STREAM_HEADERS", with(coretest.Attributes{"headers": coretest.Attributes{"X-Tenant": "acme"}}), "create")
	both[0].env = map[string]string{"STREAM_HEADERS": `{"X-Api-Key": "k-4711-4711"}`}
	fromEnvironment := in("rejected: STREAM_TOKEN", with(nil), "create")
	fromEnvironment[0].env = map[string]string{"STREAM_TOKEN": "eyJhbGciOiJSUzI1NiJ9"}
	return slices.Concat(all, both, fromEnvironment)
}

// reads are those of detect_drift that find no route.
func reads() []failure {
	const notAllowed = "The method GET is not allowed here."
	noGet := serves(func(rw http.ResponseWriter, r *http.Request) { response(405, json_, messageBody(notAllowed))(rw, r) })
	return slices.Concat(
		in("no GET", noGet, "read", "read again", "refuse", "import", "import group", "data source", "query", "read group"),
		[]failure{
			{title: "read: twelve missing streams", does: readMany(12), fails: says(404, "There is no such stream.")},
			{title: "read: twelve streams, no route", does: readMany(12), fails: text(404, "404 page not found\n")},
			{title: "read: twelve streams, wrong token", does: readMany(12), fails: says(401, "The token is not valid.")},
			{title: "read: twelve streams, 503", does: readMany(12), fails: says(503, "The service is being updated.")},
			{title: "refuse: other processors", does: refusing, fails: func(w *world) {
				w.service.Seed(streamstest.Stream{ID: "cam-01", ProcessorIDs: []string{"p7", "p8"}})
			}},
		},
	)
}

// manyStreams are groups and single resources that fail together.
func manyStreams() []failure {
	merged := func(one, other map[string]http.HandlerFunc) map[string]http.HandlerFunc {
		maps.Copy(one, other)
		return one
	}
	some := func(ids []string, handler http.HandlerFunc) map[string]http.HandlerFunc {
		failing := map[string]http.HandlerFunc{}
		for _, id := range ids {
			failing[id] = handler
		}
		return failing
	}
	all := cameras(30)
	twoCauses := byStream(merged(some(all[:5], noStream(0)), some(all[5:9], unavailable(0))))
	threeCauses := byStream(merged(merged(some(all[:1], noStream(0)), some(all[1:4], unknownProcessor(0))),
		some(all[4:7], response(200, html, loginPage))))
	return []failure{
		{title: "group: two causes", does: updateGroup(30), fails: twoCauses},
		{title: "create group: two causes", does: createGroup(30), fails: twoCauses},
		{title: "destroy group: two causes", does: destroyGroup(30), fails: twoCauses},
		{title: "group: three causes", does: updateGroup(10), fails: threeCauses},
		{title: "create group: three causes", does: createGroup(10), fails: threeCauses},
		{title: "group: one of thirty is missing", does: updateGroup(30), fails: byStream(some(all[7:8], noStream(0)))},
		{title: "create group: one of thirty is missing", does: createGroup(30), fails: byStream(some(all[7:8], noStream(0)))},
		{title: "group: one of ten is silent", does: updateGroup(10), fails: byStream(some(all[2:3], silent))},
		{title: "group: thirty missing streams", does: updateGroup(30), fails: each(30, noStream)},
		{title: "group: thirty messages", does: updateGroup(30), fails: each(30, unknownProcessor)},
		{title: "group: five messages", does: updateGroup(5), fails: each(5, unknownProcessor)},
		{title: "group: truncated", does: updateGroup(3), fails: fault(streamstest.Fault{Truncate: true})},
		{title: "group: other sets", does: updateGroup(4), fails: edits(func(o map[string]any) { o["processor_ids"] = []any{"p2", o["id"]} })},
		{title: "singles: thirty, wrong token", does: createMany(30), fails: says(401, "The token is not valid.")},
		{title: "singles: thirty, refused", does: createMany(30), fails: reaches(refuse)},
		{title: "singles: thirty, unknown authority", does: createMany(30), fails: func(w *world) { w.configure(coretest.Attributes{"tls": nil}) }},
		{title: "singles: thirty messages", does: createMany(30), fails: each(30, unknownProcessor)},
		{title: "singles: thirty missing streams", does: createMany(30), fails: each(30, noStream)},
		{title: "singles: five, 503", does: createMany(5), fails: each(5, unavailable)},
		{title: "singles: five, closed after the update", does: createMany(5), fails: fault(streamstest.Fault{ResetAfter: true})},
		{title: "singles: five, redirect", does: createMany(5), fails: responds(302, html, "", "Location", "https://login.example.com/signin")},
		{title: "singles: five, merge", does: createMany(5), fails: func(w *world) {
			w.service.Configure(func(o *streamstest.Options) { o.Merge = true })
			for _, id := range cameras(5) {
				w.service.Seed(streamstest.Stream{ID: id, ProcessorIDs: []string{"p0"}})
			}
		}},
		{title: "singles: five destroys, 404", does: destroyMany(5), fails: each(5, noStream)},
		{title: "singles: five destroys, no route", does: destroyMany(5), fails: text(404, "404 page not found\n")},
		{title: "singles: five destroys, 503", does: destroyMany(5), fails: each(5, unavailable)},
	}
}

// limits are time limits and interrupts.
func limits() []failure {
	within := func(limit string) operation {
		return updateWith(coretest.Attributes{"timeouts": coretest.Attributes{"update": limit}})
	}
	brief := coretest.Attributes{"timeouts": coretest.Attributes{"create": "5s"}}
	createBriefly := func(w *world) coretest.Diagnostics {
		config := group(cameras(10), brief, "p1")
		w.fails(w)
		_, diags := w.apply(coretest.Managed{Value: null(config)}, config)
		return diags
	}
	return []failure{
		{title: "time limit: no response", does: within("5s"), fails: serves(silent)},
		{title: "time limit: 503", does: within("5s"), fails: says(503, "The service is being updated.")},
		{title: "time limit: 503 with Retry-After", does: within("5s"), fails: says(503, "Maintenance", "Retry-After", "60")},
		{title: "time limit: 429 with Retry-After", does: within("5s"), fails: says(429, "Slow down.", "Retry-After", "60")},
		{title: "time limit: refused", does: within("5s"), fails: reaches(refuse)},
		{title: "time limit: rate", does: createBriefly, fails: func(w *world) {
			w.configure(coretest.Attributes{"requests_per_second": 0.5, "max_concurrent_requests": 1})
		}},
		{title: "time limit: slots", does: createBriefly, fails: func(w *world) {
			w.configure(coretest.Attributes{"max_concurrent_requests": 1})
			w.service.Configure(func(o *streamstest.Options) { o.Latency = 2 * time.Second })
		}},
		{title: "interrupt: no response", does: interrupted(single("cam-01", nil, "p1")), fails: serves(silent)},
		{title: "interrupt: 503", does: interrupted(single("cam-01", nil, "p1")), fails: says(503, "The service is being updated.")},
		{title: "interrupt: a group", does: interrupted(group(cameras(5), nil, "p1")), fails: func(w *world) {
			w.configure(coretest.Attributes{"max_concurrent_requests": 1})
			serves(late(time.Minute, w.service.ServeHTTP))(w)
		}},
	}
}
