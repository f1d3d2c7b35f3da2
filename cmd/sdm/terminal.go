// Who reads standard input, the prompt, and the shell of the prompt.

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/term"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/relay"
	"sdm/master/frontend/console"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/userfile"
)

// terminal is the user's terminal, if there is one: where commands come from and where text goes.
type terminal struct {
	lines       console.Lines // nil: no commands besides the scripts
	interactive bool
	input       io.ReadCloser // what the ranks read; nil: nothing
	out, err    io.Writer     // receive answers and messages, above the prompt
	writer      text.Writer   // for out
	errWriter   text.Writer
	progress    io.Writer                  // shows progress; nil: standard error is no terminal
	screen      func() (rows, columns int) // size of the screen of out; nil: out is not a screen
}

// newTerminal decides who reads standard input. On a terminal the prompt does, unless -b is given.
// Otherwise the console reads commands from it if there are no scripts, and the ranks read it if
// there are.
func (a *app) newTerminal(o *options) (*terminal, error) {
	t := &terminal{out: a.out, err: a.stderr}
	onTerminal, errOnTerminal := isTerminal(a.stdout), isTerminal(a.stderr)
	t.writer = text.Writer{Terminal: onTerminal, Color: o.colored(onTerminal)}
	t.errWriter = text.Writer{Terminal: errOnTerminal, Color: o.colored(errOnTerminal)}
	if errOnTerminal && !o.console.ndjson() {
		t.progress = a.stderr
	}
	t.interactive = a.isInteractive(&o.console)
	switch {
	case t.interactive:
		if err := t.openPrompt(a, onTerminal, historyFile(o)); err != nil {
			return nil, err
		}
	case len(o.console.scripts) == 0 && !o.console.batch:
		t.lines = console.Pipe(reopened(a.stdin))
	}
	return t, nil
}

// isInteractive reports whether a user types commands at a prompt.
func (a *app) isInteractive(o *consoleOptions) bool {
	return !o.batch && isTerminal(a.stdin) && (isTerminal(a.stdout) || isTerminal(a.stderr))
}

// openPrompt opens the prompt. If standard output is not a terminal, the prompt goes to standard
// error, and answers to standard output.
func (t *terminal) openPrompt(a *app, onTerminal bool, history string) error {
	screen := a.stdout
	if !onTerminal {
		screen = a.stderr
	}
	prompt, err := console.NewTerminal(reopened(a.stdin), screen, history)
	if err != nil {
		return fmt.Errorf("no prompt: %w", err)
	}
	t.lines, t.err = prompt, prompt.Above()
	if onTerminal {
		t.out, t.screen = prompt.Above(), prompt.Size
	}
	return nil
}

// givesInput reports whether the ranks read a file or standard input.
func (t *terminal) givesInput(o *options) bool {
	return o.ranks.stdinFile != "" || t.lines == nil && o.ranks.stdin != "none"
}

// openInput opens what the ranks read.
func (t *terminal) openInput(ctx context.Context, a *app, o *options) error {
	switch {
	case o.ranks.stdinFile != "":
		f, err := userfile.Open(ctx, o.ranks.stdinFile)
		if err != nil {
			return fmt.Errorf("--stdin-file: %w", err)
		}
		t.input = f
	case t.givesInput(o):
		t.input = reopened(a.stdin)
	}
	return nil
}

// leave releases the terminal if the console was not run.
func (t *terminal) leave() {
	if t.lines != nil {
		t.lines.Close()
	}
	if t.input != nil {
		t.input.Close()
	}
}

// lend opens the terminal before a starter runs under control, and gives the starter what the
// console does not use of it.
func (a *app) lend(p *plan) (*job.Terminal, error) {
	if a.held != nil {
		out, err := a.held.said.starter(protocol.KindStdout), a.held.said.starter(protocol.KindStderr)
		return &job.Terminal{Out: out, Err: err, Leave: func() {}}, nil
	}
	t, err := a.newTerminal(p.options)
	if err != nil {
		return nil, err
	}
	p.terminal = t
	lent := &job.Terminal{Input: t.givesInput(p.options), Leave: func() {
		t.leave()
		p.terminal = nil
	}}
	if t.interactive {
		lent.Out, lent.Err = t.out, t.err
	}
	return lent, nil
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// colored reports whether a stream gets colors.
func (o *options) colored(onTerminal bool) bool {
	switch o.console.color {
	case "always":
		return true
	case "never":
		return false
	}
	return onTerminal && o.lookup("NO_COLOR") == "" && o.lookup("TERM") != "dumb"
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

// historyFile returns the file for the history of the prompt (XDG Base Directory Specification). It
// returns "" if there is no home directory.
func historyFile(o *options) string {
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
func (a *app) shellFor(o *consoleOptions) console.Shell {
	return func(ctx context.Context, line string) error {
		if !o.ndjson() {
			return a.shell(ctx, line, a.stdout, a.stderr)
		}
		var r relay.Relay
		defer r.Close()
		stdout, stderr := r.Events(a.out, "shell")
		return a.shell(ctx, line, stdout, stderr)
	}
}

// shell runs a line in the user's shell. An exit status other than 0 is no error.
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
