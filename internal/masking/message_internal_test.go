package masking

import (
	"strings"
	"testing"
)

// The text of an error in JSON is shown whatever its form. It does not become the documented one.
func TestTextOfError(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"message": ["a must be b", "c"], "error": "Bad Request", "statusCode": 400}`:  "Bad Request: a must be b; c",
		`{"type": "about:blank", "title": "Conflict", "detail": "p9 is gone"}`:          "Conflict: p9 is gone",
		`{"errors": [{"title": "a", "detail": "b", "status": "422"}, {"detail": "c"}]}`: "a: b; c",
		`{"errors": ["a", "b"]}`: "a; b", `["a", {"msg": "b"}]`: "a; b", `{"Message": "a"}`: "a", `{"error": {"code": 5, "message": "a"}}`: "a",
		`{"detail": [{"loc": ["body", 0], "msg": "a", "type": "x"}]}`:     "a",
		`{"title": "a", "errors": {"processor_ids": ["b", "c"], "x": 1}}`: "a: processor_ids: b; c",
		`{"error": "a", "error_description": "b"}`:                        "a: b",
		`"a"`: "a", `{"status": 400}`: "", `{"a": {"message": "b"}}`: "", `{"message": " "}`: "", `{"message": null}`: "",
		`5`: "", ``: "", `{"message": "a`: "",
		`[[[[["a"]]]]]`: "", `<html>`: "",
		`{"message": ["` + strings.Repeat("a", MaxShown) + `"]}`: "", // to read it would take many times its size
	} {
		if got := TextOfError([]byte(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
