package sim

import (
	"testing"

	"sdm/protocol/rank"
)

// TestWaits: ranks tell what they wait for, whatever else their stacks are.
func TestWaits(t *testing.T) {
	x := newMPI(&Config{Size: 8, Barrier: rank.Range(0, 2), Ring: rank.Range(4, 7)})
	const want = `{MPI_Barrier("world", -1, -1, "") [1-2]; all receive MPI_Recv("world", 1) [4-6] → 5..7, [7] → 0; comm "world" MPI_COMM_WORLD of [0-7]; running in "helper work.c:7" [3]; unknown in "helper work.c:7" [1-2,4-7]}`
	if got := x.graph(rank.Range(1, 7), place("helper", "work.c", 7)).String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if newMPI(&Config{Size: 8}) != nil {
		t.Error("ranks wait without a statement")
	}
}
