package main

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

const plotTitle = "Elapsed time against number of streams"

const plotHead = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 440">
<style>
  svg { background: #fff; fill: #1f2328; font: 13px sans-serif }
  path { fill: none; stroke-width: 2 }
  .grid { stroke: #d1d9e0; stroke-width: 1 }
  .dash1 { stroke-dasharray: 6 4 }
  .c0 { stroke: #0969da } .c1 { stroke: #bc4c00 } .c2 { stroke: #8250df } .c3 { stroke: #59636e }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; fill: #f0f6fc }
    .grid { stroke: #3d444d }
    .c0 { stroke: #4493f8 } .c1 { stroke: #db6d28 } .c2 { stroke: #ab7df8 } .c3 { stroke: #9198a1 }
  }
</style>
<title>` + plotTitle + `</title>
<text x="20" y="24" font-size="15" font-weight="bold">` + plotTitle + `</text>
<text x="280" y="428" text-anchor="middle">streams (logarithmic scale)</text>
<text x="20" y="220" text-anchor="middle" transform="rotate(-90 20 220)">elapsed seconds (logarithmic scale)</text>
<path class="c3" d="M500 180h30"/><text x="540" y="184">create</text>
<path class="c3 dash1" d="M500 204h30"/><text x="540" y="208">plan without changes</text>
`

// drawPlot returns an SVG with seconds against streams, both on logarithmic scales, and with the conditions.
func drawPlot(all map[int]results, conditions ...string) []byte {
	x := func(streams int) float64 { return 85 + 195*(math.Log10(float64(streams))-2) }
	y := func(seconds float64) float64 { return 390 - 85*(math.Log10(seconds)+2) }
	b := bytes.NewBufferString(plotHead)
	for i, condition := range conditions {
		fmt.Fprintf(b, `<text x="500" y="%d">%s</text>`+"\n", 260+24*i, condition)
	}
	for _, streams := range []int{100, 1000, 10_000} {
		fmt.Fprintf(b, `<path class="grid" d="M%.1f 50V390"/><text x="%.1f" y="410" text-anchor="middle">%s</text>`+"\n",
			x(streams), x(streams), thousands(streams))
	}
	for _, seconds := range []float64{0.01, 0.1, 1, 10, 100} {
		fmt.Fprintf(b, `<path class="grid" d="M85 %.1fH480"/><text x="77" y="%.1f" text-anchor="end">%g s</text>`+"\n",
			y(seconds), y(seconds)+4, seconds)
	}
	for i, name := range []string{single, groups, group, loop} {
		fmt.Fprintf(b, `<path class="c%d" d="M500 %dh30"/><text x="540" y="%d">%s</text>`+"\n",
			i, 60+24*i, 64+24*i, strings.ReplaceAll(name, "`", ""))
		for dash, task := range []string{create, noop} {
			var points []string
			for _, streams := range slices.Sorted(maps.Keys(all)) {
				if seconds := all[streams].of(name, task, wall); seconds != nil {
					points = append(points, fmt.Sprintf("%.1f %.1f", x(streams), y(median(seconds))))
				}
			}
			if points != nil {
				fmt.Fprintf(b, `<path class="c%d dash%d" d="M%s"/>`+"\n", i, dash, strings.Join(points, "L"))
			}
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
