package e2e

import (
	"fmt"
	"strings"
)

// The three parts of N+1: the front end listens, the master connects to it, and a starter starts
// the servers.

// listen starts sdm listen for n ranks and returns its address.
func (s *scene) listen(n int, args ...string) (front *console, addr string) {
	s.t.Helper()
	front = &console{process: s.start("sdm", append([]string{"listen", "0"}, args...)...), size: n}
	line := front.after(front.err, "start it with: sdm-master --connect ")
	addr, _, _ = strings.Cut(line, " ")
	return front, addr
}

// listenNDJSON is listen for a test that types commands.
func (s *scene) listenNDJSON(n int, args ...string) (front *console, addr string) {
	s.t.Helper()
	return s.listen(n, append([]string{"--format", "ndjson"}, args...)...)
}

// rendezvous starts a master at which servers register, and returns the address.
func (s *scene) rendezvous(front string, args ...string) (master *process, addr string) {
	s.t.Helper()
	master = s.start("sdm-master", append([]string{"--connect", front, "--rendezvous", "127.0.0.1:0"}, args...)...)
	return master, master.after(master.err, "servers register at ")
}

// mpirun starts n processes in a job of MPI: "sdm-server ARG...".
func (s *scene) mpirun(m starter, n int, args ...string) *process {
	s.t.Helper()
	return s.start(m.command, append([]string{"-n", fmt.Sprint(n)}, args...)...)
}

// job is a complete N+1 whose ranks have stopped at main.
type job struct {
	front           *console
	master, starter *process
	addr            string // of the rendezvous
}

// debugged starts 4 ranks of a program by a starter, each in the slot of a server that registers at
// a rendezvous.
func (s *scene) debugged(m starter, args ...string) *job {
	s.t.Helper()
	j := &job{}
	var front string
	j.front, front = s.listenNDJSON(4)
	j.master, j.addr = s.rendezvous(front)
	j.starter = s.mpirun(m, 4, append([]string{"sdm-server", "--rendezvous", j.addr}, args...)...)
	j.front.standing()
	return j
}

// ends waits for all parts, and checks their exit statuses.
func (j *job) ends(front, master, starter int) {
	j.front.t.Helper()
	j.front.exits(front)
	j.master.exits(master)
	j.starter.exits(starter)
}
