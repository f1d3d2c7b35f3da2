package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// TestKilledWhileItStarts kills sdm at various points of the start.
func TestKilledWhileItStarts(t *testing.T) {
	t.Parallel()
	for _, l := range layouts {
		for _, at := range []struct{ name, process string }{
			{"when there is a server", "sdm-server"},
			{"when there is a rank", "spin"},
			{"when there is a gdb", "gdb"},
		} {
			t.Run(l.name+" "+at.name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				p := s.start("sdm", append(append([]string{"run", "-n", "4"}, l.args...), program("spin"))...)
				s.eventually(patience, func() string {
					if len(s.named(at.process)) == 0 {
						return "there is no " + at.process
					}
					return ""
				})
				p.signal(syscall.SIGKILL)
				p.exits(128 + int(syscall.SIGKILL))
				s.nothingIsLeft()
			})
		}
	}
}

// TestStarterEndsTheJobWhileServersRegister ends the job while servers wait for a master that does
// not exist, or that waits for further servers.
func TestStarterEndsTheJobWhileServersRegister(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		for _, there := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, master there: %v", m.name, there), func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				meet := fmt.Sprintf("127.0.0.1:%d", s.freePort())
				if there {
					_, addr := s.listen(3)
					_, meet = s.rendezvous(addr, "--servers", "3")
				}
				job := s.mpirun(m, 2, "sdm-server", "--rendezvous", meet, "--log-level", "info", "--", program("spin"))
				s.eventually(patience, func() string {
					if n := strings.Count(job.err.text(), "msg=listening"); n < 2 {
						return fmt.Sprintf("%d of 2 servers listen", n)
					}
					return ""
				})
				job.signal(syscall.SIGTERM)
				job.status(patience)
				s.eventually(leftoverTime, func() string {
					if left := s.named("sdm-server"); len(left) > 0 {
						return fmt.Sprintf("they are left: %v", left)
					}
					return ""
				})
				for _, p := range s.processes {
					p.cmd.Process.Signal(syscall.SIGTERM) // the starter has ended already
					p.status(patience)
				}
			})
		}
	}
}

// TestMasterGoesWhileServersRegister checks that registered servers end with the master.
func TestMasterGoesWhileServersRegister(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		for _, who := range []string{"the master", "the front end"} {
			t.Run(m.name+" "+who, func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				front, addr := s.listenNDJSON(3)
				master, meet := s.rendezvous(addr, "--servers", "3")
				job := s.mpirun(m, 2, "sdm-server", "--rendezvous", meet, "--", program("spin"))
				front.await("both servers", func(e event) bool { return e.Text == "2 of 3 ranks have a server" })
				if who == "the master" {
					master.signal(syscall.SIGKILL)
					front.exits(4)
				} else {
					front.signal(syscall.SIGKILL)
					master.exits(1)
				}
				job.fails()
				job.says("the master that this server has registered with is gone")
			})
		}
	}
}
