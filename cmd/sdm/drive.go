// What all subcommands with a console do: plan, job, console, end.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"time"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/cmd/internal/startup"
	"sdm/master/frontend/console"
	"sdm/master/hangfile"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// plan is an invocation whose arguments have been checked, before anything is started.
type plan struct {
	*options
	program     *protocol.Job    // what is launched; see rankOptions.program
	scripts     []console.Script // commands that are known at the start; see readScripts
	log         *slog.Logger
	logFile     io.Closer
	clock       *servers.Clock // limits the start
	terminal    *terminal      // nil: not opened yet
	answersOnly bool           // events are not shown
}

// newPlan reads the files that checked options name, and opens the log. ctx ends the reading.
func (a *app) newPlan(ctx context.Context, o *options) (*plan, error) {
	p := &plan{options: o}
	var err error
	if a.held == nil { // the front end executes them
		if p.scripts, err = o.readScripts(ctx); err != nil {
			return nil, err
		}
	}
	if hosts := &o.job.Servers.Hosts; *hosts != "" {
		names, err := job.ReadHosts(ctx, *hosts)
		if err != nil {
			return nil, fmt.Errorf("--hosts: %w", err)
		}
		*hosts = strings.Join(names, ",") // a pipe is read once
	}
	if o.ranks.stdinFile != "" {
		if _, err := os.Stat(o.ranks.stdinFile); err != nil {
			return nil, fmt.Errorf("--stdin-file: %w", err)
		}
	}
	var out io.Writer = os.Stderr
	if a.held != nil {
		out = a.held.said.lines()
	}
	p.log, p.logFile, err = o.job.Servers.LogFlags.Open(out)
	return p, err
}

// within makes the plan of checked options and the lifetime of the invocation, calls do and ends
// the lifetime.
func (a *app) within(o *options, do func(l *lifetime, p *plan) console.Status) console.Status {
	l := newLifetime(o.console.timeout)
	defer l.stop()
	p, err := a.newPlan(l.ctx, o)
	if err != nil {
		return a.fail(statusOf(err, console.StatusUsage), err)
	}
	defer p.logFile.Close()
	if a.held == nil && a.leads(o) {
		p.clock = servers.NewClock(o.job.Servers.ConnectWait)
		defer p.clock.Stop()
		return a.lead(l, p)
	}
	p.clock = servers.NewClock(o.job.Servers.ConnectWait)
	defer p.clock.Stop()
	return do(l, p)
}

// spec returns what the flags say about the job.
func (o *options) spec() job.Spec {
	s := o.job
	s.Servers.Wait = o.console.wait
	return s
}

// io returns what a job uses of this process.
func (a *app) io(p *plan) job.IO {
	io := job.IO{
		In: a.stdin, Out: a.stdout, Err: a.stderr, Remark: a.remark, Log: p.log, Clock: p.clock,
		Terminal: func() (*job.Terminal, error) { return a.lend(p) },
	}
	if a.held != nil {
		if pipe := a.held.relay.Pipe(a.held.said.lines()); pipe != nil {
			io.Err = pipe
		}
	}
	switch {
	case p.console.ndjson():
		io.JSON = a.out
	case isTerminal(a.stderr):
		io.Progress = a.stderr
	}
	return io
}

// control runs the console over a job; err tells why there is none.
func (a *app) control(l *lifetime, p *plan, j *job.Job, err error) console.Status {
	if err == nil && a.held != nil {
		return a.share(l, p, j)
	}
	if err == nil {
		return a.drive(l, p, j)
	}
	status := console.StatusNotStarted
	var known *job.Error
	if errors.As(err, &known) {
		status = known.Status
	}
	return a.fail(statusOf(err, status), err)
}

// drive runs the console over a session whose tree is built, and ends the session and its job.
func (a *app) drive(l *lifetime, p *plan, j *job.Job) console.Status {
	status, err := a.converse(l, p, j)
	err = overBecause(j.Session, err)
	ctx, cancel := servers.Closing()
	closeErr := j.Session.Close(ctx)
	cancel()
	switch {
	case err != nil:
		status = a.fail(statusOf(err, status), err)
	case closeErr != nil:
		a.fail(status, closeErr) // reported, but the status is that of the ranks
	}
	status, err = j.End(l.ctx, status)
	if err != nil {
		return statusOf(err, status)
	}
	return status
}

// overBecause adds the reason, if known, to the error that a session has ended by itself.
func overBecause(s session.Session, err error) error {
	far, ok := s.(interface{ Err() error })
	if ok && errors.Is(err, console.ErrOver) && far.Err() != nil {
		return fmt.Errorf("the session has ended: %w", far.Err())
	}
	return err
}

// opening returns the first call of the session, and the ranks that read standard input from it.
func (p *plan) opening(j *job.Job) (start *session.Call, fed rank.Set, err error) {
	start = j.First
	if start == nil { // only ranks that sdm launches read standard input from it
		if fed, err = p.ranks.inputOf(j.Ranks, p.job.Only != ""); err != nil {
			return nil, fed, err
		}
		start = p.launch(j.Ranks, fed)
	}
	return present(start, j), fed, nil
}

// openTerminal opens the terminal, unless that was lent before, and what the ranks read.
func (a *app) openTerminal(ctx context.Context, p *plan) (err error) {
	if p.terminal != nil {
		return nil
	}
	if p.terminal, err = a.newTerminal(p.options); err != nil {
		return err
	}
	return p.terminal.openInput(ctx, a, p.options)
}

// converse runs the console, for a user or for scripts.
func (a *app) converse(l *lifetime, p *plan, j *job.Job) (console.Status, error) {
	start, fed, err := p.opening(j)
	if err != nil {
		return console.StatusUsage, err
	}
	start = p.clock.Tell(start)
	if err := a.openTerminal(l.ctx, p); err != nil {
		return console.StatusUsage, err
	}
	t := p.terminal
	if fed.IsEmpty() && t.input != nil { // no rank reads it, and reading a pipe may have no end
		if t.input != a.stdin {
			t.input.Close()
		}
		t.input = nil
	}
	a.breakPipes(l, t)
	l.console <- true
	defer func() { l.console <- false }()
	cfg := a.consoleConfig(l, p, j.Session, j.Ranks)
	cfg.Start, cfg.Started, cfg.Over, cfg.AtEnd, cfg.AnswersOnly = start, j.Started, j.Over, atEnd(start, j), p.answersOnly
	cfg.Input, cfg.InputRanks, cfg.Progress = t.input, fed.String(), t.progress
	return console.Run(l.ctx, cfg)
}

// consoleConfig returns what all consoles have, over a session with some ranks.
func (a *app) consoleConfig(l *lifetime, p *plan, s session.Session, all rank.Set) console.Config {
	t, o := p.terminal, &p.console
	return console.Config{
		IsTimeout: func(err error) bool { return errors.Is(err, errTimeout) },
		Session:   s, All: all, Out: t.out, Err: t.err, Format: console.Format(o.format), WholeSets: o.wholeSets,
		Writer: t.writer, ErrWriter: t.errWriter, StopOnError: o.stopOnError, Scripts: p.scripts,
		Lines: t.lines, Interactive: t.interactive, Echo: o.echo, Fold: noLimit(o.fold), Wait: noLimit(o.wait),
		Interrupts: l.interrupts, Log: p.log, Screen: t.screen, Shell: a.shellFor(o),
		FileMode: p.mode,
		HangFile: func() *hangfile.File {
			started := startedHere(append([]string{"sdm"}, a.args...))
			if len(p.args) > 0 { // a job that runs, or the line of a starter
				started.Launcher = cmp.Or(launcherOf(p.args[0], lineOf(p.args[0])), launcherOf("", p.args))
			}
			return hangfile.New(time.Now(), startup.Build(), hangfile.Reason{Kind: hangfile.Asked}, started, all)
		},
	}
}

// startedHere returns what a hang file tells of a command line that was started on this host, in this directory.
func startedHere(line []string) hangfile.Job {
	cwd, _ := os.Getwd() // "" if it is not known
	return hangfile.Job{Command: line, Host: servers.HostName(), Cwd: cwd}
}

// breakPipes ends a console without a prompt when its answers are not read any more.
func (a *app) breakPipes(l *lifetime, t *terminal) {
	if t.interactive {
		return
	}
	a.out.onBroken(func(err error) {
		a.cannotWrite(err)
		if errors.Is(err, syscall.EPIPE) {
			l.end(errPipe)
		}
	})
}

// atEnd tells what happens to live ranks after the last command.
func atEnd(start *session.Call, j *job.Job) console.AtEnd {
	switch {
	case start.Command == "launch", j.Over != nil: // by a starter under our control
		return console.AtEndKilled
	case start.Command == "attach":
		return console.AtEndDetached
	}
	return ""
}

// present restricts the first call to the ranks that have a server.
func present(call *session.Call, j *job.Job) *session.Call {
	if j.Lost.IsEmpty() {
		return call
	}
	some := *call
	some.Ranks = j.Ranks.Minus(j.Lost).String()
	return &some
}

// launch returns the call that starts the program. fed are the ranks that read standard input.
func (p *plan) launch(all, fed rank.Set) *session.Call {
	program := *p.program
	program.Stdin, program.Size = fed, all.Len()
	return &session.Call{Command: "launch", Args: protocol.Args{Job: &program}}
}

// notBuilt reports why the tree could not be built, with the last messages of the servers.
func (a *app) notBuilt(ctx context.Context, err, trouble error) console.Status {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		err = cause
	}
	return a.fail(statusOf(err, console.StatusNoTree), servers.WithTrouble(err, trouble))
}
