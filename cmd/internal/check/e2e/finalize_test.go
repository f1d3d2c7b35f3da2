package e2e

import (
	"fmt"
	"testing"
)

// TestNextOverFinalize steps over a call in which the threads of MPI end and are joined.
func TestNextOverFinalize(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			j := s.debugged(m, "--", m.program("ring"))
			c, line := j.front, lineOf(t, "ring.c", "MPI_Finalize()")
			c.do(fmt.Sprintf("break ring.c:%d", line))
			c.do("continue")
			c.comes("stopped", "0-3")
			c.do("delete")
			c.do("next")
			if e := c.comes("stopped", "0-3"); e.Reason != "end-stepping-range" || e.Frame.Line != line+1 {
				t.Errorf("next ended so: %s", e.text)
			}
			c.do("continue")
			c.comes("exited", "0-3")
			c.typed("quit 0")
			j.ends(0, 0, 0)
		})
	}
}

// TestSlotOutlivesItsRank has a rank that ends before the others, with an error. The starter would
// end the whole job if it saw that.
func TestSlotOutlivesItsRank(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			j := s.debugged(m, "--", program("spin"))
			c := j.front
			slot := c.serverOf(1)
			c.do("[1] call (void)exit(3)")
			c.comes("exited", "1")
			c.do("[0,2-3] continue &")
			c.do("[0,2-3] interrupt")
			c.comes("stopped", "0,2-3")
			c.answers("0,2-3")
			if got := look(slot).name; got != "sdm-server" || !j.starter.running() {
				t.Errorf("the slot is %q, the starter runs: %v", got, j.starter.running())
			}
			c.do("[0,2-3] set variable stop = 1")
			c.do("[0,2-3] continue &")
			c.comes("exited", "0,2-3")
			c.typed("quit 0")
			j.ends(0, 0, 3)
		})
	}
}
