package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// hunt is the session in which a user finds the bug of ring.c.
var hunt = []string{
	"-b", "-e", "break sum", "-e", "continue", "-e", "print mine->last - mine->first", "-e", "print *mine",
	"-e", "stacks", "-e", "finish", "-e", "delete", "-e", "continue",
}

// hunted checks what the user has seen: equal output of ranks is one line. Stops and ends may be
// several lines on a busy machine.
func hunted(t *testing.T, front *console) {
	t.Helper()
	front.folded("main (argc=1, argv=", " at ring.c:"+strconv.Itoa(lineOf(t, "ring.c", "MPI_Init(")))
	front.folded("Breakpoint 1, sum (mine=", " at ring.c:"+strconv.Itoa(lineOf(t, "ring.c", "long s = 0;")))
	front.folded("exited normally", "")
	text := front.out.text()
	for _, want := range []string{
		"[0-3] Breakpoint 1 at ring.c:",
		"[0-2] (3) mine->last - mine->first = 25\n[3] mine->last - mine->first = 24\n",
		"[0-3] *mine = {first = <1 [0], 26 [1], 51 [2], 76 [3]>, last = <26 [0], 51 [1], 76 [2], 100 [3]>}  (4 values; expand for all)\n",
		fmt.Sprintf("[0-3] (4) main ring.c:%d\n└─ sum ring.c:", lineOf(t, "ring.c", "sum(&mine)")),
		"[0] total 4950, expected 5050: wrong\n",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q came %d times in\n%s", want, strings.Count(text, want), text)
		}
	}
	if !strings.Contains(text, "Value returned is ") {
		t.Errorf("finish has told no value:\n%s", text)
	}
}

// ways are the ways in which master and servers find one another. Each starts both, the servers in
// the slots of the 4 ranks of a job.
var ways = []struct {
	name  string
	start func(s *scene, m starter, front string) (master, job *process)
}{
	{"rendezvous", func(s *scene, m starter, front string) (master, job *process) {
		master, meet := s.rendezvous(front)
		return master, s.mpirun(m, 4, "sdm-server", "--rendezvous", meet, "--", m.program("ring"))
	}},
	// The way of the original SDM: all have the same base port, and those on one host take the
	// next ports.
	{"routing file", func(s *scene, m starter, front string) (master, job *process) {
		base := s.freePort()
		routes := fmt.Sprintf("4\n0 localhost %[1]d\n1 localhost %[1]d\n2 localhost %[1]d\n3 localhost %[1]d\n", base)
		master = s.start("sdm-master", "--connect", front, "--routing-file", s.file("routes", routes, 0o600))
		return master, s.mpirun(m, 4, "sdm-server", "--port", fmt.Sprint(base), "--", m.program("ring"))
	}},
	{"generated routes", func(s *scene, m starter, front string) (master, job *process) {
		base := fmt.Sprint(s.freePort())
		master = s.start("sdm-master", "--connect", front, "--generate-routes", "localhost", "--port", base, "--servers", "4", "--tree", "flat")
		return master, s.mpirun(m, 4, "sdm-server", "--port", base, "--", m.program("ring"))
	}},
}

// TestMPI is N+1 as a user types it: the starter starts a server in the slot of each rank, and the
// ranks still find their job, by environment and by inherited descriptors.
func TestMPI(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		for _, w := range ways {
			t.Run(m.name+" "+w.name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				front, addr := s.listen(4, hunt...)
				master, starter := w.start(s, m, addr)
				(&job{front: front, master: master, starter: starter}).ends(0, 0, 0)
				hunted(t, front)
			})
		}
	}
}

// TestLaunchBringsTheProgram starts servers without a program. The front end names it.
func TestLaunchBringsTheProgram(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			front, addr := s.listen(4, append(hunt, "--", m.program("ring"))...)
			master, meet := s.rendezvous(addr)
			(&job{front: front, master: master, starter: s.mpirun(m, 4, "sdm-server", "--rendezvous", meet)}).ends(0, 0, 0)
			hunted(t, front)
		})
	}
}

// TestStatusOfTheRanksReachesTheStarter has ranks that fail: a slot exits as its rank did.
func TestStatusOfTheRanksReachesTheStarter(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			front, addr := s.listen(2, "-b", "-e", "continue")
			master, meet := s.rendezvous(addr)
			starter := s.mpirun(m, 2, "sdm-server", "--rendezvous", meet, "--", program("exitcode"), "3")
			(&job{front: front, master: master, starter: starter}).ends(1, 0, 3)
			front.folded("exited with code 3", "")
		})
	}
}
