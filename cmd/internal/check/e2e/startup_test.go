package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server starts one server of a job by hand, as a starter would.
func (s *scene) server(number, size int, args ...string) *process {
	s.t.Helper()
	return s.start("sdm-server", append([]string{"--server", fmt.Sprint(number), "--size", fmt.Sprint(size)}, args...)...)
}

// TestServerThatNeverComes checks that the missing server and the time are reported, and that the
// others end.
func TestServerThatNeverComes(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			// This is enough time for the other three, on a busy machine, too.
			front, addr := s.listen(4, "-b", "-e", "continue", "--connect-wait", "10s")
			master, meet := s.rendezvous(addr, "--servers", "4")
			starter := s.mpirun(m, 3, "sdm-server", "--rendezvous", meet, "--", program("spin"))
			front.exits(4)
			front.says("sdm: server 3 of 4 never registered: none came in 10s")
			master.exits(4)
			master.says("sdm-master: server 3 of 4 never registered: none came in 10s")
			starter.fails()
		})
	}
}

// TestServerThatIsNotThere is the same with a routing file.
func TestServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	base := s.freePort()
	routes := s.file("routes", fmt.Sprintf("2\n0 127.0.0.1 %d\n1 127.0.0.1 %d\n", base, base), 0o600)
	front, addr := s.listen(2, "-b", "-e", "continue", "--connect-wait", "1s")
	master := s.start("sdm-master", "--connect", addr, "--routing-file", routes)
	s.server(0, 2, "--port", fmt.Sprint(base), "--", program("spin"))
	front.exits(4)
	front.says("1 of 2 servers are not ready: server 1 on 127.0.0.1: ")
	master.exits(4)
}

func TestRefusedServers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	front, addr := s.listenNDJSON(2)
	master, meet := s.rendezvous(addr, "--servers", "2")
	program := []string{"--rendezvous", meet, "--", program("spin")}
	s.server(0, 2, program...)
	front.await("the first server", func(e event) bool { return e.Text == "1 of 2 ranks have a server" })

	double := s.server(0, 2, program...)
	double.exits(4)
	double.says("sdm-server: register with the master: ", "two processes have registered as server 0: process ")
	beyond := s.server(2, 2, program...)
	beyond.exits(4)
	beyond.says("server 2 on ", "is beyond the 2 that the master waits for, 0-1 (is --servers right?)")

	s.server(1, 2, program...)
	front.standing()
	late := s.server(1, 2, program...)
	late.exits(4)
	late.says("server 1 on ", "has registered too late: the tree is built")
	front.quit()
	master.exits(0)
}

// TestWrongSecret checks that a process with another secret learns nothing of the others, and is
// told what may be wrong.
func TestWrongSecret(t *testing.T) {
	t.Parallel()
	ours := func(s *scene) string { return s.secret("ours", "a") }
	theirs := func(s *scene) string { return s.secret("theirs", "b") }
	t.Run("of a server", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		front, addr := s.listen(2, "-b", "-e", "continue", "--secret-file", ours(s), "--connect-wait", "2s")
		master, meet := s.rendezvous(addr, "--secret-file", ours(s), "--servers", "2")
		good := s.server(0, 2, "--secret-file", ours(s), "--rendezvous", meet, "--", program("spin"))
		bad := s.server(1, 2, "--secret-file", theirs(s), "--rendezvous", meet, "--connect-wait", "1s", "--", program("spin"))
		bad.exits(4)
		bad.says("sdm-server: register with the master: "+meet, "wrong secret")
		front.exits(4)
		front.says("server 1 of 2 never registered")
		master.exits(4)
		good.exits(4)
		good.says("the master that this server has registered with is gone")
	})
	t.Run("of the master", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		front, addr := s.listen(1, "-b", "-e", "continue", "--secret-file", ours(s), "--timeout", "3s")
		master := s.start("sdm-master", "--connect", addr, "--secret-file", theirs(s), "--rendezvous", "127.0.0.1:0")
		master.exits(4)
		master.says("sdm-master: front end at "+addr+": ", "secret")
		front.exits(124) // it goes on waiting for the right one
	})
}

// TestNoFrontEnd checks that the master tries 10 times and reports where and why.
func TestNoFrontEnd(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	addr := fmt.Sprintf("127.0.0.1:%d", s.freePort())
	began := time.Now()
	master := s.start("sdm-master", "--connect", addr, "--connect-wait", "3s", "--log-level", "debug")
	master.exits(4)
	master.says("sdm-master: front end at "+addr+": ", "connection refused (10 tries in ", "try=10")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestOpenSecret checks that a file that others can read is refused by all programs that use one.
func TestOpenSecret(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	secret := s.secret("secret", "a")
	chmod(t, secret, 0o640)
	for _, p := range []*process{
		s.start("sdm", "listen", "0", "-b", "-e", "quit", "--secret-file", secret),
		s.start("sdm-master", "--connect", "127.0.0.1:1", "--secret-file", secret),
		s.server(0, 1, "--rendezvous", "127.0.0.1:1", "--secret-file", secret),
		s.server(0, 1, "--port", "20000", "--secret-file", secret),
	} {
		if got := p.status(patience); got == 0 {
			t.Errorf("%v took it", p.cmd.Args)
		}
		p.says("secret file "+secret+": others may read or write it, mode 0640", "chmod 600")
	}
}

// TestOtherVersion has a server of another version. The one that refuses reports both versions, and
// where they are.
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	t.Run("of the front end", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		i := s.ideAt("tcp", "127.0.0.1:0")
		master := s.start("sdm-master", "--connect", i.listener.Addr().String(), "--plaintext")
		i.accept()
		no := i.call("hello", map[string]any{"version": 2, "challenge": strings.Repeat("b", 64)})
		if no.Error == nil || no.Error.Code != -32000 || !strings.Contains(no.Error.Message, "the front end speaks version 2, this master version 1") {
			t.Errorf("hello: %+v %s", no.Error, no.Result)
		}
		master.exits(4)
		master.says("the front end speaks version 2, this master version 1")
	})
	if !*later {
		return
	}
	versions := []string{"sdm-master speaks version 4", "sdm-server-later speaks version 5", "install the same build on all hosts"}
	t.Run("at the rendezvous", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		front, addr := s.listen(1, "-b", "-e", "quit", "--connect-wait", "2s")
		master, meet := s.rendezvous(addr, "--servers", "1")
		server := s.start("sdm-server-later", "--server", "0", "--rendezvous", meet)
		server.exits(4)
		server.says(versions...)
		front.exits(4)
		master.exits(4)
	})
	t.Run("in the routes", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		base := fmt.Sprint(s.freePort())
		server := s.start("sdm-server-later", "--server", "0", "--port", base, "--log-level", "info")
		server.after(server.err, "listening")
		front, addr := s.listen(1, "-b", "-e", "quit", "--connect-wait", "20s")
		began := time.Now()
		master := s.start("sdm-master", "--connect", addr, "--generate-routes", "127.0.0.1", "--port", base)
		front.exits(4)
		front.says(append(versions, "1 of 1 servers are not ready: server 0 on 127.0.0.1: ")...)
		master.exits(4)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v: that cannot be healed by waiting", took)
		}
		server.signal(syscall.SIGTERM)
		server.status(patience)
	})
}
