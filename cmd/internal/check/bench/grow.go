// How the time of a command grows with the number of servers.

package main

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"time"

	"sdm/tree/topology"
)

func benchGrow(b *bench) { b.runInside("grow") }

// insideGrow measures a command and its answer over trees of simulated servers with one rank each,
// and fits mean time = S·CPU/cores + depth·constant. CPU is measured for each size, because larger
// trees fit the caches less well.
func insideGrow(in *insider) {
	for _, shape := range []string{"binomial", "8", "32"} {
		var at []point
		for _, servers := range []int{1024, 4096, 16_384} {
			in.say("%d servers in memory, %s", servers, shape)
			c := startSimulated(servers, servers, shape, "", nil)
			c.launch("work")
			ask := func() { c.print("", "size") }
			medianOf(5, ask) // until the heap has its final size
			const rounds = 15
			before, began := ownTime(), time.Now()
			took := medianOf(rounds, ask)
			wall := time.Since(began)
			each := (ownTime() - before) / time.Duration(rounds*servers)
			name := fmt.Sprintf("command to %s servers in memory, %s", thousands(servers), shape)
			in.add(name, "ms", ms(took), 0)
			in.add("processor time of each server", "µs", us(each), 60)
			in.say("%.0f %% of %d processors", 100*float64(each)*rounds*float64(servers)/float64(wall)/float64(runtime.GOMAXPROCS(0)),
				runtime.GOMAXPROCS(0))
			// Both are means: the processor time contains the garbage collections of
			// all rounds, which the median round does not.
			at = append(at, point{x: float64(servers) * us(each) / float64(runtime.GOMAXPROCS(0)), depth: depth(shape, servers),
				y: us(wall) / rounds})
			c.close()
		}
		a, d := fit(at)
		in.add("fit, "+shape+": times S·CPU/cores", "", a, 0)
		in.add("fit, "+shape+": and for each level", "µs", d, 0)
	}
}

// point is one measurement of the fit y = a·x + d·depth.
type point struct{ x, depth, y float64 }

// fit returns the a and d with the least sum of squares of relative errors.
func fit(points []point) (a, d float64) {
	var xx, xd, dd, xy, dy float64
	for _, p := range points {
		w := 1 / (p.y * p.y)
		xx, xd, dd = xx+w*p.x*p.x, xd+w*p.x*p.depth, dd+w*p.depth*p.depth
		xy, dy = xy+w*p.x*p.y, dy+w*p.depth*p.y
	}
	det := xx*dd - xd*xd
	if math.Abs(det) < 1e-12*xx*dd {
		return xy / xx, 0
	}
	return (xy*dd - dy*xd) / det, (dy*xx - xy*xd) / det
}

// depth returns the depth of the deepest server.
func depth(shape string, servers int) float64 {
	s, err := topology.ParseShape(shape, servers)
	if err != nil {
		fatal("shape", err)
	}
	deepest := 0
	for v := topology.NodeID(1); int(v) <= servers; v++ {
		n := 0
		for w, below := v, true; below; w, below = s.Parent(w) {
			n++
		}
		n-- // the root
		deepest = max(deepest, n)
	}
	return float64(deepest)
}

// thousands returns a number with a comma before its last three digits.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
