package masking

import "testing"

// The usual texts of an error in JSON are shown, in any case. They do not become the documented one.
func TestTextOfError(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"type": "about:blank", "title": "Conflict", "detail": "p9 is gone"}`: "Conflict: p9 is gone", `{"Message": "a"}`: "a",
		`{"message": ["a must be b"], "error": "Bad Request", "statusCode": 400}`: "Bad Request", `{"code": 5, "msg": "a"}`: "a",
		`{"error": "a", "error_description": "b"}`: "a: b", `{"error": {"message": "a"}}`: "", `["a"]`: "", `"a"`: "", `{"status": 400}`: "",
		`{"message": " "}`: "", `{"message": null}`: "", `5`: "", ``: "", `{"message": "a`: "", `<html>`: "",
	} {
		if got := TextOfError([]byte(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
