package e2e

import (
	"strings"
	"syscall"
	"testing"
)

// TestKilledUnderAStarter kills one part of an N+1 whose ranks run.
func TestKilledUnderAStarter(t *testing.T) {
	t.Parallel()
	for n, m := range starters {
		for i, k := range []struct {
			name string
			kill func(s *scene, j *job)
		}{
			{"a rank", killedRank},
			{"a gdb", killedSlotGDB},
			{"a server", killedSlot},
			{"the master", killedSDMMaster},
			{"the front end", killedFrontEnd},
			{"the starter, kindly", endedStarter},
			{"the starter", killedStarter},
		} {
			if !inTurn(i, n) {
				continue
			}
			t.Run(m.name+" "+k.name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				j := s.debugged(m, "--", program("spin"))
				j.front.has(j.front.do("continue &"), "reply", "0-3")
				j.front.turn()
				k.kill(s, j)
				s.nothingIsLeft()
			})
		}
	}
}

// stillAnswers stops the ranks and sends them a request.
func (j *job) stillAnswers(ranks string) {
	j.front.t.Helper()
	c := j.front
	c.has(c.do("["+ranks+"] interrupt"), "reply", ranks)
	c.comes("stopped", ranks)
	c.answers(ranks)
}

func killedRank(s *scene, j *job) {
	s.kill(j.front.pids()[2], syscall.SIGKILL)
	j.front.comes("signalled", "2")
	j.stillAnswers("0-1,3")
	if got := j.front.ranksOf("lost"); got != "" {
		s.t.Errorf("lost: %s", got)
	}
	if !j.starter.running() {
		s.t.Error("the starter has ended the job")
	}
	j.front.typed("quit 0")
	j.ends(0, 0, 128+int(syscall.SIGKILL))
}

func killedSlotGDB(s *scene, j *job) {
	s.kill(j.front.gdbOf(2), syscall.SIGKILL)
	j.front.takenOver("2")
	j.stillAnswers("0-3")
	j.front.typed("quit 0")
	j.ends(0, 0, 128+int(syscall.SIGKILL))
}

// killedSlot kills a slot: the starter ends the whole job when one of its processes is killed.
func killedSlot(s *scene, j *job) {
	s.kill(j.front.serverOf(0), syscall.SIGKILL)
	e := j.front.await("lost of 0", func(e event) bool { return e.Event == "lost" && set(e.Ranks).Contains(0) })
	if e.Cause == "" {
		s.t.Errorf("lost without a cause: %s", e.text)
	}
	j.starter.fails()
	j.front.typed("quit 0")
	j.front.exits(0)
	j.master.exits(0)
}

func killedSDMMaster(s *scene, j *job) {
	j.master.signal(syscall.SIGKILL)
	j.front.exits(1)
	j.front.says("the session has ended")
	j.starter.fails()
}

func killedFrontEnd(s *scene, j *job) {
	j.front.signal(syscall.SIGKILL)
	j.master.exits(1)
	j.master.says("the front end is gone")
	j.starter.fails()
}

func endedStarter(s *scene, j *job) {
	j.starter.signal(syscall.SIGTERM)
	j.front.await("word of the end", func(e event) bool {
		return e.Event == "job" && strings.Contains(e.Text, "the starter is ending the job (SIGTERM)") ||
			e.Event == "lost" && killsAtOnce(j.starter.name)
	})
	switch got := j.starter.status(patience); {
	case got == 128+int(syscall.SIGKILL): // of the slots, which exit as their ranks do
	case got != 0 && j.starter.name == openMPI.command: // mpirun's own
	case got == 0 && j.starter.name == mpich.command:
		// Hydra combines the statuses of the slots that its proxies report by "or", and
		// ignores a proxy that has not reported (mpiexec.c): with one host that leaves 0. A
		// slot that had not ended in order would yield another number.
	default:
		s.t.Errorf("the starter has ended with status %d%s", got, j.starter.said())
	}
	j.front.typed("quit 0")
	j.front.exits(0)
}

func killedStarter(s *scene, j *job) {
	j.starter.signal(syscall.SIGKILL)
	j.front.typed("quit 0")
	j.front.exits(0)
	j.master.exits(0)
}
