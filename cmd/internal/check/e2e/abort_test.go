// MPI_Abort: ranks stop where they call it, and the job ends as its starter ends it.

package e2e

import (
	"strconv"
	"testing"
)

func TestAbortStopsTheRankThatCallsIt(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for i, m := range []starter{openMPI, mpich} {
		front := s.heldRun(4, "-b", "--ranks-per-gdb", strconv.Itoa(1+3*i), "-e", "continue &", "-e", "wait 1", "-e", "[1] print i", "-e", "[1] info breakpoints",
			"-e", "[1] continue &", "-e", "wait", "--", m.command, "-n", "4", m.program("abort"), "5")
		front.exits(5)
		front.says("[1] MPI_Abort(comm, 5) called by check (f=", "code=5) at abort.c:26\n26\t            MPI_Abort(MPI_COMM_WORLD, code); // the job ends here\n", "[1] i = 40\n", "[1] No breakpoints or watchpoints.\n",
			"[1] enters MPI_Abort: the starter ends the job\n")
		front.hides("closed by the other side")
	}
}

// MPI may be loaded when the ranks run already. A batch session waits after its last command until
// the starter has ended the job.
func TestAbortOfLateMPI(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	front := s.heldRun(2, "-b", "--ranks-per-gdb", "2", "-e", "continue &", "-e", "wait any", "-e", "continue", "--", mpich.command, "-n", "2", program("lateabort"), "libmpich.so.12")
	front.exits(6)
	front.says("[1] MPI_Abort(comm, 6) called by main (argc=2, argv=", " at lateabort.c:24\n")
	front.hides("closed by the other side", "the commands are done")
}

// With --ignore-aborts nothing stops, and the status is the starter's.
func TestAbortIsIgnored(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	front := s.heldRun(4, "-b", "--ignore-aborts", "-e", "continue", "--", openMPI.command, "-n", "4", openMPI.program("abort"), "5")
	front.exits(5)
	front.says("[1] exited with code 5\n")
}
