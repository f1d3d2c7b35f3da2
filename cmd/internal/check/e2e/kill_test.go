package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// layouts are the ways in which sdm run distributes ranks over servers. With one server for each of
// 4 ranks, servers 0 and 3 are leaves below the root, and server 1 has server 2 below it.
var layouts = []struct {
	name string
	args []string
}{
	{"one server", nil},
	{"a server for each rank", []string{"--ranks-per-server", "1"}},
}

// spinning starts a session whose ranks run without end.
func spinning(s *scene, args ...string) *console {
	s.t.Helper()
	c := s.run(4, append(args, program("spin"))...)
	a := c.do("continue &")
	c.has(a, "reply", "0-3")
	return c
}

// kill sends a signal to a process by its number.
func (s *scene) kill(pid int, sig syscall.Signal) {
	s.t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		s.t.Fatalf("kill %d: %v", pid, err)
	}
	if sig == syscall.SIGSTOP {
		s.standsStill(pid)
	}
}

// standsStill waits until every thread of a process is stopped. On a busy machine some run on for a
// while after the signal.
func (s *scene) standsStill(pid int) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		running := false
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, task := range tasks {
			stat, err := os.ReadFile(task)
			_, state, _ := strings.Cut(string(stat), ") ")
			running = running || err == nil && !strings.HasPrefix(state, "T")
		}
		if !running {
			return
		}
		runtime.Gosched()
	}
	s.t.Fatalf("process %d does not stop", pid)
}

// answers checks that exactly these ranks still answer.
func (c *console) answers(ranks string) {
	c.t.Helper()
	a := c.do("[" + ranks + "] print turns >= 0")
	c.has(a, "reply", ranks, `"1"`)
}

// within checks that an answer has come within the wait of the call, with a tolerance for busy
// machines.
func (c *console) within(a answer, wait time.Duration) {
	c.t.Helper()
	if a.took > wait+3*time.Second {
		c.t.Errorf("the answer took %v, with a wait of %v: %s", a.took, wait, a)
	}
}

func TestKilledRanksAndGDBs(t *testing.T) {
	t.Parallel()
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			c := spinning(s, l.args...)

			c.turn()
			s.kill(c.pids()[3], syscall.SIGKILL)
			if e := c.comes("signalled", "3"); e.Signal != "SIGKILL" || e.Ranks != "3" {
				t.Errorf("a rank that was killed while it ran: %s", e.text)
			}
			c.has(c.do("[0-2] interrupt"), "reply", "0-2")
			c.comes("stopped", "0-2")
			c.answers("0-2")

			c.turn()
			s.kill(c.pids()[2], syscall.SIGKILL)
			if e := c.comes("signalled", "2"); e.Signal != "SIGKILL" || e.Ranks != "2" {
				t.Errorf("a rank that was killed while it stood: %s", e.text)
			}
			c.answers("0-1")

			c.turn()
			s.kill(c.gdbOf(1), syscall.SIGKILL)
			c.takenOver("1")
			c.comes("stopped", "1")
			c.answers("0-1")
			a := c.do("print turns")
			c.has(a, "error", "2-3")
			c.has(a, "reply", "0-1")
			c.quit()
		})
	}
}

func TestKilledGDBOfARunningRank(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := spinning(s)
	c.turn()
	s.kill(c.gdbOf(1), syscall.SIGKILL)
	c.takenOver("1")
	c.has(c.do("interrupt"), "reply", "0-3")
	c.comes("stopped", "0-3")
	c.answers("0-3")
	c.quit()
}

// takenOver waits until another gdb has taken over the ranks of one that was killed.
func (c *console) takenOver(ranks string) {
	c.t.Helper()
	if e := c.comes("note", ranks); !strings.Contains(e.Text, "gdb died (killed by SIGKILL); another one has taken the rank over") {
		c.t.Errorf("a gdb that was killed: %s", e.text)
	}
}

func TestHungGDB(t *testing.T) {
	t.Parallel()
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			c := s.run(4, append(l.args, program("spin"))...)
			c.answers("0-3") // so that gdb has finished the work of the start
			s.kill(c.gdbOf(2), syscall.SIGSTOP)
			const wait = time.Second
			a := c.do("wait=1s print 6*7")
			c.has(a, "reply", "0-1,3")
			c.within(a, wait)
			c.has(a, "error", "2", "gdb has not answered", "print 6*7")
			// A script interrupts what only looks, which continues this gdb: the next command is answered.
			c.answers("0-3")
			a = c.do("[2] kill")
			c.has(a, "reply", "2")
			c.comes("signalled", "2")
			c.quit()
		})
	}
}

func TestKilledServer(t *testing.T) {
	t.Parallel()
	each := []string{"--ranks-per-server", "1"}
	for _, tt := range []struct {
		name       string
		args       []string
		of         int // its server is killed
		lost, rest string
	}{
		{"the only one", nil, 1, "0-3", ""},
		{"a leaf", each, 0, "0", "1-3"},
		{"an inner one", each, 1, "1", "0,2-3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			c := s.run(4, append(tt.args, program("spin"))...)
			c.turn()
			s.kill(c.serverOf(tt.of), syscall.SIGKILL)
			c.comes("lost", tt.lost)
			for _, e := range c.seen[c.mark:] {
				if e.Event == "lost" && (!strings.HasSuffix(e.Cause, "closed by the other side") || len(e.Hosts) != 1) {
					t.Errorf("lost without cause or host: %s", e.text)
				}
			}
			if tt.rest != "" {
				c.answers(tt.rest)
			}
			a := c.do("print turns")
			c.has(a, "reply", tt.rest)
			c.has(a, "lost", tt.lost, "closed by the other side", `"hosts":["`)
			c.within(a, 0)
			if a.done.Lost != tt.lost || a.done.Asked != 4 {
				t.Errorf("not everybody is accounted for: %s", a)
			}
			c.quit()
		})
	}
}

func TestHungServer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.run(4, "--wait", "2s", "--ranks-per-server", "1", program("spin"))
	s.kill(c.serverOf(1), syscall.SIGSTOP)
	const wait = time.Second
	a := c.do("wait=1s print turns")
	c.has(a, "reply", "0,3")
	c.has(a, "missing", "1-2", `"waited":"1s"`, `"hosts":["`)
	c.within(a, wait)
	c.answers("0,3")

	c.turn()
	s.kill(c.serverOf(1), syscall.SIGCONT)
	late := 0
	c.await("late answers", func(e event) bool {
		if e.ID == a.done.ID && e.Late {
			late += e.N
		}
		return late == 2
	})
	c.answers("0-3")
	s.kill(c.serverOf(1), syscall.SIGSTOP)
	c.typed("quit 0")
	c.exits(0)
	c.says("sdm: server 1 (pid ", "it did not end by itself")
}

func TestKilledMaster(t *testing.T) {
	t.Parallel()
	for _, l := range layouts {
		for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
			t.Run(l.name+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				c := spinning(s, l.args...)
				c.signal(sig)
				c.exits(128 + int(sig))
				s.nothingIsLeft()
				if sig == syscall.SIGTERM {
					c.says("sdm: ended by SIGTERM")
				}
			})
		}
	}
}
