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

// How many random fault schedules are tried, and from which seed on: a failure
// tells the one that it had.
var (
	schedules    = flag.Int("schedules", 3, "random fault schedules to try on real sessions")
	scheduleSeed = flag.Uint64("schedule-seed", 0, "seed of the first of them; 0 is another one each time")
)

// TestFaultSchedules kills and freezes servers, gdbs and ranks of real sessions with 8 ranks
// on 4 servers in random order, lets some of the frozen go on, gives commands meanwhile, and at the end, every third
// time, kills the front end. After each all ranks are accounted for by an answer that comes in time; at the
// end nothing is left.
func TestFaultSchedules(t *testing.T) {
	seed := *scheduleSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	for i := range *schedules {
		seed := seed + uint64(i)
		t.Run(fmt.Sprintf("-schedule-seed=%d", seed), func(t *testing.T) {
			s := newScene(t)
			faults(s, rand.New(rand.NewPCG(seed, 0)))
		})
	}
}

// faults is one schedule.
func faults(s *scene, random *rand.Rand) {
	s.t.Helper()
	c := s.run(8, "--ranks-per-server", "2", program("spin"))
	c.do("continue &")
	c.comes("running", "0-7")
	var frozen []int // processes
	thaw := func() {
		for _, pid := range frozen {
			s.t.Logf("let %v go on", look(pid))
			syscall.Kill(pid, syscall.SIGCONT) // it may have gone
		}
		frozen = nil
	}
	for range 1 + random.IntN(4) {
		r := random.IntN(8)
		sig, verb := syscall.SIGKILL, "kill"
		if random.IntN(3) == 0 {
			sig, verb = syscall.SIGSTOP, "freeze"
		}
		if what, pid := victim(s, c, r, random.IntN(3)); pid != 0 { // else it is gone already
			s.t.Logf("%s the %s of rank %d", verb, what, r)
			syscall.Kill(pid, sig) // it may have gone just now
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
		thaw() // or nobody could end them
		s.t.Log("kill the front end")
		c.signal(syscall.SIGKILL)
		c.exits(128 + int(syscall.SIGKILL))
		return // the end of the scene looks for orphans
	}
	if random.IntN(2) == 0 {
		thaw()
	}
	s.t.Log("quit")
	c.typed("quit 0")
	c.status(patience)
}

// victim is a process of a rank's: its server, its gdb, or itself; 0 when it has
// none any more. The number of one that has ended may be that of another test's by now.
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

// accounted asks all ranks for something that needs no stop, and checks that the
// answer comes and tells of each of them.
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
