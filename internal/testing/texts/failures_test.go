package texts_test

import (
	"fmt"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// failures returns all failures, in the order of the texts.
func failures() []failure {
	return slices.Concat(rejections(), notFounds(), statuses(), redirects(), successes(), networks(), certificates(), proxies(),
		tokenEndpoints(), credentials(), reads(), manyStreams(), limits(), configurations(), values(), plans(), findings(), moves())
}

// in lets the same go wrong with several operations.
func in(title string, fails func(*world), operations ...string) (all []failure) {
	named := map[string]operation{
		"create": create, "update": update, "destroy": destroy, "replace": replace, "read": read, "read again": known, "group": updateGroup(3),
		"drop": dropFromGroup, "action": invoke, "query": query, "import": importSingle, "data source": dataSource, "refuse": refusing,
		"empty":         empty,
		"destroy group": destroyGroup(3), "read group": readGroup, "import group": importGroup,
	}
	for _, name := range operations {
		all = append(all, failure{title: name + ": " + title, does: named[name], fails: fails})
	}
	return all
}

// rejections are those that a first apply meets.
func rejections() []failure {
	return slices.Concat(
		in("wrong token", says(401, "The token is not valid."), "create", "read"),
		in("wrong token, with a challenge", says(401, "Unauthorized", "WWW-Authenticate", `Bearer realm="streams", error="invalid_token"`),
			"update"),
		in("401, page", page(401), "update"),
		in("403", says(403, "You may not edit this stream."), "update", "read", "group"),
		in("403, text", text(403, "RBAC: access denied"), "destroy"),
		in("400 with a message", says(400, "processor_ids has unknown processors: [\"p2\"]", "X-Request-Id", "9f2c1e70"), "create", "read",
			"group"),
		in("400, page", page(400), "update"),
		in("400, other JSON", otherJSON(400, "Bad Request"), "update"),
	)
}

// notFounds are the forms of a 404.
func notFounds() []failure {
	return slices.Concat(
		in("404", says(404, "There is no such stream."), "create", "update", "destroy", "read", "read again", "group", "drop", "action", "refuse",
			"import group", "data source", "query"),
		in("404, page", page(404), "create", "destroy", "read", "group", "drop", "destroy group"),
		in("404, text", text(404, "404 page not found\n"), "replace"),
		in("404, other JSON", otherJSON(404, "Not Found"), "create"),
	)
}

// statuses are the other ones.
func statuses() (all []failure) {
	for _, s := range []struct {
		status  int
		message string
	}{
		{405, "Method not allowed"}, {408, "The request took too long."}, {413, "Request body too large"}, {498, "Invalid token"},
		{505, "HTTP version not supported"},
	} {
		all = append(all, in(fmt.Sprint(s.status), says(s.status, s.message), "update")...)
	}
	const later = "The stream is being edited."
	return slices.Concat(all,
		in("409", says(409, later), "update", "group"),
		in("429", says(429, "Slow down.", "Retry-After", "1"), "update"),
		in("429, tomorrow", says(429, "Slow down.", "Retry-After", "86400"), "update"),
		in("500", says(500, "Internal error 0xc0de", "X-Request-Id", "9f2c1e70"), "create"),
		in("502, page", page(502), "update"),
		in("503", says(503, "The service is being updated."), "destroy", "group", "action", "refuse"),
		in("503, tomorrow", says(503, "Maintenance", "Retry-After", "86400"), "read"),
		in("504, page", page(504), "destroy"),
		in("304", none(304), "update"),
	)
}

func redirects() []failure {
	to := func(status int, location string) func(*world) {
		return responds(status, html, "", "Location", location)
	}
	return slices.Concat(
		in("redirect to a login page", to(302, "https://login.example.com/signin?next=%2Fv2"), "update", "read"),
		in("redirect to a slash", to(308, "/v2/streams/cam-01/"), "update"),
		in("redirect without Location", none(302), "update"),
	)
}

// successes are responses with a status of success.
func successes() []failure {
	merges := options(func(o *streamstest.Options) { o.Merge = true })
	refusesEmpty := options(func(o *streamstest.Options) { o.RefuseEmpty = true })
	return slices.Concat(
		in("login page with 200", responds(200, html, loginPage), "create", "read", "group"),
		in("200, empty", none(200), "update"),
		in("202, other JSON", responds(202, json_, `{"status":"queued"}`), "update", "destroy"),
		in("204", none(204), "update", "read"),
		in("200, wrapped", responds(200, json_, `{"data":{"id":"cam-01","processor_ids":["p1","p2"]}}`), "update"),
		in("merge", merges, "destroy", "group", "empty"),
		in("empty set refused", refusesEmpty, "destroy", "drop", "destroy group", "action", "empty"),
		in("the former set", set(map[string]any{"processor_ids": []string{"p0"}}), "update"),
		in("another case of the id", set(map[string]any{"id": "CAM-01"}), "update", "read again"),
		in("last_edited is text", set(map[string]any{"last_edited": "1735689600000"}), "create", "destroy", "read", "group"),
		in("processors are objects", set(map[string]any{"processor_ids": []any{map[string]any{"id": "p1"}, map[string]any{"id": "p2"}}}),
			"update"),
		in("truncated", fault(streamstest.Fault{Truncate: true}), "update"),
	)
}
