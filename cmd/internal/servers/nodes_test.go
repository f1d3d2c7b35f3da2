package servers

import (
	"testing"

	"sdm/protocol"
)

// TestNodes checks which nodes get a server if only some ranks are to be controlled.
func TestNodes(t *testing.T) {
	whole := protocol.Proctable{{Rank: 0, Host: "a", PID: 1}, {Rank: 1, Host: "a", PID: 2}, {Rank: 2, Host: "b", PID: 3}}
	p := Placement{Table: whole[:2], Whole: whole}
	if got := where(p.nodes()); got != "a (ranks 0-1)" {
		t.Errorf("we start servers on %s", got)
	}
	p.Coming = &Rendezvous{}
	if got := where(p.nodes()); got != "a (ranks 0-1), b (ranks )" {
		t.Errorf("the starter starts servers on %s", got)
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct{ per, ranks, want int }{{0, 7, 1}, {3, 7, 3}, {7, 7, 1}, {8, 7, 1}} {
		if got := (&Spec{PerServer: c.per}).Count(c.ranks); got != c.want {
			t.Errorf("%d ranks, %d for each server: %d servers, want %d", c.ranks, c.per, got, c.want)
		}
	}
}
