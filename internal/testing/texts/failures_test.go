package texts_test

import (
	"fmt"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// failures returns all failures, in the order of the texts.
func failures() []failure {
	return slices.Concat(rejections(), notFounds(), statuses(), redirects(), successes(), networks(), certificates(), proxies(),
		tokenEndpoints(), credentials(), reads(), manyStreams(), limits())
}

// in lets the same go wrong with several operations.
func in(title string, fails func(*world), operations ...string) (all []failure) {
	named := map[string]operation{
		"create": create, "update": update, "destroy": destroy, "replace": replace, "read": read, "read again": known, "group": updateGroup(3),
		"drop": dropFromGroup, "action": invoke, "query": query, "import": importSingle, "data source": dataSource, "refuse": refusing,
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
		in("wrong token", says(401, "The token is not valid."), "create", "update", "destroy", "read", "group"),
		in("wrong token, with a challenge", says(401, "Unauthorized", "WWW-Authenticate", `Bearer realm="streams", error="invalid_token"`), "update"),
		in("401, page", page(401), "update"),
		in("401, empty", none(401), "update"),
		in("401, other JSON", otherJSON(401, "Not authenticated"), "update"),
		in("403", says(403, "You may not edit this stream."), "create", "update", "destroy", "read", "group"),
		in("403, page", page(403), "update", "read"),
		in("403, other JSON", otherJSON(403, "Missing Authentication Token"), "update", "read"),
		in("403, text", text(403, "RBAC: access denied"), "update", "destroy"),
		in("400 with a message", says(400, "processor_ids has unknown processors: [\"p2\"]", "X-Request-Id", "9f2c1e70"), "create", "update", "destroy", "read", "group"),
		in("400, page", page(400), "update"),
		in("400, text", text(400, "Client sent an HTTP request to an HTTPS server.\n"), "update"),
		in("400, other JSON", otherJSON(400, "Bad Request"), "update"),
		in("422", says(422, "processor_ids: at most 16 processors"), "create", "update", "destroy"),
	)
}

// notFounds are the forms of a 404.
func notFounds() []failure {
	everywhere := []string{"create", "update", "destroy", "replace", "read", "read again"}
	return slices.Concat(
		in("404", says(404, "There is no such stream."), append(everywhere, "group", "drop", "destroy group", "read group", "action", "refuse", "import", "import group", "data source", "query")...),
		in("404, page", page(404), append(everywhere, "group", "drop", "destroy group", "read group", "action", "refuse")...),
		in("404, text", text(404, "404 page not found\n"), everywhere...),
		in("404, empty", none(404), everywhere...),
		in("404, other JSON", otherJSON(404, "Not Found"), everywhere...),
		in("410", says(410, "The stream was deleted."), "update", "destroy", "read again"),
	)
}

// statuses are the other ones.
func statuses() (all []failure) {
	for _, s := range []struct {
		status  int
		message string
	}{
		{402, "Payment required"}, {408, "The request took too long."}, {405, "Method not allowed"}, {411, "Length required"},
		{412, "Precondition failed"}, {413, "Request body too large"}, {415, "Use application/json"}, {419, "Page expired"},
		{421, "Misdirected request"}, {431, "Header too large"}, {440, "Login time-out"}, {451, "Not available"}, {460, "Client closed connection"},
		{463, "Too many addresses"}, {494, "Request header too large"}, {498, "Invalid token"}, {499, "Client closed request"},
		{500, "Internal error 0xc0de"}, {501, "Not implemented"}, {505, "HTTP version not supported"}, {507, "Insufficient storage"}, {511, "Network login required"},
		{520, "Unknown error"}, {525, "SSL handshake failed"},
	} {
		all = append(all, in(fmt.Sprint(s.status), says(s.status, s.message), "update")...)
	}
	const later = "The stream is being edited."
	return slices.Concat(all,
		in("409", says(409, later), "create", "update", "destroy", "group"),
		in("423", says(423, later), "update"),
		in("425", says(425, later), "update"),
		in("429", says(429, "Slow down.", "Retry-After", "1"), "create", "update", "destroy", "read", "group"),
		in("429, tomorrow", says(429, "Slow down.", "Retry-After", "86400"), "update"),
		[]failure{
			{title: "update: 429 with max_attempts", does: update, fails: withAttempts(3, says(429, "Slow down."))},
			{title: "update: 503 with one attempt", does: update, fails: withAttempts(1, says(503, "The service is being updated."))},
		},
		in("500", says(500, "Internal error 0xc0de", "X-Request-Id", "9f2c1e70"), "create", "destroy", "read", "group"),
		in("500, text", text(500, "upstream connect error"), "update"),
		in("502, page", page(502), "update", "create", "read"),
		in("503", says(503, "The service is being updated."), "create", "update", "destroy", "read", "group", "drop", "action", "refuse"),
		in("503, page", page(503), "update"),
		in("503, tomorrow", says(503, "Maintenance", "Retry-After", "86400"), "update"),
		in("504, page", page(504), "update", "destroy"),
		in("405, page", page(405), "update", "read"),
		in("501, page", page(501), "update"),
		in("413, page", page(413), "update"),
		in("511, page", page(511), "update"),
		in("304", none(304), "update", "read"),
	)
}

func withAttempts(n int, then func(*world)) func(*world) {
	return func(w *world) {
		w.configure(coretest.Attributes{"retry": coretest.Attributes{"max_attempts": n}})
		then(w)
	}
}

func redirects() []failure {
	to := func(status int, location string) func(*world) {
		return responds(status, html, "", "Location", location)
	}
	return slices.Concat(
		in("redirect to a login page", to(302, "https://login.example.com/signin?next=%2Fv2"), "create", "update", "destroy", "read"),
		in("redirect to a slash", to(308, "/v2/streams/cam-01/"), "create", "update", "destroy", "read"),
		in("redirect to another case", to(301, "/V2/streams/cam-01"), "update"),
		in("redirect to the id in another case", to(301, "/v2/streams/CAM-01"), "update"),
		in("redirect to another host", to(307, "https://eu.streams.example.com/v2/streams/cam-01"), "create", "group"),
		in("redirect to another path", to(308, "/api/v2/streams/cam-01"), "create"),
		in("redirect without Location", none(302), "update"),
		in("300 with choices", text(300, "choose one"), "update"),
	)
}

// successes are responses with a status of success.
func successes() []failure {
	return slices.Concat(
		in("login page with 200", responds(200, html, loginPage), "create", "update", "destroy", "read", "read again", "group"),
		in("200, empty", none(200), "update", "destroy"),
		in("204", none(204), "update"),
		in("202, other JSON", responds(202, json_, `{"status":"queued"}`), "update"),
		in("200, text", text(200, "OK"), "update"),
		in("200, array", responds(200, json_, "[]"), "update"),
		in("200, wrapped", responds(200, json_, `{"data":{"id":"cam-01","processor_ids":["p1","p2"]}}`), "update"),
		in("merge", options(func(o *streamstest.Options) { o.Merge = true }), "destroy", "group", "drop"),
		[]failure{{title: "empty: merge", does: empty, fails: options(func(o *streamstest.Options) { o.Merge = true })},
			{title: "empty: empty set refused", does: empty, fails: options(func(o *streamstest.Options) { o.RefuseEmpty = true })}},
		in("empty set refused", options(func(o *streamstest.Options) { o.RefuseEmpty = true }), "destroy", "drop", "destroy group", "replace", "action"),
		in("the former set", set(map[string]any{"processor_ids": []string{"p0"}}), "update"),
		in("another stream", set(map[string]any{"id": "cam-99"}), "update", "read again"),
		in("another case of the id", set(map[string]any{"id": "CAM-01"}), "update"),
		in("last_edited is text", set(map[string]any{"last_edited": "1735689600000"}), "create", "update", "destroy", "read", "group"),
		in("last_edited is a date", set(map[string]any{"last_edited": "2025-01-01T00:00:00Z"}), "update"),
		in("last_edited has decimals", set(map[string]any{"last_edited": 1735689600000.5}), "update"),
		in("processor_ids is null", set(map[string]any{"processor_ids": nullField}), "destroy"),
		in("compatible_namespaces is null", set(map[string]any{"compatible_namespaces": nullField}), "update", "destroy"),
		in("no terminal_id", set(map[string]any{"terminal_id": nil}), "update"),
		in("no processor_ids", set(map[string]any{"processor_ids": nil}), "update", "destroy"),
		in("processors are objects", set(map[string]any{"processor_ids": []any{map[string]any{"id": "p1"}, map[string]any{"id": "p2"}}}), "update"),
		in("id is a number", set(map[string]any{"id": 1}), "update"),
		in("truncated", fault(streamstest.Fault{Truncate: true}), "create", "update", "destroy", "read"),
	)
}
