package requests

import "testing"

// Whether an attempt may have taken effect follows from what is known of it.
func TestMayHaveActed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		a    attempt
		want bool
	}{
		"success":              {attempt{status: 200, mayBeRead: true}, false},
		"incomplete success":   {attempt{status: 200, mayBeRead: true, err: ErrIncomplete}, true},
		"rejection":            {attempt{status: 422, mayBeRead: true}, false},
		"incomplete rejection": {attempt{status: 422, mayBeRead: true, err: ErrIncomplete}, false},
		"timeout of a server":  {attempt{status: 408, mayBeRead: true}, true},
		"of a proxy":           {attempt{status: 499, mayBeRead: true}, true},
		"503":                  {attempt{status: 503, mayBeRead: true}, true},
		"501":                  {attempt{status: 501, mayBeRead: true}, false},
		"redirect":             {attempt{status: 307, mayBeRead: true}, false},
		"not read":             {attempt{err: ErrRequestTimeout}, false},
		"perhaps read":         {attempt{err: ErrRequestTimeout, mayBeRead: true}, true},
	} {
		if got := test.a.mayHaveActed(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
