package texts_test

import (
	"maps"
	"net/http"
	"slices"

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
	basic := func(username, password string) coretest.Attributes {
		return coretest.Attributes{"basic_auth": coretest.Attributes{"username": username, "password": password}}
	}
	header := func(name, value string) coretest.Attributes {
		return coretest.Attributes{"headers": coretest.Attributes{name: value}}
	}
	all := slices.Concat(
		in("rejected: no credentials", with(nil), "create"),
		in("rejected: basic_auth", with(basic("alice", "s3cret")), "create"),
		in("rejected: a user name without a password", with(basic("k-4711-4711", "")), "create"),
		in("rejected: an API key", with(header("X-Api-Key", "k-4711-4711")), "create"),
		in("rejected: an empty API key", with(header("X-Api-Key", "")), "create"),
		in("rejected: a token that a template left", with(coretest.Attributes{"token": "<token>"}), "create"),
		in("rejected: a token with the name of its header", with(header("Authorization", "Authorization: Bearer abc")), "create"),
		in("403: no credentials", func(w *world) {
			w.configure(coretest.Attributes{"token": nil})
			says(403, "Forbidden")(w)
		}, "create"),
		in("no token file", with(coretest.Attributes{"token_file": "/var/run/secrets/streams/token"}), "create"),
	)
	fromEnvironment := in("rejected: STREAM_TOKEN", with(nil), "create")
	fromEnvironment[0].env = map[string]string{"STREAM_TOKEN": "eyJhbGciOiJSUzI1NiJ9"}
	user := in("rejected: STREAM_USERNAME", with(nil), "create")
	user[0].env = map[string]string{"STREAM_USERNAME": "alice", "STREAM_PASSWORD": "${PASSWORD}"}
	return slices.Concat(all, fromEnvironment, user)
}

// reads are those of detect_drift that find no route.
func reads() []failure {
	const notAllowed = "The method GET is not allowed here."
	noGet := serves(func(rw http.ResponseWriter, r *http.Request) { response(405, json_, messageBody(notAllowed))(rw, r) })
	return slices.Concat(
		in("no GET", noGet, "read", "import group", "data source", "query"),
		[]failure{
			{title: "read: three missing streams", does: readMany(3), fails: says(404, "There is no such stream.")},
			{title: "read: five streams, wrong token", does: readMany(5), fails: says(401, "The token is not valid.")},
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
	all := cameras(30)
	twoCauses := byStream(merged(some(all[:5], noStream(0)), some(all[5:9], unavailable(0))))
	forbidden := response(403, json_, messageBody("You may not edit this stream."))
	return []failure{
		{title: "group: wrong token", does: updateGroup(2), fails: says(401, "The token is not valid.")},
		{title: "group: two causes", does: updateGroup(30), fails: twoCauses},
		{title: "create group: two causes", does: createGroup(30), fails: twoCauses},
		{title: "destroy group: two causes", does: destroyGroup(30), fails: twoCauses},
		{title: "group: one of thirty is missing", does: updateGroup(30), fails: byStream(some(all[7:8], noStream(0)))},
		{title: "group: one of ten is silent", does: updateGroup(10), fails: byStream(some(all[2:3], silent))},
		{title: "group: one of ten is slow", does: updateGroup(10), fails: byStream(some(all[2:3], response(504, "", "")))},
		{title: "read group: one of three is busy", does: readGroup, fails: byStream(some(all[2:3], unavailable(0)))},
		{title: "group: updates are forbidden", does: readAndUpdate, fails: forbidsUpdates("You may only read.")},
		{title: "group: thirty messages", does: updateGroup(30), fails: each(30, unknownProcessor)},
		{title: "group: other sets", does: updateGroup(4), fails: edits(func(o map[string]any) { o["processor_ids"] = []any{"p2", o["id"]} })},
		{title: "singles: five, wrong token", does: createMany(5), fails: says(401, "The token is not valid.")},
		{title: "singles: the second is forbidden", does: createMany(2), fails: byStream(some(all[1:2], forbidden))},
		{title: "singles: three, refused", does: createMany(3), fails: reaches(refuse)},
		{title: "singles: three, unknown authority", does: createMany(3), fails: func(w *world) { w.configure(coretest.Attributes{"tls": nil}) }},
		{title: "singles: three messages", does: createMany(3), fails: each(3, unknownProcessor)},
		{title: "singles: three, 503", does: createMany(3), fails: each(3, unavailable)},
		{title: "singles: three, redirect", does: createMany(3), fails: responds(302, html, "", "Location", "https://login.example.com/signin")},
		{title: "singles: three, merge", does: createMany(3), fails: func(w *world) {
			w.service.Configure(func(o *streamstest.Options) { o.Merge = true })
			for _, id := range cameras(3) {
				w.service.Seed(streamstest.Stream{ID: id, ProcessorIDs: []string{"p0"}})
			}
		}},
		{title: "singles: two destroys, 404", does: destroyMany(2), fails: each(2, noStream)},
		{title: "singles: two destroys, no route", does: destroyMany(2), fails: text(404, "404 page not found\n")},
	}
}

func some(ids []string, handler http.HandlerFunc) map[string]http.HandlerFunc {
	failing := map[string]http.HandlerFunc{}
	for _, id := range ids {
		failing[id] = handler
	}
	return failing
}

// forbidsUpdates forbids updates, and serves reads.
func forbidsUpdates(message string) func(*world) {
	return func(w *world) {
		serves(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPatch {
				response(403, json_, messageBody(message))(rw, r)
				return
			}
			w.service.ServeHTTP(rw, r)
		})(w)
	}
}

// limits are time limits and interrupts.
func limits() []failure {
	within := func(limit string) operation {
		return updateWith(coretest.Attributes{"timeouts": coretest.Attributes{"update": limit}})
	}
	updateBriefly := func(w *world) coretest.Diagnostics {
		brief := coretest.Attributes{"timeouts": coretest.Attributes{"update": "5s"}}
		return w.change(group(cameras(10), brief, "p1"), group(cameras(10), brief, "p2"))
	}
	return []failure{
		{title: "time limit: no response", does: within("5s"), fails: serves(silent)},
		{title: "time limit: 503", does: within("5s"), fails: says(503, "The service is being updated.")},
		{title: "time limit: 503 with Retry-After", does: within("5s"), fails: says(503, "Maintenance", "Retry-After", "60")},
		{title: "time limit: one of a group", does: updateBriefly, fails: byStream(some(cameras(3)[2:], silent))},
		{title: "interrupt: no response", does: interrupted(single("cam-01", nil, "p1")), fails: serves(silent)},
	}
}
