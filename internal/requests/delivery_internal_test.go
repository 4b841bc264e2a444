package requests

import (
	"strings"
	"testing"
	"time"
)

// An attempt has a part of the request timeout if nothing responds to others, or if the endpoint takes others.
func TestTimeout(t *testing.T) {
	t.Parallel()
	const seconds = time.Second
	for _, test := range []struct {
		full, whole, short, silent time.Duration
	}{
		{30 * seconds, 30 * seconds, 10 * seconds, 5 * seconds}, {12 * seconds, 12 * seconds, 5 * seconds, 5 * seconds},
		{3 * seconds, 3 * seconds, 3 * seconds, 3 * seconds}, {10 * time.Minute, 10 * time.Minute, 200 * seconds, 5 * seconds},
	} {
		d := &delivery{sender: &Sender{settings: Config{RequestTimeout: test.full}}, health: new(health)}
		got := func(short bool) time.Duration {
			limit, err := d.timeout(short)
			if !strings.Contains(err.Error(), "within "+limit.String()) || strings.Contains(err.Error(), "shortened") != (limit < test.full) {
				t.Error(err)
			}
			return limit
		}
		whole, short := got(false), got(true)
		d.health.fail(0, silent)
		if silent := got(true); whole != test.whole || short != test.short || silent != test.silent {
			t.Errorf("of %s: %s, %s, %s", test.full, whole, short, silent)
		}
	}
}
