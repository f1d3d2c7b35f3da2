package verdict

import (
	"testing"

	"sdm/protocol/wait"
)

// TestHeldByAnotherSampler: that another process held ranks in a sample is neither progress nor a cause of the hang, and
// what is said of them is not certain.
func TestHeldByAnotherSampler(t *testing.T) {
	hung := func() *job { return jobOf(4).in("0-2", "MPI_Barrier", "w") }
	held := hung().does("3", wait.Sleeping, "sleep from libc.so.6", "f x.c:1").graph
	unread := func(ranks string, j *job) *wait.Graph {
		d := wait.Doing{State: wait.Unread, Detail: "it is traced by sdm-server"}
		return j.add(ranks, wait.Rank{Doing: d, Unheld: true}).graph
	}
	const sleeps = "so far: 0-2 wait in MPI_Barrier on MPI_COMM_WORLD for 3; 3 sleeps in f (x.c:1)"
	for name, c := range map[string]struct {
		first, last *wait.Graph
		want        string
	}{
		"all ranks are unread in the first sample": {unread("0-3", jobOf(4)), held, sleeps},
		"the cause is unread in the first sample":  {unread("3", hung()), held, sleeps},
		"the cause is unread in the last sample": {held, unread("3", hung()),
			"so far: 0-2 wait in MPI_Barrier on MPI_COMM_WORLD for 3; 3 could not be read: it is traced by sdm-server"},
		"all ranks are unread in the last sample": {held, unread("0-3", jobOf(4)), ""},
	} {
		if got := texts(Of(c.last.After(c.first.Unmoved()), 2)); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestCallsThatAreNotNamed: a rank in a library for communication may be in any call, so that others wait for it is not certain.
func TestCallsThatAreNotNamed(t *testing.T) {
	for function, want := range map[string]string{
		wait.Unnamed + "libmpi.so.40": "so far: 0-2 wait in MPI_Barrier on MPI_COMM_WORLD for 3; 3 is in a call of libmpi.so.40 that could not be named",
		"shmem_barrier_all":           "so far: 0-2 wait in MPI_Barrier on MPI_COMM_WORLD for 3; 3 is in shmem_barrier_all, it is not known for whom",
		"MPI_Recv":                    "certain: 0-2 wait in MPI_Barrier on MPI_COMM_WORLD for 3; 3 is in MPI_Recv, it is not known for whom",
	} {
		m := wait.Message{Edge: wait.Edge{Function: function, Tag: wait.Unknown}, Peer: wait.Unknown}
		j := jobOf(4).in("0-2", "MPI_Barrier", "w").add("3", wait.Rank{Waits: []wait.Message{m}})
		if got := texts(Of(j.graph, 4)); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
