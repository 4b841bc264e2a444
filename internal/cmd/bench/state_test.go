//go:build linux

package main

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestStateServer(t *testing.T) {
	t.Parallel()
	server := &stateServer{}
	for _, step := range []struct {
		method, body string
		status       int
		response     string
	}{
		{"GET", "", 204, ""}, // Terraform takes this for "no state yet"
		{"POST", `{"serial": 1}`, 200, ""},
		{"GET", "", 200, `{"serial": 1}`},
		{"POST", `{"serial": 2}`, 200, ""},
		{"GET", "", 200, `{"serial": 2}`},
		{"LOCK", `{"ID": "1"}`, 405, "this server supports GET, POST and DELETE\n"},
		{"DELETE", "", 200, ""},
		{"GET", "", 204, ""},
	} {
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, httptest.NewRequest(step.method, "/", strings.NewReader(step.body)))
		if recorder.Code != step.status || recorder.Body.String() != step.response {
			t.Errorf("%s %s: got %d %q, want %d %q",
				step.method, step.body, recorder.Code, recorder.Body, step.status, step.response)
		}
	}
}
