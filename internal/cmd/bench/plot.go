//go:build linux

package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// point is a measurement in the plot: the median time of an operation on a number of streams.
type point struct {
	contender, operation string
	streams              int
	seconds              float64
}

// pointsOf returns the points of the rows that the plot shows.
func pointsOf(streams int, measured results) []point {
	var points []point
	for _, contender := range []string{single, parts, groups} {
		for _, operation := range []string{create.name, noop.name} {
			var seconds []float64
			for _, m := range measured[row{operation, contender}] {
				seconds = append(seconds, m.wall.Seconds())
			}
			if seconds != nil {
				points = append(points, point{contender, operation, streams, median(seconds)})
			}
		}
	}
	return points
}

// lines are the lines of the plot and their colours. A dashed line is a plan.
var lines = []struct{ contender, operation, colour, dash string }{
	{single, create.name, "#c0392b", "none"},
	{single, noop.name, "#c0392b", "6 4"},
	{parts, create.name, "#d68910", "none"},
	{parts, noop.name, "#d68910", "6 4"},
	{groups, create.name, "#1f618d", "none"},
	{groups, noop.name, "#1f618d", "6 4"},
}

// drawPlot draws seconds against streams, both on logarithmic scales, as an SVG.
func drawPlot(points []point) string {
	const width, height, left, right, top, bottom = 760, 420, 70, 270, 20, 50
	x := func(streams int) float64 {
		return left + (width-left-right)*(math.Log10(float64(streams))-2)/(math.Log10(50_000)-2)
	}
	y := func(seconds float64) float64 {
		return height - bottom - (height-top-bottom)*(math.Log10(seconds)+1)/4 // from 0.1 s to 1,000 s
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<title>Seconds against streams</title>`+"\n"+`<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	for _, seconds := range []float64{0.1, 1, 10, 100, 1000} {
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g s</text>`+"\n",
			left, width-right, y(seconds), y(seconds), left-8, y(seconds)+4, seconds)
	}
	for _, streams := range []int{100, 1000, 10_000, 50_000} {
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n",
			x(streams), x(streams), top, height-bottom, x(streams), height-bottom+18, streams)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">streams</text>`+"\n", (left+width-right)/2, height-8)
	for i, l := range lines {
		var path []string
		for _, p := range points {
			if p.contender == l.contender && p.operation == l.operation {
				path = append(path, fmt.Sprintf("%.1f,%.1f", x(p.streams), y(p.seconds)))
			}
		}
		if path == nil {
			continue
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`+"\n", strings.Join(path, " "), l.colour, l.dash)
		for _, at := range slices.Compact(path) {
			cx, cy, _ := strings.Cut(at, ",")
			fmt.Fprintf(&b, `<circle cx="%s" cy="%s" r="3" fill="%s"/>`+"\n", cx, cy, l.colour)
		}
		at := top + 20 + 22*i
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`,
			width-right+20, width-right+50, at, at, l.colour, l.dash)
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s: %s</text>`+"\n", width-right+58, at+4, l.operation, strings.TrimPrefix(l.contender, "this provider, "))
	}
	return b.String() + "</svg>\n"
}
