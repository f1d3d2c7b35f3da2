// Sessions that front ends leave and join.

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const leavePrompt = "Quit anyway? (y, n, or leave and come back later) "

// begun starts a session of four ranks at a terminal and lets them run.
func (s *scene) begun(args ...string) *terminal {
	s.t.Helper()
	c := s.sit("sdm", append(append([]string{"run", "-n", "4", "--fold", "20s"}, args...), program("spin"))...)
	c.until("[0-3] main () at spin.c:")
	c.until(prompt)
	c.enter("continue")
	c.until(prompt)
	return c
}

// joined runs a script in the session and returns what it has written.
func (s *scene) joined(args ...string) string {
	s.t.Helper()
	p := s.start("sdm", append([]string{"join", "-b"}, args...)...)
	p.exits(0)
	return p.out.text() + p.err.text()
}

// stateFiles returns the files of sessions.
func (s *scene) stateFiles() []string {
	files, _ := filepath.Glob(filepath.Join(s.dir, ".local/state/sdm/sessions/*.json"))
	return files
}

// sessionProcess returns the process that holds the session.
func (s *scene) sessionProcess() int {
	s.t.Helper()
	for _, p := range s.found() {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid)); strings.HasPrefix(string(line), "sdm\x00hold\x00") {
			return p.pid
		}
	}
	s.t.Fatal("no process holds a session")
	return 0
}

// TestLeaveAndJoin leaves a session at its question, asks by a script, comes back to a second console beside a third,
// and ends it, which the others are told.
func TestLeaveAndJoin(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.begun()
	c.press(ctrlD)
	c.until("[0-3] will be killed.")
	c.until(leavePrompt)
	c.enter("leave")
	c.until("left sdm-1, which goes on; sdm join sdm-1 comes back")
	c.exits(0)
	if got := s.joined("-e", "[0-1] interrupt", "-e", "[0-1] print stop"); !strings.Contains(got, "[0-1] stop = 0") {
		t.Errorf("the script has got\n%s", got)
	}
	one := s.sit("sdm", "join")
	one.until("[0-1] (2) interrupted")
	one.until(prompt)
	two := s.sit("sdm", "join", "sdm-1")
	two.until("[0-1] (2) interrupted")
	two.until(prompt)
	one.until("has come")
	one.enter("[0-1] print turns > 0")
	one.until("turns > 0 = 1")
	one.until(prompt)
	one.enter("[2-3] interrupt")
	two.until("] interrupt on 2-3")
	two.until("interrupted")
	two.enter("quit")
	two.until("[0-3] will be killed.")
	two.until("will lose it.")
	two.until(leavePrompt)
	two.enter("y")
	two.exits(0)
	one.until("] quit")
	one.exits(0)
	s.nothingIsLeft()
	if files := s.stateFiles(); len(files) > 0 {
		t.Errorf("left: %v", files)
	}
}

// TestSessionsAreAsked lists a session at which two consoles are, without disturbing them, then one that does not
// answer, then none.
func TestSessionsAreAsked(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.begun()
	one := s.sit("sdm", "join")
	one.until(prompt)
	c.until("has come")
	p := s.start("sdm", "sessions")
	p.exits(0)
	p.says("  4 running  ", "(console), ")
	p = s.start("sdm", "sessions", "--json")
	p.exits(0)
	p.says(`"states":[{"state":"running","ranks":"0-3"}]`, `"fronts":[{"front":1,`, `{"front":2,`)
	holder := s.sessionProcess()
	s.kill(holder, syscall.SIGSTOP)
	began := time.Now()
	p = s.start("sdm", "sessions")
	p.exits(0)
	p.says("  0-3  ", "no answer in 2s")
	if took := time.Since(began); took > 2*time.Second+leftoverTime {
		t.Errorf("the list has taken %v", took)
	}
	s.kill(holder, syscall.SIGCONT)
	one.enter("print 6*7")
	one.until("the rank is running")
	one.until(prompt)
	one.enter("quit")
	one.until(leavePrompt)
	one.enter("y")
	one.exits(0)
	c.exits(0)
	if text := c.screen(); strings.Count(text, "has come") != 1 {
		t.Errorf("the first console was told of those that ask:\n%s", text)
	}
	p = s.start("sdm", "sessions")
	p.exits(0)
	p.says("no sessions")
}

// TestLostTerminal loses the first console in each way in which one is lost: the session goes on, and what happened
// meanwhile is told to the next.
func TestLostTerminal(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(s *scene, c *terminal){
		"killed":     func(s *scene, c *terminal) { s.kill(c.cmd.Process.Pid, syscall.SIGKILL) },
		"hung up":    func(s *scene, c *terminal) { s.kill(c.cmd.Process.Pid, syscall.SIGHUP) },
		"terminated": func(s *scene, c *terminal) { s.kill(c.cmd.Process.Pid, syscall.SIGTERM) },
		"closed":     func(_ *scene, c *terminal) { c.master.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			c := s.begun()
			lose(s, c)
			<-c.ended
			if got := s.joined("-e", "interrupt", "-e", "print stop = 1", "-e", "continue &"); !strings.Contains(got, "[0-3] stop = 1 = 1") {
				t.Errorf("the first script has got\n%s", got)
			}
			s.eventually(patience, func() string {
				if left := s.named("spin"); len(left) > 0 {
					return fmt.Sprintf("ranks live: %v", left)
				}
				return ""
			})
			if got := s.joined("-e", "wait", "-e", "ranks", "-e", "quit"); !strings.Contains(got, "[0-3] exited normally") {
				t.Errorf("the second script has got\n%s", got)
			}
			s.nothingIsLeft()
		})
	}
}

// TestSessionProcessKilled kills the process that holds a session: nothing is left of ranks that sdm has started, and
// ranks that it has attached to run on.
func TestSessionProcessKilled(t *testing.T) {
	t.Parallel()
	t.Run("run", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		c := s.begun()
		s.kill(s.sessionProcess(), syscall.SIGKILL)
		c.until("the session has ended")
		<-c.ended
		s.nothingIsLeft()
		p := s.start("sdm", "join", "-b", "-e", "ranks")
		p.exits(3)
		p.says("there is no session")
	})
	t.Run("attach", func(t *testing.T) {
		needMPIR(t)
		t.Parallel()
		s := newScene(t)
		w := s.waits(openMPI, 4)
		c := s.sit("sdm", "attach", fmt.Sprint(w.cmd.Process.Pid))
		c.until("attached")
		c.until(prompt)
		s.kill(s.sessionProcess(), syscall.SIGKILL)
		<-c.ended
		s.eventually(patience, func() string {
			for _, p := range s.named("mpiwait.mpicc.o") {
				if p.held() {
					return p.String() + " is held"
				}
			}
			return ""
		})
		w.ends(4)
	})
}

// TestKeep leaves sessions and lets their time run out: ranks that sdm has started are killed, and a job that stands
// still is let go before.
func TestKeep(t *testing.T) {
	t.Parallel()
	t.Run("run", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		c := s.begun("--keep", "1s")
		c.enter("leave")
		c.exits(0)
		s.eventually(patience, func() string {
			if files := s.stateFiles(); len(files) > 0 {
				return fmt.Sprintf("it lives: %v", files)
			}
			return ""
		})
		s.nothingIsLeft()
	})
	t.Run("attach", func(t *testing.T) {
		needMPIR(t)
		t.Parallel()
		s := newScene(t)
		w := s.waits(openMPI, 4)
		c := s.sit("sdm", "attach", "--keep", "1h", fmt.Sprint(w.cmd.Process.Pid)) // a sixth of it does not come here
		c.until(prompt)
		c.enter("leave")
		c.exits(0)
		c = s.sit("sdm", "join")
		c.until(prompt)
		c.enter("quit")
		c.exits(0)
		c = s.sit("sdm", "attach", "--keep", "18s", fmt.Sprint(w.cmd.Process.Pid))
		c.until(prompt)
		c.enter("leave")
		c.exits(0)
		began := time.Now()
		s.eventually(patience, func() string {
			for _, p := range s.named("mpiwait.mpicc.o") {
				if p.held() {
					return p.String() + " is held"
				}
			}
			return ""
		})
		if took := time.Since(began); took < 2*time.Second {
			t.Errorf("the ranks were let go after %v", took)
		}
		if got := s.joined("-e", "ranks", "-e", "quit"); !strings.Contains(got, "nobody is here: ranks 0-3 of a running job, which stood still, are let go") {
			t.Errorf("the next one is told\n%s", got)
		}
		w.ends(4)
	})
}

// TestKeepInABatch has a session without a terminal, as in a batch script: the command waits until it has ended, and
// all output is in a file.
func TestKeepInABatch(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	log := filepath.Join(s.dir, "out.log")
	p := s.start("sdm", "run", "--keep", "1h", "--output-log", log, "-b", "-e", "print 6*7", "-e", "continue &", "-n", "4", program("spin"))
	p.after(p.out, "[0-3] 6*7 = 42")
	p.after(p.err, "sdm-1 goes on")
	if !p.running() {
		t.Fatalf("it has not waited%s", p.said())
	}
	s.joined("-e", "interrupt", "-e", "print stop = 1", "-e", "continue", "-e", "quit")
	p.exits(0)
	if _, err := os.Stat(log); err != nil {
		t.Error(err)
	}
	bad := s.start("sdm", "run", "--output-log", "/nowhere/out", "-b", "-e", "print 1", "-n", "1", program("spin"))
	bad.exits(2)
	bad.says("--output-log: open /nowhere/out: no such file or directory")
}

// TestJoinFromAnotherHost joins a session of one host from another one with the same home directory.
func TestJoinFromAnotherHost(t *testing.T) {
	t.Parallel()
	o := newOnHosts(t)
	s := o.scene
	p := o.here("sdm", "run", "--keep", "1h", "-b", "-e", "continue &", "-n", "4", program("spin"))
	p.after(p.err, "sdm-1 goes on")
	q := s.on(o.Hosts, 1, "sdm", "join", "--remote-shell", o.remsh(), "-b", "-e", "interrupt", "-e", "print stop", "-e", "quit")
	q.exits(0)
	q.says("[0-3] stop = 0")
	p.exits(0)
}

// TestSessionOnAnotherHost begins a session on another host. The console is killed, as if its login node were lost, and
// another one joins from a third host.
func TestSessionOnAnotherHost(t *testing.T) {
	t.Parallel()
	o := newOnHosts(t)
	s := o.scene
	s.env = append(s.env, "SDM_KEEP=1h") // reaches the other host as a flag does
	p := o.here("sdm", "run", "--on", o.Host(1), "--remote-shell", o.remsh(), "-b", "-e", "info hosts", "-e", "continue &", "-n", "4", program("spin"))
	p.after(p.out, "[0-3] "+o.Host(1)+": server 0,")
	p.after(p.err, "sdm-1 goes on")
	s.kill(p.cmd.Process.Pid, syscall.SIGKILL)
	list := s.on(o.Hosts, 2, "sdm", "sessions")
	list.exits(0)
	list.says("sdm-1  "+o.Host(1)+"  ", "ask on "+o.Host(1))
	q := s.on(o.Hosts, 2, "sdm", "join", "--remote-shell", o.remsh(), "-b", "-e", "interrupt", "-e", "print stop", "-e", "quit")
	q.exits(0)
	q.says("[0-3] stop = 0")
	s.nothingIsLeft()
	bad := s.start("sdm", "run", "--on", "far", "--remote-shell", "false", "-b", "-e", "ranks", "-n", "1", program("spin"))
	bad.exits(3)
	bad.says("sdm: --on far: false: exit status 1\n")
}

// TestLeaveOnAnotherHost leaves a session of another host at the terminal: no relay stays.
func TestLeaveOnAnotherHost(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	shell := s.file("shell", "#!/bin/sh\nshift\ncd /\nexec /bin/sh -c \"$*\"\n", 0o700)
	c := s.begun("--on", "far", "--remote-shell", shell)
	c.enter("leave")
	c.until("left sdm-1, which goes on")
	c.exits(0)
	s.eventually(patience, func() string {
		for _, p := range s.found() {
			if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid)); strings.HasSuffix(string(line), "sdm\x00hold\x00") {
				return p.String() + " relays"
			}
		}
		return ""
	})
	if got := s.joined("-e", "interrupt", "-e", "print 6*7", "-e", "quit"); !strings.Contains(got, "[0-3] 6*7 = 42") {
		t.Errorf("the script has got\n%s", got)
	}
	s.nothingIsLeft()
}
