package debugger

import "testing"

// TestPhases checks that each phase can be reached, leads to the end, and is entered only where the table says so.
func TestPhases(t *testing.T) {
	reached := map[phase]bool{attaching: true}
	for n := 0; n < len(reached); {
		n = len(reached)
		for p := range reached {
			for _, next := range mayFollow[p] {
				reached[next] = true
			}
		}
	}
	for p := range phase(len(mayFollow)) {
		if !reached[p] {
			t.Errorf("no way leads to %q", p)
		}
		may := map[phase]bool{p: true}
		for _, next := range mayFollow[p] {
			may[next] = true
		}
		if !may[ended] {
			t.Errorf("a rank cannot end while it is %q", p)
		}
		for next := range phase(len(mayFollow)) {
			c := core{phase: p}
			if c.enter(next) != may[next] || (c.phase == next) != may[next] || !may[next] && c.phase != p {
				t.Errorf("from %q to %q: it is %q", p, next, c.phase)
			}
		}
	}
	c := core{phase: held}
	c.over()
	c.startsOver()
	if c.phase != ended {
		t.Errorf("a rank that has ended is %q", c.phase)
	}
}
