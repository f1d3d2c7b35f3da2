// The prompt of a terminal.

package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/chzyer/readline"
	"golang.org/x/term"
)

// Terminal is a prompt with history, search (Ctrl-R) and completion. Text may be written above it
// while a line is being typed. Only this type uses the readline library.
//
// NewTerminal starts one goroutine, which tracks the window's width; the library starts some to
// read the terminal. All end in Close.
type Terminal struct {
	rl       *readline.Instance
	in       *keys
	fd       int
	out      io.Writer
	complete completer
	resized  chan os.Signal
	done     chan struct{}
	once     sync.Once
}

var _ Lines = (*Terminal)(nil)

// historyLimit is how many lines of history are kept.
const historyLimit = 5000

// NewTerminal opens the prompt on in and out. Closing in must end a pending Read. The history is
// kept in a file; without one if the name is "" or the file cannot be written.
func NewTerminal(in *os.File, out io.Writer, history string) (*Terminal, error) {
	t := &Terminal{in: newKeys(in), out: out, resized: make(chan os.Signal, 1), done: make(chan struct{})}
	fd := int(in.Fd()) // 0, or the same terminal under another number
	t.fd = fd
	raw := rawMode{fd: fd}
	var width func()
	rl, err := readline.NewEx(&readline.Config{
		HistoryFile: prepared(history), HistoryLimit: historyLimit, HistorySearchFold: true,
		AutoComplete:    &t.complete,
		InterruptPrompt: "^C", EOFPrompt: "quit",
		Stdin: t.in, Stdout: out, Stderr: out,
		FuncIsTerminal:     func() bool { return true },
		FuncGetWidth:       func() int { return widthOf(fd) },
		FuncMakeRaw:        raw.enter,
		FuncExitRaw:        raw.exit,
		FuncOnWidthChanged: func(f func()) { width = f },
		FuncFilterInputRune: func(r rune) (rune, bool) {
			if t.in.isUseless(r) {
				return r, false
			}
			return raw.filter(r)
		},
		Listener: t.in,
	})
	if err != nil {
		return nil, err
	}
	t.rl = rl
	signal.Notify(t.resized, syscall.SIGWINCH)
	go func() {
		defer close(t.done)
		for range t.resized {
			width()
		}
	}()
	return t, nil
}

// prepared creates the directory and the file of the history, readable by the owner only; "" if
// that fails.
func prepared(path string) string {
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return ""
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return ""
	}
	f.Close()
	return path
}

// Size returns the lines and columns of the screen, 24 and 80 if unknown.
func (t *Terminal) Size() (rows, columns int) {
	w, h, err := term.GetSize(t.fd)
	if err != nil || w < 1 || h < 1 {
		return 24, 80
	}
	return h, w
}

func widthOf(fd int) int {
	w, _, err := term.GetSize(fd)
	if err != nil || w < 1 {
		return 80
	}
	return w
}

// ErrTerminalGone is the error of a terminal that has been closed; it is also an io.EOF. Ctrl-D is a plain io.EOF.
var ErrTerminalGone = fmt.Errorf("the terminal is gone: %w", io.EOF)

// ReadLine shows the prompt and reads a line; see Lines.
func (t *Terminal) ReadLine(prompt string) (string, error) {
	if t.in.isOver() { // the library tells the end once, and would wait for ever
		return "", ErrTerminalGone
	}
	t.in.set(func() { t.in.line = true })
	defer t.in.set(func() { t.in.line = false })
	t.rl.SetPrompt(prompt)
	line, err := t.rl.Readline()
	if t.in.isOver() { // the library returns an incomplete line
		return "", ErrTerminalGone
	}
	if errors.Is(err, readline.ErrInterrupt) {
		return "", ErrInterrupted
	}
	return line, err
}

// Above returns the writer of text above the prompt. It may be used at any time; a Write waits
// while the library processes a key.
func (t *Terminal) Above() io.Writer { return promptWriter{t, t.out} }

// Complete sets the completion by Tab; see Lines.
func (t *Terminal) Complete(f func(line string) ([]string, int)) { t.complete.ask = f }

// Close ends a pending ReadLine and restores the terminal. It may be called more than once.
func (t *Terminal) Close() error {
	var err error
	t.once.Do(func() {
		t.in.set(func() { t.in.closed = true }) // ReadLine returns the end
		t.rl.Terminal.KickRead()                // so that the library's reader runs and can be ended
		<-t.in.reading
		t.in.Close()
		// rl.Close would leave a goroutine that blocks forever in a send. The history file is
		// written through and needs no closing.
		err = t.rl.Terminal.Close()
		signal.Stop(t.resized)
		close(t.resized)
		<-t.done
	})
	return err
}

// completer converts candidates to the form of the library: the missing characters.
type completer struct {
	ask func(line string) ([]string, int)
}

func (c *completer) Do(line []rune, pos int) (missing [][]rune, have int) {
	if c.ask == nil {
		return nil, 0
	}
	candidates, replaces := c.ask(string(line[:pos]))
	for _, s := range candidates {
		if !strings.HasSuffix(s, "/") { // a directory may be continued
			s += " "
		}
		missing = append(missing, []rune(s[replaces:]))
	}
	return missing, replaces
}

// rawMode switches the terminal between raw mode, while a line is typed, and its original mode,
// while a command runs: then Ctrl-C is a signal. It is safe for concurrent use.
type rawMode struct {
	fd int

	mu    sync.Mutex
	saved *readline.State // nil: not raw
}

func (m *rawMode) enter() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.saved != nil {
		return nil
	}
	saved, err := readline.MakeRaw(m.fd) // unlike term.MakeRaw it leaves newlines on output alone
	if err == nil {
		m.saved = saved
	}
	return err
}

func (m *rawMode) exit() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.saved == nil {
		return nil
	}
	saved := m.saved
	m.saved = nil
	return readline.Restore(m.fd, saved)
}

// filter handles Ctrl-Z: the library would stop the parent process too.
func (m *rawMode) filter(r rune) (rune, bool) {
	if r != readline.CharCtrlZ {
		return r, true
	}
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	defer signal.Stop(resumed)
	m.exit()
	if syscall.Kill(0, syscall.SIGTSTP) == nil { // only this process group: servers are in others
		<-resumed
	}
	m.enter()
	return r, false
}
