// Programs like real ones, under mpirun, with one gdb for all ranks.

package e2e

import (
	"testing"
)

// One rank crashes while the others spin in a collective operation. The stop is reported, and where
// the others are.
func TestCrashWhileOthersSpin(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	front := s.heldRun(4, "-b", "--ranks-per-gdb", "4", "-e", "continue &", "-e", "wait any", "-e", "[2] bt 1", "-e", "[0-1,3] interrupt", "-e", "stacks function", "-e", "kill",
		"--", openMPI.command, "-n", "4", openMPI.program("spinners"))
	front.exits(0)
	front.says("[2] Program received signal SIGSEGV, Segmentation fault. at spinners.c:", " in mass_of", "[2]\n#0  ", "└─ [2] (1) mass_of")
}

// Ranks of one gdb start other programs, while each has the threads of MPI. No process is left
// behind.
func TestChildrenOfRanksThatShareAGDB(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	front := s.heldRun(4, "-b", "--ranks-per-gdb", "4", "-e", "break by_popen if rank < 0", "-e", "continue",
		"--", openMPI.command, "-n", "4", openMPI.program("mpichildren"))
	front.exits(0)
	front.says("[0-3] Breakpoint 1 at children.c:", "exited normally")
}

// Breakpoints in libraries that MPI ranks load later.
func TestPluginsOfRanks(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	front := s.heldRun(4, "-b", "--ranks-per-gdb", "4", "-e", "break evolve", "-e", "info breakpoints", "-e", "continue", "-e", "bt 2", "-e", "delete", "-e", "continue",
		"--", openMPI.command, "-n", "4", openMPI.program("mpiplugins"))
	front.exits(0)
	front.says("[0-3] Breakpoint 1 (evolve) pending.")
	front.folded("exited normally", "") // perhaps in two groups
}
