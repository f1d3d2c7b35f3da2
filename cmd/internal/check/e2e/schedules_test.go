package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"sdm/protocol/rank"
)

// The number of random fault schedules, and the seed of the first. A failed test is named after its
// seed.
var (
	schedules    = flag.Int("schedules", 3, "random fault schedules to try on real sessions")
	scheduleSeed = flag.Uint64("schedule-seed", 0, "seed of the first of them; 0 is another one each time")
)

// TestFaultSchedules kills and freezes servers, gdbs and ranks of real sessions with 8 ranks on 4
// servers in random order, continues some of the frozen ones, sends commands meanwhile, and at the
// end of about every third session kills the front end. Before the end an answer that comes in time
// must account for all ranks. At the end no process may be left.
func TestFaultSchedules(t *testing.T) {
	t.Parallel()
	seed := seedOf(*scheduleSeed)
	for i := range *schedules {
		seed := seed + uint64(i)
		t.Run(fmt.Sprintf("-schedule-seed=%d", seed), func(t *testing.T) {
			s := newScene(t)
			faults(s, rand.New(rand.NewPCG(seed, 0)))
		})
	}
}

// faults executes one schedule.
func faults(s *scene, random *rand.Rand) {
	s.t.Helper()
	c := s.run(8, "--ranks-per-server", "2", program("spin"))
	c.do("continue &")
	c.comes("running", "0-7")
	var frozen []int // process IDs
	thaw := func() {
		for _, pid := range frozen {
			s.t.Logf("let %v go on", look(pid))
			syscall.Kill(pid, syscall.SIGCONT) // it may have ended
		}
		frozen = nil
	}
	for range 1 + random.IntN(4) {
		r := random.IntN(8)
		sig, verb := syscall.SIGKILL, "kill"
		if random.IntN(3) == 0 {
			sig, verb = syscall.SIGSTOP, "freeze"
		}
		if what, pid := victim(s, c, r, random.IntN(3)); pid != 0 { // else it has ended already
			s.t.Logf("%s the %s of rank %d", verb, what, r)
			syscall.Kill(pid, sig) // it may have ended just now
			if sig == syscall.SIGSTOP {
				frozen = append(frozen, pid)
			}
		}
		switch random.IntN(8) {
		case 0, 1, 2:
			accounted(c)
		case 3:
			thaw()
		case 4, 5:
			line := []string{"interrupt", "continue &", "next &", "break spin.c:14", "print turns", "stacks"}[random.IntN(6)]
			s.t.Log(line)
			c.do("wait=2s " + line)
		}
	}
	accounted(c)
	if random.IntN(3) == 0 {
		thaw() // or they could not be ended
		s.t.Log("kill the front end")
		c.signal(syscall.SIGKILL)
		c.exits(128 + int(syscall.SIGKILL))
		return // the end of the scene finds processes that are left
	}
	if random.IntN(2) == 0 {
		thaw()
	}
	s.t.Log("quit")
	c.typed("quit 0")
	c.status(patience)
}

// victim returns a process that belongs to a rank: its server, its gdb, or itself; 0 if it has
// ended. The ID of an ended process may be in use by another test.
func victim(s *scene, c *console, r, kind int) (what string, pid int) {
	itself := look(c.pids()[r])
	if !slices.ContainsFunc(s.named("spin"), func(p proc) bool { return p.pid == itself.pid }) {
		return "", 0
	}
	switch kind {
	case 0:
		if p := look(itself.parent); p.name == "sdm-server" {
			return "server", p.pid
		}
	case 1:
		if p := look(itself.tracer); p.name == "gdb" {
			return "gdb", p.pid
		}
	case 2:
		return "process", itself.pid
	}
	return "", 0
}

// accounted sends all ranks a request that needs no stop, and checks that the answer comes in time
// and mentions each of them.
func accounted(c *console) {
	c.t.Helper()
	a := c.do("wait=3s [all] info threads")
	c.within(a, 3*time.Second)
	var told rank.Set
	for _, e := range a.events {
		told = told.Union(set(e.Ranks))
	}
	if want := rank.Range(0, 7); a.done.Asked != 8 || !want.Minus(told).IsEmpty() {
		c.t.Errorf("not everybody is accounted for, only [%v]: %s\n%s", told, a, a.done.text)
	}
}
