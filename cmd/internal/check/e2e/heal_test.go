package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"sdm/protocol/rank"
)

// eight are the flags for a server for each of eight ranks. Server 3 has servers 4, 5 and 6 below
// it, and 6 is below 5.
var eight = []string{"--ranks-per-server", "1"}

// An inner server is killed: the ranks below it go on, and their output arrives exactly once.
func TestOutputSurvivesAServer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const lines = 20_000
	c := s.run(8, append(eight, program("flood"), fmt.Sprint(lines), "0")...)
	victim := c.serverOf(3)
	c.typed("continue &")
	c.await("output", func(e event) bool { return e.Event == "output" && set(e.Ranks).Intersects(rank.Range(3, 6)) })
	s.kill(victim, syscall.SIGKILL)
	c.comes("lost", "3")
	ended := set(c.ranksOf("exited")).Contains(3)
	if !ended {
		if e := c.comes("note", "3"); !strings.Contains(e.Text, "output of rank 3 may be incomplete") {
			t.Errorf("what the server took with it: %s", e.text)
		}
	}
	c.comes("exited", "0-2,4-7")
	// A line may come in pieces if a rank is delayed in the middle of it.
	var all strings.Builder
	for i := range lines {
		fmt.Fprintf(&all, "out %d\n", i+1)
	}
	heard := map[rank.ID]*strings.Builder{}
	for r := range rank.Range(0, 7).All() {
		heard[r] = &strings.Builder{}
	}
	for _, e := range c.seen {
		if e.Event == "output" {
			for r := range set(e.Ranks).All() {
				heard[r].WriteString(e.Text)
			}
		}
	}
	for r, text := range heard {
		if !strings.HasPrefix(all.String(), text.String()) || r != 3 && text.Len() < all.Len() {
			t.Errorf("rank %d: %d bytes of %d, or not these", r, text.Len(), all.Len())
		}
	}
	c.last = c.await("the end of continue", func(e event) bool { return e.Event == "done" }).ID
	a := c.do("ranks")
	c.has(a, "reply", "0-7")
	if !ended && !strings.Contains(a.String(), `"ranks":"3","n":1,"result":{"state":"lost","cause":"server 3 on `) {
		t.Errorf("the table of ranks: %s", a)
	}
	c.quit()
}

// Parent and child are killed together. The ranks of the servers below them answer.
func TestParentAndChildKilled(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.run(8, append(eight, program("spin"))...)
	c.turn()
	parent, child := c.serverOf(3), c.serverOf(5)
	s.kill(parent, syscall.SIGKILL)
	s.kill(child, syscall.SIGKILL)
	c.comes("lost", "3,5")
	c.answers("0-2,4,6-7")
	a := c.do("print turns")
	c.has(a, "reply", "0-2,4,6-7")
	c.has(a, "lost", "3,5")
	c.turn()
	s.kill(c.serverOf(7), syscall.SIGKILL)
	c.comes("lost", "7")
	c.answers("0-2,4,6")
	c.quit()
}

// A request that waits in a server when that is killed is answered by the servers below it.
func TestRequestSurvivesAServer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.run(8, append(eight, program("spin"))...)
	victim := c.serverOf(3)
	s.kill(victim, syscall.SIGSTOP)
	c.typed("wait=none print turns >= 0")
	c.await("the answers of those not behind it", func(e event) bool { return e.Event == "reply" || e.Event == "done" })
	s.kill(victim, syscall.SIGKILL)
	done := c.await("done", func(e event) bool { return e.Event == "done" && e.ID > c.last })
	c.last = done.ID
	if done.Answered != 7 || done.Lost != "3" {
		t.Errorf("not everybody is accounted for: %s", done.text)
	}
	c.answers("0-2,4-7")
	c.quit()
}

// A frozen server is given up. When it is continued, it ends with its rank. The session continues
// without it.
func TestFrozenServerLeaves(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.run(8, append(eight, "--heartbeat", "1s", "--silence", "5s", program("spin"))...)
	c.turn()
	frozen, pid := c.serverOf(3), c.pids()[3]
	s.kill(frozen, syscall.SIGSTOP)
	if e := c.comes("lost", "3"); !strings.Contains(e.Cause, "silent for") {
		t.Errorf("a frozen server: %s", e.text)
	}
	c.answers("0-2,4-7")
	s.kill(frozen, syscall.SIGCONT)
	s.eventually(patience, func() string {
		for _, p := range s.found() {
			if p.pid == frozen || p.pid == pid {
				return fmt.Sprintf("the server that was given up, or its rank, is still there: %v", p)
			}
		}
		return ""
	})
	c.answers("0-2,4-7")
	c.quit()
}

// A server that is frozen when the master is killed keeps the servers below it for ten times the
// silence, and no longer. When it is continued, it ends, too.
func TestFrozenServerWithoutAMaster(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.run(8, append(eight, "--heartbeat", "1s", "--silence", "2s", program("spin"))...)
	c.turn()
	frozen, pids := c.serverOf(3), c.pids()
	s.kill(frozen, syscall.SIGSTOP)
	c.signal(syscall.SIGKILL)
	c.exits(128 + int(syscall.SIGKILL))
	s.eventually(2*patience, func() string { // they wait for 20 s
		for _, p := range s.found() {
			if p.name == "sdm-server" && p.pid != frozen || p.name == "spin" && p.pid != pids[3] {
				return fmt.Sprintf("%v is still there", p)
			}
		}
		return ""
	})
	s.kill(frozen, syscall.SIGCONT)
	s.nothingIsLeft()
}

// Servers that are started one by one also listen, and are adopted.
func TestServersOfAnN1AreAdopted(t *testing.T) {
	t.Parallel()
	for _, way := range []struct {
		name  string
		start func(s *scene, front string) (master *process)
	}{
		{"rendezvous", func(s *scene, front string) *process {
			master, meet := s.rendezvous(front, "--servers", "4")
			for i := range 4 {
				s.server(i, 4, "--rendezvous", meet, "--", program("spin"))
			}
			return master
		}},
		{"routing file", func(s *scene, front string) *process {
			base, routes := s.freePort(), "4\n"
			for i := range 4 {
				s.server(i, 4, "--port", fmt.Sprint(base), "--", program("spin"))
				routes += fmt.Sprintf("%d 127.0.0.1 %d\n", i, base)
			}
			return s.start("sdm-master", "--connect", front, "--routing-file", s.file("routes", routes, 0o600))
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			c, addr := s.listenNDJSON(4)
			master := way.start(s, addr)
			c.standing()
			c.turn()
			s.kill(c.serverOf(1), syscall.SIGKILL)
			c.comes("lost", "1")
			c.answers("0,2-3")
			c.quit()
			master.exits(0)
		})
	}
}

// With --when-lost detach the ranks outlive sdm.
func TestRanksOutliveTheMaster(t *testing.T) {
	t.Parallel()
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			c := spinning(s, append([]string{"--when-lost", "detach"}, l.args...)...)
			pids := c.pids()
			c.signal(syscall.SIGKILL)
			c.exits(128 + int(syscall.SIGKILL))
			s.eventually(patience, func() string {
				if gdbs := s.named("gdb"); len(gdbs) > 0 {
					return fmt.Sprintf("gdbs are left: %v", gdbs)
				}
				return ""
			})
			for r, pid := range pids {
				if p := look(pid); p.name != "spin" || p.tracer != 0 {
					t.Errorf("rank %d does not run on by itself: %v", r, p)
				}
				syscall.Kill(pid, syscall.SIGKILL)
			}
			s.nothingIsLeft()
		})
	}
}
