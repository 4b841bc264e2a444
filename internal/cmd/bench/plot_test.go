//go:build linux

package main

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"
)

// The plot has a line for each row that was measured, and is well-formed.
func TestPlot(t *testing.T) {
	t.Parallel()
	var points []point
	for i, streams := range []int{100, 1000} {
		measured := results{}
		for _, contender := range []string{single, groups, "another row"} {
			measured.add(create.name, contender, measurement{wall: time.Duration(1+9*i) * time.Second})
		}
		points = append(points, pointsOf(streams, measured)...)
	}
	plot := drawPlot(points)
	if err := xml.Unmarshal([]byte(plot), new(struct{})); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(plot, "<polyline"); n != 2 {
		t.Errorf("the plot has %d lines, want 2", n)
	}
	// 1 s and 10 s are two of the grid's lines: 0.1 s is at the bottom, 1,000 s at the top.
	if want := `points="70.0,282.5 225.6,195.0"`; !strings.Contains(plot, want) {
		t.Errorf("no %s in\n%s", want, plot)
	}
}
