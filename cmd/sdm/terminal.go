package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"sdm/master/frontend/console"
	"sdm/master/frontend/console/text"
)

// seat is the user's terminal, if there is one: where commands come from and where text goes.
type seat struct {
	lines       console.Lines // nil: no commands besides the scripts
	interactive bool
	input       io.ReadCloser // for the ranks; nil: empty
	out, err    io.Writer
	writer      text.Writer // for out
	errWriter   text.Writer
	progress    io.Writer
	screen      func() (rows, columns int) // size of the screen of out; nil: out is not a screen
}

// newSeat decides who reads standard input: on a terminal the prompt; else, without scripts, the
// console reads commands from it; else the ranks.
func (a *app) newSeat(o *options) (*seat, error) {
	s := &seat{out: a.out, err: a.stderr}
	onTerminal, errOnTerminal := isTerminal(a.stdout), isTerminal(a.stderr)
	s.writer = text.Writer{Terminal: onTerminal, Color: o.colored(onTerminal)}
	s.errWriter = text.Writer{Terminal: errOnTerminal, Color: o.colored(errOnTerminal)}
	if errOnTerminal && o.format == string(console.Text) {
		s.progress = a.stderr
	}
	s.interactive = !o.batch && isTerminal(a.stdin) && (onTerminal || errOnTerminal)
	switch {
	case s.interactive:
		if err := s.openPrompt(a, onTerminal, historyFile(o.env)); err != nil {
			return nil, err
		}
	case len(o.scripts) == 0 && !o.batch:
		s.lines = console.Pipe(reopened(a.stdin))
	}
	return s, s.openInput(a, o)
}

// openPrompt opens the prompt. If standard output is not a terminal, the prompt goes to standard
// error, and answers to standard output.
func (s *seat) openPrompt(a *app, onTerminal bool, history string) error {
	screen := a.stdout
	if !onTerminal {
		screen = a.stderr
	}
	t, err := console.NewTerminal(reopened(a.stdin), screen, history)
	if err != nil {
		return fmt.Errorf("no prompt: %w", err)
	}
	s.lines, s.err = t, t.Above()
	if onTerminal {
		s.out, s.screen = t.Above(), t.Size
	}
	return nil
}

// openInput decides what the ranks read.
func (s *seat) openInput(a *app, o *options) error {
	switch {
	case o.stdinFile != "":
		f, err := os.Open(o.stdinFile)
		if err != nil {
			return fmt.Errorf("--stdin-file: %w", err)
		}
		s.input = f
	case s.lines == nil && o.stdin != "none":
		s.input = reopened(a.stdin)
	}
	return nil
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func (o *options) colored(onTerminal bool) bool {
	switch o.color {
	case "always":
		return true
	case "never":
		return false
	}
	return onTerminal && o.lookup("NO_COLOR") == "" && o.lookup("TERM") != "dumb"
}

func (o *options) lookup(name string) string {
	for _, e := range o.env {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// reopened opens the same file again without blocking, so that closing it ends a pending Read and
// other users of f are not affected. A file that cannot be opened again (a socket, another user's
// pipe) is used as it is; a pending Read then lasts until the process ends.
func reopened(f *os.File) *os.File {
	again, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return f
	}
	if info, err := again.Stat(); err != nil || info.Mode().IsRegular() {
		again.Close() // a new description would start at the beginning
		return f
	}
	return again
}

// historyFile returns the file for the history of the prompt (XDG Base Directory Specification); ""
// without a home directory.
func historyFile(env []string) string {
	o := options{env: env}
	dir := o.lookup("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "sdm", "history")
}

// shellFor returns the function that runs a line in the shell. It uses our standard streams, or,
// with ndjson, pipes whose lines become events.
func (a *app) shellFor(o *options) console.Shell {
	return func(ctx context.Context, line string) error {
		if !o.ndjson() {
			return a.shell(ctx, line, a.stdout, a.stderr)
		}
		var r relay
		defer r.close()
		stdout, stderr := r.events(a.out, "shell")
		return a.shell(ctx, line, stdout, stderr)
	}
}

func (a *app) shell(ctx context.Context, line string, stdout, stderr *os.File) error {
	sh := os.Getenv("SHELL")
	if sh == "" {
		sh = "/bin/sh"
	}
	cmd := exec.CommandContext(ctx, sh, "-c", line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, stdout, stderr
	if !isTerminal(a.stdin) { // on a terminal it must stay in the foreground
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	}
	err := cmd.Run()
	if _, failed := err.(*exec.ExitError); failed {
		return nil // the command has reported it
	}
	return err
}
