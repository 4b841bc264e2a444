package streams

import (
	"encoding/json"
	"math"
	"testing"
)

// Some services encode every number as a float. Only whole numbers that a float represents exactly are times.
func TestDecodeTime(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int64{
		"0": 0, "-0.0": 0, "-1": -1, "1.0": 1, "1.718e12": 1718000000000, "9007199254740991.0": 1<<53 - 1,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
	} {
		var got int64
		if !integerInto(&got)(json.RawMessage(raw)) || got != want {
			t.Errorf("%s is read as %d", raw, got)
		}
	}
	for _, raw := range []string{"1.5", "1e-1", "1e300", "1e400", "1e16", "9007199254740993.0", "9223372036854775808", `"1"`, "null", "[]"} {
		if integerInto(new(int64))(json.RawMessage(raw)) {
			t.Errorf("%s is accepted", raw)
		}
	}
}
