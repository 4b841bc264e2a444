package provider

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMoveRealStates(t *testing.T) {
	t.Parallel()
	const usual = " term-cam-1 image/jpg [core ptz.acme] "
	for name, want := range map[string]string{
		// Schema versions 0 and 1 too, which their own provider fails to upgrade.
		"restful-simple":            "cam-1 [p1 p2]" + usual + "1718000001124",
		"restful-v0.13.3-heredoc":   "cam-1 [p1 p2]" + usual + "1718000001178",
		"restful-v0.15.0-toset":     "cam-1 [p1 p2]" + usual + "1718000001182",
		"restful-escapedslash":      "a/b [p1 p2] term-a/b image/jpg [core ptz.acme] 1718000001134",
		"restful-jsonencode-object": "cam-1 [p1 p2]" + usual + "1718000001150",
		"restful-sensitiveoutput":   "cam-1 [p1 p2]" + usual + "1718000001151",
		"restful-duplicates":        "cam-1 [p1 p2]" + usual + "1718000001148",
		"restful-foreach": "cam-1 [p1]" + usual + "1718000001171\n" +
			"cam-2 [] term-cam-2 image/jpg [core ptz.acme] 1718000001172",
		"restful-tainted": "cam-1 [p1 p2]" + usual + "1718000001170",
		// The state has no complete response: the set is the one in the request body.
		"restful-204":         "cam-204 [p1 p2] - - - -",
		"restful-outputattrs": "cam-1 [p1 p2] - - - 1718000001153",
		// The PATCH was redirected and became a GET, so the set was never written.
		"restful-redirect":   "cam-301 [old] term-cam-301 image/jpg [core ptz.acme] 1718000001123",
		"restapi-redirect":   "cam-301 [old] term-cam-301 image/jpg [core ptz.acme] 1718000001123",
		"terracurl-redirect": "cam-301 [old] term-cam-301 image/jpg [core ptz.acme] 1718000001123",

		"restful-ephemeralbody": "its request body has no processor_ids",
		"restful-post":          `its method is "POST", not PATCH`,

		"restapi-objectid":             "cam-1 [p1 p2]" + usual + "1718000001124",
		"restapi-fullpath":             "cam-1 [p1 p2]" + usual + "1718000001133",
		"restapi-objectid-label":       "cam-1 [p1 p2]" + usual + "1718000001139",
		"restapi-idattr-terminal":      "cam-1 [p1 p2]" + usual + "1718000001137",
		"restapi-escaped-objectid":     "a/b [p1 p2] term-a/b image/jpg [core ptz.acme] 1718000001143",
		"restapi-sensitive":            "cam-1 [p1 p2]" + usual + "1718000001152",
		"restapi-v2.0.1-get-refreshed": "cam-1 [p1 p2]" + usual + "1718000001170",
		"restapi-updatedata-only":      "cam-1 [p8]" + usual + "1718000001128",
		// A failed update left data that was never written.
		"restapi-failedupdate-norefresh": "cam-5 - - - - -",

		"terracurl-simple":             "cam-1 [p1 p2]" + usual + "1718000001176",
		"terracurl-v1.2.2-destroy":     "a/b [p1 p2] term-a/b image/jpg [core ptz.acme] 1718000001215",
		"terracurl-read-get-refreshed": "cam-1 [p1 p2]" + usual + "-",
		"terracurl-rawspace":           "cam 1 [p1 p2] term-cam 1 image/jpg [core ptz.acme] 1718000001187",
		"terracurl-put":                `its method is "PUT", not PATCH`,
		"terracurl-accepted-error":     `its path is "/v3/streams/cam-1", not /v2/streams/{id}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, s := range readForeignStates(t, filepath.Join("testdata/moved", name+".json")) {
				got = append(got, s.moveToText(t))
			}
			if failed := strings.HasPrefix(want, "its "); failed && strings.Contains(got[0], "Resource Cannot Be Moved: ") &&
				strings.Contains(got[0], want) {
				return
			}
			if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The states of all providers have the same result.
func TestMoveOfTheSameRequest(t *testing.T) {
	t.Parallel()
	const url, patch, body = "https://u:sec%72et@h.example/api/v2/streams/cam-1", "PATCH", `{"processor_ids":["p1"]}`
	for name, tc := range map[string]struct{ url, method, body, response, want string }{
		"usual":                 {url, patch, body, streamJSON, "cam-1 [p1] t f [n] 5"},
		"lower case method":     {url, "patch", body, streamJSON, "cam-1 [p1] t f [n] 5"},
		"query and fragment":    {url + "?token=secret#secret", patch, body, streamJSON, "cam-1 [p1] t f [n] 5"},
		"path alone":            {"/v2/streams/cam-1", patch, body, streamJSON, "cam-1 [p1] t f [n] 5"},
		"another set reported":  {url, patch, `{"processor_ids":["secret"]}`, streamJSON, "cam-1 [p1] t f [n] 5"},
		"order and duplicates":  {url, patch, `{"processor_ids":["b","a","b"]}`, `{"id":"cam-1"}`, "cam-1 [a b] - - - -"},
		"empty set":             {url, patch, `{"processor_ids":[]}`, `{}`, "cam-1 [] - - - -"},
		"null computed value":   {url, patch, body, `{"terminal_id":null,"last_edited":5}`, "cam-1 [p1] - - - 5"},
		"odd computed value":    {url, patch, body, `{"terminal_id":"t","last_edited":0.5}`, "its response is not a JSON object with fields of a stream"},
		"escaped id":            {"https://h/v2/streams/a%2fb%20%25+c", patch, body, `{}`, "a/b %+c [p1] - - - -"},
		"id is streams":         {"https://h/v2/streams/v2", patch, body, `{}`, "v2 [p1] - - - -"},
		"another version":       {"https://u:secret@h.example/v3/streams/cam-1?t=secret", patch, body, streamJSON, `its path is "/v3/streams/cam-1", not /v2/streams/{id}`},
		"below the stream":      {url + "/processors", patch, body, streamJSON, `its path is "/api/v2/streams/cam-1/processors", not`},
		"no path":               {"", patch, body, streamJSON, `its path is "", not /v2/streams/{id}`},
		"malformed path":        {"https://u:secret@h:x/v2/streams/%zz", patch, body, streamJSON, "its path is malformed"},
		"dots for an id":        {"https://h/v2/streams/%2e%2e", patch, body, streamJSON, `its path names stream "%2e%2e", and a stream id must not be`},
		"id is no UTF-8":        {"https://h/v2/streams/%ff", patch, body, streamJSON, "a stream id must be UTF-8 text"},
		"another method":        {url, "PUT", body, streamJSON, `its method is "PUT", not PATCH`},
		"another stream":        {"https://h/v2/streams/cam-2", patch, body, streamJSON, `its path names stream "cam-2", and its response does not`},
		"no body":               {url, patch, `null`, streamJSON, "its request body has no processor_ids"},
		"body is an array":      {url, patch, `["secret"]`, streamJSON, "its request body is not a JSON object with fields of a stream"},
		"set is null":           {url, patch, `{"processor_ids":null}`, streamJSON, "its request body is not a JSON object with fields of a stream"},
		"set has a number":      {url, patch, `{"processor_ids":["secret",1]}`, streamJSON, "its request body is not a JSON object with fields of a stream"},
		"set has a null":        {url, patch, `{"processor_ids":[null]}`, streamJSON, "its request body is not a JSON object with fields of a stream"},
		"set has an empty id":   {url, patch, `{"processor_ids":[""]}`, streamJSON, "its request body has a processor id that is not one: it must not be empty"},
		"response is an array":  {url, patch, body, `["secret"]`, "its response is not a JSON object with fields of a stream"},
		"response is an error":  {url, patch, body, `{"message":"secret"}`, "its response is not a JSON object with fields of a stream"},
		"reported set is odd":   {url, patch, body, `{"processor_ids":[1]}`, "its response is not a JSON object with fields of a stream"},
		"reported id is spaces": {url, patch, body, `{"processor_ids":[" "]}`, "its response has a processor id that is not one"},
	} {
		for kind, s := range foreignStates(quoteJSON(tc.url), quoteJSON(tc.method), tc.body, tc.response) {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				got := s.moveToText(t)
				if strings.Contains(tc.want, "its ") || strings.Contains(tc.want, "must ") {
					for _, want := range []string{tc.want, "Resource Cannot Be Moved", "from = " + s.typeName + ".", "removed {", "import {"} {
						if !strings.Contains(got, want) {
							t.Errorf("no %q in %s", want, got)
						}
					}
					if strings.Contains(got, "sec") {
						t.Errorf("a secret in %s", got)
					}
				} else if got != tc.want {
					t.Errorf("got %s, want %s", got, tc.want)
				}
			})
		}
	}
}

func TestMoveOddStates(t *testing.T) {
	t.Parallel()
	const restful, restapi, terracurl = "restful_operation", "restapi_object", "terracurl_request"
	const data = `"data":"{\"processor_ids\":[\"p1\"]}"`
	for name, tc := range map[string]struct {
		typeName string
		version  int64
		state    string
		want     string
	}{
		"newer restful":           {restful, 3, `{}`, "its schema version is 3, and only those up to 2 are known"},
		"nothing":                 {restful, 2, ``, "its state does not have the form of a restful_operation"},
		"junk":                    {terracurl, 1, `{"url":"secret`, "its state does not have the form of a terracurl_request"},
		"no attributes":           {terracurl, 1, `{}`, `its path is "", not /v2/streams/{id}`},
		"null attributes":         {restapi, 0, `{"path":null,"id":null,"data":null}`, `its path is "", not /v2/streams/{id}`},
		"attribute of a type":     {restful, 2, `{"path":"/v2/streams/cam-1","method":["secret"]}`, "its state does not have the form of a restful_operation"},
		"no method":               {restful, 2, `{"path":"/v2/streams/cam-1"}`, `its method is "", not PATCH`},
		"not a success":           {terracurl, 1, `{"url":"https://h/v2/streams/cam-1","method":"PATCH","status_code":"404"}`, `its request failed with status "404"`},
		"data from a refresh":     {restapi, 0, `{"path":"/v2/streams/cam-1","data":` + quoteJSON(streamJSON) + `,"api_response":` + quoteJSON(streamJSON) + `}`, "cam-1 [p1] t f [n] 5"},
		"base address with /v2":   {restapi, 0, `{"path":"streams","id":"cam-1",` + data + `,"api_response":"{}"}`, "cam-1 [p1] - - - -"},
		"no response, never sent": {restapi, 0, `{"path":"/v2/streams/","id":"cam-1",` + data + `,"api_response":""}`, "cam-1 - - - - -"},
		"either may be the last":  {restapi, 0, `{"path":"/v2/streams","id":"cam-1",` + data + `,"update_data":"{}","api_response":"{}"}`, "cam-1 - - - - -"},
		"created by a POST":       {restapi, 0, `{"path":"/v2/streams","id":"cam-1","create_method":"POST",` + data + `}`, `its method is "POST", not PATCH`},
		"placeholder, no id":      {restapi, 0, `{"path":"/v2/streams",` + data + `}`, `its path is "/v2/streams/", not /v2/streams/{id}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := foreignState{tc.typeName, "", tc.version, tc.state}.moveToText(t)
			if strings.HasPrefix(tc.want, "its ") && !strings.Contains(got, "This resource cannot be moved: "+tc.want+".\n") ||
				!strings.HasPrefix(tc.want, "its ") && got != tc.want || strings.Contains(got, "secret") {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// The error has blocks to import the stream, with the id if there is exactly one.
func TestMoveErrorNamesImport(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"a%22b":               `id = "a\"b"`,
		"$%7Bx%7D%25%7By%7D":  `id = "$${x}%%{y}"`,
		"kamera-%C3%A9":       `id = "kamera-é"`,
		"%E2%80%8Bzero-width": `id = "\u200bzero-width"`,
		"..":                  `id = "STREAM_ID"`,
	} {
		got := foreignStates(quoteJSON("https://h/v2/streams/"+id), `"POST"`, "null", "null")["terracurl"].moveToText(t)
		if !strings.Contains(got, "\n    "+want+"\n") {
			t.Errorf("no %s in %s", want, got)
		}
	}
	for kind, s := range foreignStates(`"/v2/streams/cam-2"`, `"PATCH"`, `{"processor_ids":[]}`, streamJSON) {
		if got := s.moveToText(t); !strings.Contains(got, "\n    id = \"STREAM_ID\"\n") {
			t.Errorf("%s: an id where there are two in %s", kind, got)
		}
	}
}

func TestMoveFindsOriginByTypeAndProvider(t *testing.T) {
	t.Parallel()
	s := readForeignStates(t, "testdata/moved/restful-simple.json")[0]
	for address, known := range map[string]bool{
		"registry.terraform.io/magodo/restful": true,
		"registry.opentofu.org/magodo/restful": true,
		"mirror.example:8443/fork/restful":     true,
		"restful":                              true, // OpenTofu before 1.11.12 and 1.12.4
		"":                                     true,
		"registry.terraform.io/magodo/other":   false,
		"restfull":                             false,
	} {
		s.provider = address
		if _, problem := s.move(t); known != (problem == "") {
			t.Errorf("from %q: %s", address, problem)
		} else if !known && !strings.HasPrefix(problem, "Unable to Move Resource State: ") {
			t.Errorf("from %q the error is not that of the framework: %s", address, problem)
		}
	}
	s.provider = "restful"
	for _, typeName := range []string{"restful_resource", "restful", "", "stream_processors", "null_resource"} {
		s.typeName = typeName
		if _, problem := s.move(t); !strings.HasPrefix(problem, "Unable to Move Resource State: ") {
			t.Errorf("type %q: %s", typeName, problem)
		}
	}
}
