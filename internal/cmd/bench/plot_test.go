package main

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"
)

// The plot is well-formed and has a line for each row that was measured.
func TestPlot(t *testing.T) {
	t.Parallel()
	all := map[int]results{}
	for i, streams := range []int{100, 1000} {
		for _, contender := range []string{single, groups, "another row"} {
			all[streams] = append(all[streams], measurement{contender: contender, operation: create, wall: time.Duration(1+9*i) * time.Second})
		}
	}
	plot := string(drawPlot(all))
	if err := xml.Unmarshal([]byte(plot), new(struct{})); err != nil {
		t.Fatal(err)
	}
	// 1 s and 10 s for 100 and 1,000 streams are crossings of the grid.
	if n := strings.Count(plot, `dash0" d="M70.0 220.0L270.0 135.0"`); n != 2 {
		t.Errorf("%d lines through 1 s and 10 s, want 2:\n%s", n, plot)
	}
}
