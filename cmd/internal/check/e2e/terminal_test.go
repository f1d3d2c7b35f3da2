package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Keys as a terminal sends them.
const (
	enter = "\r"
	ctrlC = "\x03"
	ctrlD = "\x04"
	up    = "\x1b[A"
)

// terminal is an sdm at a terminal of its own.
//
// Goroutine: read, which ends with the last process at the terminal.
type terminal struct {
	*process
	master *os.File

	mu   sync.Mutex
	text string
	seen int           // length of the text that until has passed
	more chan struct{} // closed and replaced with each piece of text
}

// sit starts a program at a terminal.
func (s *scene) sit(name string, args ...string) *terminal {
	s.t.Helper()
	master, slave := s.openTerminal()
	path, err := s.find(name)
	if err != nil {
		s.t.Fatal(err)
	}
	p := &process{t: s.t, name: name, cmd: exec.Command(path, args...), out: newLines(), err: newLines(), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = append(s.env, "TERM=xterm", "NO_COLOR=1"), s.dir
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p.out.add("", true)
	p.err.add("", true)
	err = p.cmd.Start()
	slave.Close()
	if err != nil {
		s.t.Fatal(err)
	}
	t := &terminal{process: p, master: master, more: make(chan struct{})}
	s.readers.Go(t.read)
	s.readers.Go(func() {
		defer close(p.ended)
		p.cmd.Wait() // status reads the exit status later
	})
	s.processes = append(s.processes, p)
	return t
}

// openTerminal makes a pseudo terminal (pts(4)) of 100 columns.
func (s *scene) openTerminal() (master, slave *os.File) {
	s.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { master.Close() })
	conn, err := master.SyscallConn() // not Fd, after which reads would block without end
	if err != nil {
		s.t.Fatal(err)
	}
	var n int
	var failed error
	err = conn.Control(func(fd uintptr) {
		if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed == nil {
			n, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
		if failed == nil {
			failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100})
		}
	})
	if err == nil && failed == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil || failed != nil {
		s.t.Fatal(err, failed)
	}
	return master, slave
}

func (t *terminal) read() {
	b := make([]byte, 4096)
	for {
		n, err := t.master.Read(b)
		t.mu.Lock()
		t.text += string(b[:n])
		close(t.more)
		t.more = make(chan struct{})
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// press types keys.
func (t *terminal) press(keys string) {
	t.t.Helper()
	if _, err := t.master.WriteString(keys); err != nil {
		t.t.Fatal(err)
	}
}

// enter types a line and waits until the screen shows it.
func (t *terminal) enter(line string) {
	t.t.Helper()
	t.press(line + enter)
	t.until(line + "\r\n")
}

// screen returns all that was written to the terminal.
func (t *terminal) screen() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text
}

// until waits for words on the screen, after the words that the last until has found.
func (t *terminal) until(words string) {
	t.t.Helper()
	late := time.After(patience)
	for {
		t.mu.Lock()
		at, more, text := strings.Index(t.text[t.seen:], words), t.more, t.text
		if at >= 0 {
			t.seen += at + len(words)
		}
		t.mu.Unlock()
		if at >= 0 {
			return
		}
		select {
		case <-more:
		case <-late:
			t.t.Fatalf("%q never came; the screen:\n%q", words, text)
		}
	}
}

const prompt = "(sdm 0-3) "

// TestTerminal is a user at the prompt who stops the ranks by Ctrl-C and ends by Ctrl-D.
func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			c := s.sit("sdm", append(append([]string{"run", "-n", "4", "--fold", "20s"}, l.args...), program("spin"))...)
			c.until("main () at spin.c:")
			c.until(prompt)
			c.enter("continue")
			c.until(prompt) // there is a prompt while the ranks run
			c.enter("print turns")
			c.until("the rank is running")
			c.until(prompt)

			s.eventually(patience, func() string { // a rank that has not begun would stop elsewhere than the others
				for _, rank := range s.named("spin") {
					if rank.state != "S" {
						return rank.String()
					}
				}
				return ""
			})
			c.press(ctrlC)
			c.until("[0-3] interrupted")
			c.until(prompt)
			c.enter("print turns > 0")
			c.until("[0-3] turns > 0 = 1")
			c.until(prompt)
			c.press(up + up + enter) // the earlier print turns
			c.until("turns = ")
			c.until(prompt)

			c.press("\x1b[3~") // Delete: nothing happens
			c.press(ctrlD)
			c.until("[0-3] will be killed.")
			c.until(leavePrompt)
			c.enter("n")
			c.until(prompt)
			c.enter("ranks")
			c.until("[0-3] stopped")
			c.until(prompt)
			c.press(ctrlD)
			c.until(leavePrompt)
			c.press(ctrlD)
			c.exits(0)
		})
	}
}

// TestCtrlCTwice checks that the ranks, their servers and gdbs are in no foreground process group,
// and that a second Ctrl-C does not end a session with a prompt.
func TestCtrlCTwice(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.sit("sdm", "run", "-n", "4", program("spin"))
	c.until("main () at spin.c:")
	c.until(prompt)
	c.press(ctrlC + ctrlC)
	c.enter("ranks")
	c.until("[0-3] stopped")
	if n := len(s.named("spin")); n != 4 {
		t.Errorf("%d ranks live", n)
	}
	c.until(prompt)
	c.enter("quit")
	c.until(leavePrompt)
	c.enter("y")
	c.exits(0)
}

// TestCtrlCThrice has gdbs that do not answer. The first Ctrl-C reports that nothing can be
// interrupted, the second reports at the prompt which ranks are missing, and the third ends the
// session.
func TestCtrlCThrice(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.sit("sdm", "run", "-n", "4", "--gdb", s.file("mute", "#!/bin/sh\nexec sleep 1000\n", 0o700), "--connect-wait", "10m", program("spin"))
	c.until("loading symbols: 0 of 4 ranks")
	c.press(ctrlC)
	c.until("[0-3] the rank is not under control yet")
	c.press(ctrlC)
	c.until("[0-3] no answer yet to launch")
	c.until(prompt)
	c.press(ctrlC)
	c.exits(130)
}

// TestCtrlCInABatch checks that Ctrl-C ends a batch, as in a shell.
func TestCtrlCInABatch(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.sit("sdm", "run", "-n", "4", "-b", "-e", "continue", program("spin"))
	c.until("main () at spin.c:")
	c.press(ctrlC)
	c.exits(130)
}
