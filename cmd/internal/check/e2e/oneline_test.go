package e2e

import (
	"fmt"
	"testing"
)

// oneLine starts 3 servers and the master in one line of the starter, as the original SDM was
// started.
func (s *scene) oneLine(m starter, front, path string) *process {
	s.t.Helper()
	meet := fmt.Sprintf("127.0.0.1:%d", s.freePort())
	return s.mpirun(m, 3, "sdm-server", "--rendezvous", meet, "--", path, ":",
		"-n", "1", "sdm-master", "--connect", front, "--rendezvous", meet)
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			needSeveralPrograms(t, m)
			s := newScene(t)
			front, addr := s.listen(3, "-b", "-e", "break compute", "-e", "continue", "-e", "print n", "-e", "delete", "-e", "continue")
			starter := s.oneLine(m, addr, program("work"))
			front.exits(0)
			starter.exits(0)
			front.folded("Breakpoint 1, compute (n=", "")
			front.folded("exited normally", "")
			front.says("[0] n = 0\n[1] n = 1\n[2] n = 2\n",
				"[2] rank 2: sum 6 factorial 2\n")
		})
	}
}

// TestOneLineRefusesMPI checks the refusal of MPI programs, because MPI_Init would wait for the
// master without end.
func TestOneLineRefusesMPI(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			needSeveralPrograms(t, m)
			s := newScene(t)
			front, addr := s.listen(3, "-b", "-e", "continue")
			starter := s.oneLine(m, addr, m.program("ring"))
			front.exits(4)
			starter.fails()
			front.says("is an MPI program", "MPI_Init would wait for it for ever", "mpirun -n 3 sdm-server --rendezvous HOST:PORT -- ")
		})
	}
}
