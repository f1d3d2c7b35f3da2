package console

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// openPTY returns both ends of a pseudo-terminal; see pty(7).
func openPTY(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	var unlock, n int32
	control(t, master, syscall.TIOCSPTLCK, &unlock)
	control(t, master, syscall.TIOCGPTN, &n)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

func control(t *testing.T, f *os.File, request uintptr, arg *int32) {
	t.Helper()
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(arg))); e != 0 {
			t.Error(e)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// fakeScreen collects what the terminal shows.
type fakeScreen struct {
	mu    sync.Mutex
	b     bytes.Buffer
	grown chan struct{}
}

func watch(t *testing.T, master *os.File) *fakeScreen {
	s := &fakeScreen{grown: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.b.Write(buf[:n])
			s.mu.Unlock()
			select {
			case s.grown <- struct{}{}:
			default:
			}
		}
	}()
	t.Cleanup(func() { master.Close(); <-done })
	return s
}

// text returns all that was shown.
func (s *fakeScreen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// await returns when text has appeared n times.
func (s *fakeScreen) await(t *testing.T, text string, n int) {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		shown := s.text()
		if strings.Count(shown, text) >= n {
			return
		}
		select {
		case <-s.grown:
		case <-limit:
			t.Fatalf("%q is not there %d times in %q", text, n, shown)
		}
	}
}

func openTerminal(t *testing.T, history string) (*Terminal, *os.File, *fakeScreen) {
	t.Helper()
	master, slave := openPTY(t)
	term, err := NewTerminal(slave, slave, history)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { term.Close() })
	return term, master, watch(t, master)
}

type typedLine struct {
	line string
	err  error
}

// read begins a ReadLine.
func read(term *Terminal, prompt string) <-chan typedLine {
	c := make(chan typedLine, 1)
	go func() {
		line, err := term.ReadLine(prompt)
		c <- typedLine{line, err}
	}()
	return c
}

// lineOf returns what was read.
func lineOf(t *testing.T, got <-chan typedLine) typedLine {
	t.Helper()
	select {
	case l := <-got:
		return l
	case <-time.After(10 * time.Second):
		t.Fatal("no line is read")
		return typedLine{}
	}
}

func TestTerminalReadsAndKeepsHistory(t *testing.T) {
	history := filepath.Join(t.TempDir(), "state", "history")
	term, master, screen := openTerminal(t, history)
	got := read(term, "(sdm 0-7) ")
	screen.await(t, "(sdm 0-7) ", 1)
	master.WriteString("print grün\r")
	if l := <-got; l.line != "print grün" || l.err != nil {
		t.Fatalf("read %q, %v", l.line, l.err)
	}
	got = read(term, "(sdm 0) ")
	screen.await(t, "(sdm 0) ", 1)
	master.WriteString("\x10\r") // Ctrl-P: the previous line
	if l := <-got; l.line != "print grün" || l.err != nil {
		t.Fatalf("history gave %q, %v", l.line, l.err)
	}
	b, err := os.ReadFile(history)
	if err != nil || !strings.HasPrefix(string(b), "print grün\n") {
		t.Errorf("history file: %q, %v", b, err)
	}
	if info, err := os.Stat(history); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("history file: %v, %v", info.Mode(), err)
	}
}

func TestTerminalInterruptAndEnd(t *testing.T) {
	term, master, screen := openTerminal(t, "")
	for i, c := range []struct {
		keys string
		want error
	}{{"half a line\x03", ErrInterrupted}, {"\x03", ErrInterrupted}} {
		prompt := fmt.Sprintf("prompt%d ", i)
		got := read(term, prompt)
		screen.await(t, prompt, 1)
		master.WriteString(c.keys)
		if l := <-got; l.err != c.want || l.line != "" {
			t.Errorf("%q gave %q, %v", c.keys, l.line, l.err)
		}
	}
	got := read(term, "end ")
	screen.await(t, "end ", 1)
	master.WriteString("\x04")
	if l := <-got; l.err == nil || l.err.Error() != "EOF" {
		t.Errorf("Ctrl-D gave %q, %v", l.line, l.err)
	}
}

func TestTerminalTextAboveThePrompt(t *testing.T) {
	term, master, screen := openTerminal(t, "")
	got := read(term, "> ")
	screen.await(t, "> ", 1)
	master.WriteString("pri")
	screen.await(t, "pri", 1)
	fmt.Fprintf(term.Above(), "[0-7] hello\n")
	screen.await(t, "[0-7] hello", 1)
	screen.await(t, "> pri", 1) // the prompt is drawn again below
	master.WriteString("nt x\r")
	if l := <-got; l.line != "print x" {
		t.Errorf("read %q", l.line)
	}
}

func TestTerminalCompletion(t *testing.T) {
	term, master, screen := openTerminal(t, "")
	term.Complete(func(line string) ([]string, int) {
		if line == "con" {
			return []string{"continue"}, 3
		}
		return nil, 0
	})
	got := read(term, "> ")
	screen.await(t, "> ", 1)
	master.WriteString("con\t&\r")
	if l := <-got; l.line != "continue &" {
		t.Errorf("read %q", l.line)
	}
}

func TestTerminalCloseEndsARead(t *testing.T) {
	term, _, screen := openTerminal(t, "")
	got := read(term, "> ")
	screen.await(t, "> ", 1)
	term.Close()
	if l := <-got; l.err == nil {
		t.Errorf("read %q after Close", l.line)
	}
}

func TestTerminalCloseWithoutARead(t *testing.T) {
	term, _, _ := openTerminal(t, "")
	if err := term.Close(); err != nil {
		t.Error(err)
	}
}
