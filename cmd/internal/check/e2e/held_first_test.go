// The first screen of a job that is held in MPI_Init.

package e2e

import (
	"strconv"
	"testing"
)

// TestHeldRanksStandWhereTheyCalledMPIInit checks that the frame with source is shown and selected,
// and that next runs to the line after MPI_Init.
func TestHeldRanksStandWhereTheyCalledMPIInit(t *testing.T) {
	needMPIR(t)
	t.Parallel()
	s := newScene(t)
	for _, per := range []int{1, 4} {
		front := s.heldRun(4, "-b", "--ranks-per-gdb", strconv.Itoa(per), "-e", "break main", "-e", "list", "-e", "next", "-e", "info locals", "--",
			openMPI.command, "-n", "4", openMPI.program("ring"))
		front.exits(0)
		front.says("attached, in MPI_Init, called from main (argc=1, argv=<4 addresses>) at ring.c:", "MPI_Init(&argc, &argv);\n",
			"main has been entered already", "\n[0-3] main (argc=1, argv=<4 addresses>) at ring.c:", "MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n")
	}
}
