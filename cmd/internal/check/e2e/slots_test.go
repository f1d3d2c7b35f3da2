package e2e

import (
	"strings"
	"testing"
)

// slotRun runs sdm run with a starter's line and our servers in the slots.
func (s *scene) slotRun(n int, args ...string) *console {
	s.t.Helper()
	return &console{process: s.start("sdm", append([]string{"run", "--launcher", "slot"}, args...)...), size: n}
}

func TestRunOfAStarter(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			front := s.slotRun(4, append(hunt, "--", m.command, "-n", "4", m.program("ring"))...)
			front.exits(0)
			hunted(t, front)
		})
	}
}

// TestRunOfAStarterWithSeveralPrograms has two programs in one job.
func TestRunOfAStarterWithSeveralPrograms(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			needSeveralPrograms(t, m)
			s := newScene(t)
			front := s.slotRun(3, "-b", "-e", "continue", "--", m.command, "-n", "1", program("exitcode"), "0", ":", "-n", "2", program("work"))
			front.exits(0)
			front.folded("exited normally", "")
			front.says("rank 1: sum", "rank 2: sum")
		})
	}
}

// TestOutputOfTheStarter lets the starter write the output of its ranks. It must be the same as
// without a debugger.
func TestOutputOfTheStarter(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			alone := s.start(m.command, "-n", "2", m.program("ring"))
			alone.exits(0)
			front := s.slotRun(2, "-b", "-e", "continue", "--output", "starter", "--", m.command, "-n", "2", m.program("ring"))
			front.exits(0)
			front.folded("exited normally", "")
			for _, line := range strings.Split(strings.TrimSpace(alone.out.text()), "\n") {
				if strings.Count("\n"+front.out.text(), "\n"+line+"\n") != 1 {
					t.Errorf("%q is not in%s", line, front.said())
				}
			}
		})
	}
}

// TestTerminalsInSlots writes to ranks that have a terminal each, of which one at least is not a child
// of the server.
func TestTerminalsInSlots(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			front := s.slotRun(2, "-b", "--tty", "--stdin", "all", "--stop-at", "none", "-e", "send [0] one", "-e", "send [1] two", "-e", "wait",
				"--", m.command, "-n", "2", "sh", "-c", "read word; echo it is $word")
			front.exits(0)
			front.folded("exited normally", "")
			front.says("[0] it is one", "[1] it is two")
		})
	}
}

// TestStarterThatFails checks that the message of the starter is shown, and why nothing was
// started.
func TestStarterThatFails(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			front := s.slotRun(2, "-b", "-e", "continue", "--", m.command, "-hostfile", "no-such-file", "-n", "2", m.program("ring"))
			front.exits(3)
			front.says("no server has registered: "+m.command+" has ended with status ", "no-such-file")
		})
	}
}

// TestDetachedRanksInSlotsWriteOn checks that the starter writes the output of ranks after they are
// detached.
func TestDetachedRanksInSlotsWriteOn(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			file := s.file("there", "", 0o600)
			front := s.slotRun(2, "-b", "-e", "detach", "--", m.command, "-n", "2", m.program("mpiwait"), file)
			front.exits(0)
			front.says("2 of 2 ranks counted")
		})
	}
}

// TestDetachedRanksInSlotsRunOn checks that detached ranks run on without limit, also longer than
// closing a session may take. The exit status is theirs.
func TestDetachedRanksInSlotsRunOn(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	front := s.slotRun(2, "-b", "-e", "detach", "--", mpich.command, "-n", "2", "timeout", "11", "sleep", "100")
	front.exits(124)
}

// TestPartialRunOfSlots checks that the ranks that -r leaves out run as without a debugger.
func TestPartialRunOfSlots(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			front := s.slotRun(4, "-b", "-r", "1,3", "-e", "print 6 * 7", "-e", "continue", "--", m.command, "-n", "4", m.program("ring"))
			front.exits(0)
			front.says("[1,3] (2) 6 * 7 = 42", "\ntotal 4950")
		})
	}
}
