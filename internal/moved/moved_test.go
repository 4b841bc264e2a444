package moved

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func TestCanRead(t *testing.T) {
	t.Parallel()
	for origin, want := range map[[2]string]bool{
		{"restful_operation", "registry.terraform.io/magodo/restful"}:       true,
		{"restapi_object", "registry.terraform.io/mastercard/restapi"}:      true,
		{"terracurl_request", "registry.terraform.io/devops-rob/terracurl"}: true,
		{"restful_operation", "registry.opentofu.org/magodo/restful"}:       true,
		{"restful_operation", "mirror.example:8443/fork/restful"}:           true,
		{"restful_operation", "restful"}:                                    true, // OpenTofu before 1.11.12 and 1.12.4
		{"restful_operation", ""}:                                           true,
		{"restful_operation", "registry.terraform.io/magodo/other"}:         false,
		{"restful_operation", "restfull"}:                                   false,
		{"restful_resource", "restful"}:                                     true,
		{"restful_something", "restful"}:                                    false,
		{"", "restful"}:                                                     false,
	} {
		if got := CanRead(origin[0], origin[1]); got != want {
			t.Errorf("%q: got %t", origin, got)
		}
	}
}

// The files in testdata are states as current and older releases of the three providers wrote them, each after an apply
// on a stand-in service. The name of a file says what is special.
func TestReadRealStates(t *testing.T) {
	t.Parallel()
	const usual = `"term-cam-1","image/jpg",["core","ptz.acme"],`
	for name, want := range map[string]string{
		// Schema versions 0 and 1 too, which their own provider fails to upgrade.
		"restful-simple":          `["cam-1",["p1","p2"],` + usual + `1718000001124]`,
		"restful-v0.13.3-heredoc": `["cam-1",["p1","p2"],` + usual + `1718000001178]`,
		"restful-v0.15.0-toset":   `["cam-1",["p1","p2"],` + usual + `1718000001182]`,
		"restful-escapedslash":    `["a/b",["p1","p2"],"term-a/b","image/jpg",["core","ptz.acme"],1718000001134]`,
		"restful-sensitiveoutput": `["cam-1",["p1","p2"],` + usual + `1718000001151]`,
		"restful-foreach": `["cam-1",["p1"],` + usual + `1718000001171]` + "\n" +
			`["cam-2",[],"term-cam-2","image/jpg",["core","ptz.acme"],1718000001172]`,
		// The state has no complete response: the set is the one in the request body.
		"restful-204":         `["cam-204",["p1","p2"],null,null,null,null]`,
		"restful-outputattrs": `["cam-1",["p1","p2"],null,null,null,1718000001153]`,
		// The PATCH was redirected and became a GET, so the set was never written.
		"restful-redirect":   `["cam-301",["old"],"term-cam-301","image/jpg",["core","ptz.acme"],1718000001123]`,
		"restapi-redirect":   `["cam-301",["old"],"term-cam-301","image/jpg",["core","ptz.acme"],1718000001123]`,
		"terracurl-redirect": `["cam-301",["old"],"term-cam-301","image/jpg",["core","ptz.acme"],1718000001123]`,

		"restful-resource-updated": `["cam-1",["p3"],"terminal-1","image-jpg",["acme.camera","acme.ptz"],1795427809692]`,

		"restful-ephemeralbody": `"cam-1": its request body has no set of processor_ids`,

		"restapi-objectid":             `["cam-1",["p1","p2"],` + usual + `1718000001124]`,
		"restapi-fullpath":             `["cam-1",["p1","p2"],` + usual + `1718000001133]`,
		"restapi-idattr-terminal":      `["cam-1",["p1","p2"],` + usual + `1718000001137]`,
		"restapi-v2.0.1-get-refreshed": `["cam-1",["p1","p2"],` + usual + `1718000001170]`,
		"restapi-updatedata-only":      `["cam-1",["p8"],` + usual + `1718000001128]`,
		// A failed update left data that was never written.
		"restapi-failedupdate-norefresh": `["cam-5",null,null,null,null,null]`,

		"terracurl-simple":             `["cam-1",["p1","p2"],` + usual + `1718000001176]`,
		"terracurl-v1.2.2-destroy":     `["a/b",["p1","p2"],"term-a/b","image/jpg",["core","ptz.acme"],1718000001215]`,
		"terracurl-read-get-refreshed": `["cam-1",["p1","p2"],` + usual + `null]`,
		"terracurl-rawspace":           `["cam 1",["p1","p2"],"term-cam 1","image/jpg",["core","ptz.acme"],1718000001187]`,
		"terracurl-accepted-error":     `null: its path is "/v3/streams/cam-1", not /v2/streams/{id}`,
	} {
		var got []string
		for _, s := range savedStates(t, filepath.Join("testdata", name+".json")) {
			got = append(got, s.read())
		}
		wantText(t, name, strings.Join(got, "\n"), want)
	}
}

const (
	// streamJSON is a response of the service.
	streamJSON = `{"id":"cam-1","terminal_id":"t","fragment_type_id":"f","processor_ids":["p1"],"last_edited":5,"compatible_namespaces":["n"]}`

	noSet    = `"cam-1": its request body has no set of processor_ids`
	noStream = `"cam-1": its response is not a JSON object with fields of a stream, each of its type`
)

// The states of all providers have the same result. No error quotes a secret.
func TestReadSameRequest(t *testing.T) {
	t.Parallel()
	const url, patch, body = "https://u:sec%72et@h.example/api/v2/streams/cam-1", "PATCH", `{"processor_ids":["p1"]}`
	for name, tc := range map[string]struct{ url, method, body, response, want string }{
		"usual":                {url, patch, body, streamJSON, `["cam-1",["p1"],"t","f",["n"],5]`},
		"lower case method":    {url, "patch", body, streamJSON, `["cam-1",["p1"],"t","f",["n"],5]`},
		"query and fragment":   {url + "?token=secret#secret", patch, body, streamJSON, `["cam-1",["p1"],"t","f",["n"],5]`},
		"order and duplicates": {url, patch, `{"processor_ids":["b","a","b"]}`, `{"id":"cam-1"}`, `["cam-1",["a","b"],null,null,null,null]`},
		"empty set":            {url, patch, `{"processor_ids":[]}`, `{}`, `["cam-1",[],null,null,null,null]`},
		"null computed value":  {url, patch, body, `{"terminal_id":null,"last_edited":5}`, `["cam-1",["p1"],null,null,null,5]`},
		"integer as a float":   {url, patch, body, `{"last_edited":1.718000000123E12}`, `["cam-1",["p1"],null,null,null,1718000000123]`},
		"odd computed value":   {url, patch, body, `{"terminal_id":"t","last_edited":0.5}`, noStream},
		"escaped id":           {"https://h/v2/streams/a%2fb%20%25+c", patch, body, `{}`, `["a/b %+c",["p1"],null,null,null,null]`},
		"id is streams":        {"https://h/v2/streams/v2", patch, body, `{}`, `["v2",["p1"],null,null,null,null]`},
		"another version": {"https://u:secret@h/v3/streams/s?t=secret", patch, body, "{}",
			`null: its path is "/v3/streams/s", not /v2/streams/{id}`},
		"no path":        {"", patch, body, streamJSON, `null: its path is "", not /v2/streams/{id}`},
		"malformed path": {"https://u:secret@h:x/v2/streams/%zz", patch, body, streamJSON, "null: its path is malformed"},
		"dots for an id": {"https://h/v2/streams/%2e%2e", patch, body, streamJSON,
			`null: its path names stream "%2e%2e", and a stream id must not be "..", which has a special meaning in a URL path`},
		"another method": {url, "PUT", body, streamJSON, `"cam-1": its method is "PUT", not PATCH`},
		"another stream": {"https://h/v2/streams/cam-2", patch, body, streamJSON,
			`null: its path names stream "cam-2", and its response does not`},
		"no body":              {url, patch, `null`, streamJSON, noSet},
		"body is an array":     {url, patch, `["secret"]`, streamJSON, noSet},
		"set has a number":     {url, patch, `{"processor_ids":["secret",1]}`, streamJSON, noSet},
		"set has odd ids":      {url, patch, `{"processor_ids":[" ", ""]}`, "{}", `["cam-1",[""," "],null,null,null,null]`},
		"response is an array": {url, patch, body, `["secret"]`, noStream},
		"reported set is odd":  {url, patch, body, `{"processor_ids":[1]}`, noStream},
	} {
		for kind, s := range statesOf(toJSON(tc.url), toJSON(tc.method), tc.body, tc.response) {
			wantText(t, name+" in "+kind, s.read(), tc.want)
		}
	}
}

func TestReadOddStates(t *testing.T) {
	t.Parallel()
	const restful, restapi, terracurl = "restful_operation", "restapi_object", "terracurl_request"
	const data, idAlone = `"data":"{\"processor_ids\":[\"p1\"]}"`, `["cam-1",null,null,null,null,null]`
	const noPath = `null: its path is "", not /v2/streams/{id}`
	for name, tc := range map[string]struct {
		typeName    string
		version     int64
		state, want string
	}{
		"newer restful":                    {restful, 3, `{}`, "null: its schema version is 3, and only those up to 2 are known"},
		"created by the provider's method": {"restful_resource", 2, `{"path":"/v2/streams/s"}`, `"s": its method is "", not PATCH`},
		"updated by a PUT": {"restful_resource", 2, `{"path":"/v2/streams/s","create_method":"PATCH","update_method":"PUT"}`,
			`"s": its method is "PUT", not PATCH`},
		"another body in updates": {"restful_resource", 2, `{"path":"/v2/streams/cam-1","create_method":"PATCH","body":` +
			`{"value":{"processor_ids":["p1"]},"type":"dynamic"},"update_body_patches":[{"removed":true}]}`, idAlone},
		"newer restapi":   {restapi, 1, `{}`, "null: its schema version is 1, and only those up to 0 are known"},
		"newer terracurl": {terracurl, 2, `{}`, "null: its schema version is 2, and only those up to 1 are known"},
		"nothing":         {restful, 2, ``, noPath},
		"junk":            {terracurl, 1, `{"url":"secret`, noPath},
		"no attributes":   {terracurl, 1, `{}`, noPath},
		"no method":       {restful, 2, `{"path":"/v2/streams/cam-1"}`, `"cam-1": its method is "", not PATCH`},
		"not a success": {terracurl, 1, `{"url":"/v2/streams/s","method":"PATCH","status_code":"404"}`,
			`"s": its request failed with status "404"`},
		"data from a refresh": {restapi, 0,
			`{"path":"/v2/streams/cam-1","data":` + toJSON(streamJSON) + `,"api_response":` + toJSON(streamJSON) + `}`,
			`["cam-1",["p1"],"t","f",["n"],5]`},
		"base address with /v2": {restapi, 0, `{"path":"streams","id":"cam-1",` + data + `,"api_response":"{}"}`,
			`["cam-1",["p1"],null,null,null,null]`},
		"no response, never sent": {restapi, 0, `{"path":"/v2/streams/","id":"cam-1",` + data + `,"api_response":""}`, idAlone},
		"either may be the last": {restapi, 0, `{"path":"/v2/streams","id":"cam-1",` + data + `,"update_data":"{}","api_response":"{}"}`,
			idAlone},
		"created by a POST": {restapi, 0, `{"path":"/v2/streams","id":"s","create_method":"POST",` + data + `}`,
			`"s": its method is "POST", not PATCH`},
		"placeholder, no id": {restapi, 0, `{"path":"/v2/streams",` + data + `}`, `null: its path is "/v2/streams/", not /v2/streams/{id}`},
	} {
		wantText(t, name, savedState{tc.typeName, tc.version, json.RawMessage(tc.state)}.read(), tc.want)
	}
}

// FuzzRead checks that no state makes Read panic, and that each stream that it returns has a valid id.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		for _, s := range savedStates(f, file) {
			f.Add(s.typeName, s.Version, []byte(toJSON(s.Attributes)))
		}
	}
	f.Fuzz(func(t *testing.T, typeName string, version int64, attributes []byte) {
		if !CanRead(typeName, "") {
			return
		}
		stream, err := Read(typeName, version, attributes)
		if stream.ID != nil && streams.CheckStreamID(*stream.ID) != nil {
			t.Errorf("stream id %q", *stream.ID)
		}
		if err == nil && stream.ID == nil || err != nil && stream != (Stream{ID: stream.ID}) {
			t.Errorf("the error %v, and the stream %v", err, stream)
		}
	})
}

// savedState is the state of a resource of another provider.
type savedState struct {
	typeName   string
	Version    int64 `json:"schema_version"`
	Attributes json.RawMessage
}

// read returns the stream as a JSON array, or the error behind the id.
func (s savedState) read() string {
	stream, err := Read(s.typeName, s.Version, s.Attributes)
	if err != nil {
		return toJSON(stream.ID) + ": " + err.Error()
	}
	return toJSON([]any{
		stream.ID, stream.ProcessorIDs, stream.TerminalID, stream.FragmentTypeID, stream.CompatibleNamespaces, stream.LastEdited,
	})
}

// savedStates returns the resource instances in a state file.
func savedStates(tb testing.TB, file string) []savedState {
	tb.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var state struct {
		Resources []struct {
			Type      string
			Instances []savedState
		}
	}
	if err := json.Unmarshal(content, &state); err != nil {
		tb.Fatal(err)
	}
	var found []savedState
	for _, r := range state.Resources {
		for _, s := range r.Instances {
			s.typeName = r.Type
			found = append(found, s)
		}
	}
	return found
}

// statesOf returns states that the providers write for the same request and response. The arguments are JSON.
func statesOf(target, method, body, response string) map[string]savedState {
	inText := func(json string) string {
		if json == "null" {
			return `""`
		}
		return toJSON(json)
	}
	typed := func(json string) string { return `{"value":` + json + `,"type":"dynamic"}` }
	return map[string]savedState{
		"restful": {"restful_operation", 2, fmt.Appendf(nil,
			`{"path":%s,"method":%s,"body":%s,"output":%s}`, target, method, typed(body), typed(response))},
		"restful 0": {"restful_operation", 0, fmt.Appendf(nil,
			`{"path":%s,"method":%s,"body":%s,"output":%s}`, target, method, inText(body), inText(response))},
		"restful resource": {"restful_resource", 2, fmt.Appendf(nil,
			`{"path":%s,"create_method":%s,"body":%s,"output":%s}`, target, method, typed(body), typed(response))},
		"restapi": {"restapi_object", 0, fmt.Appendf(nil,
			`{"id":"cam-1","path":%s,"update_method":%s,"data":%s,"api_response":%s}`, target, method, inText(body), inText(response))},
		"terracurl": {"terracurl_request", 1, fmt.Appendf(nil,
			`{"url":%s,"method":%s,"request_body":%s,"status_code":"200","response":%s}`, target, method, inText(body), inText(response))},
	}
}

func toJSON(v any) string {
	encoded, _ := json.Marshal(v)
	return string(encoded)
}

// wantText also fails if a secret is in got. The secrets in these tests begin with "sec".
func wantText(t *testing.T, name, got, want string) {
	t.Helper()
	if got != want || strings.Contains(got, "sec") {
		t.Errorf("%s: got %s\nwant %s", name, got, want)
	}
}
