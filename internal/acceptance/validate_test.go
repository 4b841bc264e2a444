package acceptance

import (
	"slices"
	"strings"
	"testing"
)

// Validate needs no address, because it may run in another environment than plan. It reports all wrong values at once,
// each at its attribute.
func TestAccValidate(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "", resourceOf("this", "cam-1", `"p1"`, ""))
	w.mustRun("validate")
	wantResult(t, w.plan(), 1, "The address of the service is missing.", "STREAM_BASE_URL")

	w.setenv("STREAM_BASE_URL", "https://me:Hidden1@streams.test")
	w.writeConfig(providerWith("token = \"two\\nlines\"\n  request_timeout = \"30\"") + resourceOf("this", "cam-1", `"p1"`, ""))
	wantProblems(t, w, map[string]string{
		"STREAM_BASE_URL (base_url) must not contain a user name or password": "provider",
		"token must not contain line breaks":                                  "token",
		"request_timeout must be a duration above zero":                       "request_timeout",
	})
	w.setenv("STREAM_BASE_URL", "")
	w.writeConfig(resourceOf("this", "..", `"", " p"`, "on_destroy = \"forget\"\n  timeouts = { create = \"soon\" }"))
	wantProblems(t, w, map[string]string{
		`stream_id: ".." is not a stream id`:          "stream_id",
		`processor_ids: "" is not a processor id`:     "processor_ids",
		`processor_ids: " p" is not a processor id`:   "processor_ids",
		`["detach" "keep"]`:                           "on_destroy",
		`timeouts.create: "soon" is not a time limit`: "",
	})
}

// wantProblems fails the test unless validate reports exactly these errors, each with the line of the attribute, and quotes
// no password. CLIs differ in the line of a nested attribute: "" is any.
func wantProblems(t *testing.T, w *workspace, want map[string]string) {
	t.Helper()
	r, diags := w.diagnostics("validate")
	if r.code != 1 || len(diags) != len(want) || strings.Contains(r.text(), "Hidden1") {
		t.Errorf("want %d errors without a password: %v", len(want), r)
	}
	for text, code := range want {
		if !slices.ContainsFunc(diags, func(d diagnostic) bool {
			return strings.Contains(d.Detail, text) && strings.Contains(d.Snippet.Code, code)
		}) {
			t.Errorf("no error at %q says %q: %+v", code, text, diags)
		}
	}
}
