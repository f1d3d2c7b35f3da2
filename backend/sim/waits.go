// What simulated ranks wait for in MPI.

package sim

import (
	"strconv"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// mpi adds to stacks what ranks wait for; nil: nothing.
type mpi struct {
	size          int
	barrier, ring rank.Set
}

// newMPI returns what a configuration says of waits.
func newMPI(cfg *Config) *mpi {
	if cfg.Barrier.IsEmpty() && cfg.Ring.IsEmpty() {
		return nil
	}
	return &mpi{max(cfg.Size, 1), cfg.Barrier, cfg.Ring}
}

// graph returns what ranks wait for, or do, that have the same stack.
func (x *mpi) graph(ranks rank.Set, frames string) *wait.Graph {
	world := wait.Comm{Key: "world", Name: "MPI_COMM_WORLD", Members: rank.Range(0, rank.ID(x.size-1))}
	in := wait.Rank{Doing: wait.Doing{Frames: frames}, Comms: []wait.Comm{world}}
	barrier := in
	barrier.Calls = []wait.Call{{Function: "MPI_Barrier", Comm: world.Key, Root: wait.No, Bytes: wait.No}}
	g := wait.Of(ranks.Intersect(x.barrier), barrier)
	e := wait.Edge{Function: "MPI_Recv", Comm: world.Key, Tag: 1}
	for first, last := range ranks.Intersect(x.ring).Minus(x.barrier).Ranges() {
		if int(last) == x.size-1 {
			g = g.Merge(wait.Shifted(last, last, -int(last), e, in))
			last--
		}
		if first <= last {
			g = g.Merge(wait.Shifted(first, last, 1, e, in))
		}
	}
	rest := ranks.Minus(x.barrier).Minus(x.ring)
	return g.Merge(wait.Of(rest, wait.Rank{Doing: wait.Doing{State: wait.Running, Frames: frames}}))
}

// place formats the innermost frame of a stack for a graph.
func place(function, file string, line int) string {
	if file == "" {
		return function
	}
	return function + " " + file + ":" + strconv.Itoa(line)
}
