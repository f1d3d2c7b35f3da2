package sampler

import (
	"testing"

	"sdm/backend/probe/internal/mpi"
	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// TestRanksOfOtherJobs checks that calls which may wait for processes that were spawned or are connected are not known:
// that all other ranks of the job wait for a rank says nothing about these processes.
func TestRanksOfOtherJobs(t *testing.T) {
	children := &mpi.Communicator{Name: "children", Context: "5", World: []int{0, 1}, Remote: []int{-1, -1, -1}}
	merged := &mpi.Communicator{Name: "merged", Context: "6", World: []int{0, 1, -1, -1, -1}}
	job := &mpi.Communicator{Name: "job", Context: "7", World: []int{0, 1}}
	message := func(c *mpi.Communicator, peer int) *mpi.Wait {
		return &mpi.Wait{Function: "Recv", Class: mpi.Matching, Comm: c, All: true, Root: mpi.None, Bytes: mpi.None, Target: mpi.None,
			Messages: []mpi.Message{{Kind: "receive", Peer: peer, Tag: 5, Comm: c}}}
	}
	collective := func(c *mpi.Communicator) *mpi.Wait {
		return &mpi.Wait{Function: "Barrier", Class: mpi.Together, Comm: c, Root: mpi.None, Bytes: mpi.None, Target: mpi.None}
	}
	request := func(c *mpi.Communicator) *mpi.Wait {
		return &mpi.Wait{Function: "Wait", Class: mpi.Completion, All: true, Root: mpi.None, Bytes: mpi.None, Target: mpi.None,
			Messages: []mpi.Message{{Kind: "collective", Peer: mpi.Unknown, Tag: mpi.Unknown, Comm: c}}}
	}
	for _, c := range []struct {
		name    string
		of      *mpi.Wait
		unknown bool // what the call waits for is not known
		call    bool // the call is one of the members of a communicator
	}{
		{"any source among children", message(children, mpi.AnySource), true, false},
		{"any source in the merged communicator", message(merged, mpi.AnySource), true, false},
		{"any source in the job", message(job, mpi.AnySource), false, false},
		{"a rank of the job in the merged communicator", message(merged, 1), false, false},
		{"a child", message(children, mpi.Unknown), true, false},
		{"collective with children", collective(children), true, false},
		{"collective in the merged communicator", collective(merged), true, false},
		{"collective in the job", collective(job), false, true},
		{"request of a collective with children", request(children), true, false},
		{"request of a collective in the job", request(job), false, true},
	} {
		w := &Waits{}
		w.addMPI(c.of, job)
		g := wait.Of(rank.Range(0, 0), w.Rank)
		unknown := false
		for _, e := range g.Edges() {
			for _, run := range e.Pairs.Runs() {
				unknown = unknown || run.Peer == wait.Unknown
			}
		}
		if unknown != c.unknown || len(g.Calls()) > 0 != c.call {
			t.Errorf("%s: edges %v, calls %v", c.name, g.Edges(), g.Calls())
		}
	}
}

// TestOtherThreadsOfRanks checks that a rank in a call of MPI of which another thread runs may have sent what others
// wait for: with numbered messages, nothing else tells that.
func TestOtherThreadsOfRanks(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after uint64
		want          bool
	}{
		{"no other thread", 0, 0, false},
		{"stands still", 7, 7, false},
		{"runs", 7, 8, true},
		{"has been started", 0, 8, true},
		{"has ended", 7, 0, true},
	} {
		now := &Waits{Marks: Marks{stamp: 1, others: c.after}, inCall: true, numbered: true}
		if now.Compare(&Marks{stamp: 1, others: c.before}, 1); now.Doubt != c.want {
			t.Errorf("%s: %v, want %v", c.name, now.Doubt, c.want)
		}
	}
}
