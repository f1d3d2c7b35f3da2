package ptp

import (
	"testing"

	"sdm/protocol/rank"
)

// A frame is counted from the outermost one.
func TestLevelOfFrames(t *testing.T) {
	in := func(fn string, depth, level int) spot { return spot{thread: "1", depth: depth, level: level, fn: fn} }
	for _, c := range []struct {
		what      string
		then, now spot
		level     int
		there     bool
	}{
		{"the same frame", in("f", 3, 0), in("f", 3, 0), 0, true},
		{"a function that it has called", in("f", 3, 0), in("g", 4, 0), 1, true},
		{"its caller, after it has returned", in("f", 3, 0), in("main", 2, 0), -1, false},
		{"another function at the same depth", in("f", 3, 0), in("g", 3, 0), 0, false},
		{"its own frame, after a return", in("f", 3, 1), in("main", 2, 0), 0, true},
		{"a caller of the earlier frame", in("f", 3, 2), in("f", 5, 0), 4, true},
		{"no earlier frame", spot{}, in("f", 3, 0), 0, true},
		{"stacks beyond the depth that is read", in("f", maxDepth, 0), in("g", maxDepth, 0), 0, true},
		{"another thread", in("f", 3, 0), spot{thread: "2", depth: 5, fn: "g"}, 0, true},
	} {
		if level, there := c.now.levelOf(c.then); level != c.level || there != c.there {
			t.Errorf("%s: %d, %v", c.what, level, there)
		}
	}
}

func TestSpots(t *testing.T) {
	var s spots
	s = s.with(spot{ranks: rank.Range(0, 3), thread: "1", depth: 2, fn: "f", locals: []string{"x"}})
	s = s.changed(rank.Range(2, 5), func(x *spot) { x.depth = 3 })
	for _, x := range s.of(rank.Range(0, 6)) {
		first, _ := x.ranks.Max()
		if want := map[rank.ID]int{1: 2, 3: 3, 5: 3, 6: 0}[first]; x.depth != want {
			t.Errorf("%v: %+v, want %d", x.ranks, x, want)
		}
	}
	x := s.of(rank.Of(0))[0]
	for expr, want := range map[string]bool{"x": true, "(x).m": true, "*((x)+100)@100": true, "y": false, "x1": false, "": false, "1": false} {
		if x.hasLocal(expr) != want {
			t.Errorf("%s: %v", expr, !want)
		}
	}
}
