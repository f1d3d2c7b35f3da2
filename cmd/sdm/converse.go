// The console in the middle of a session.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
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

// drive runs the console over a session, and ends the session and its job.
func (a *app) drive(l *lifetime, p *plan, j *job.Job) console.Status {
	shut := sync.OnceValue(func() error { return servers.CloseInTime(j.Session) })
	status, err := a.converse(l, p, j, shut)
	return a.end(l.ctx, j, shut, status, err)
}

// end ends a session, which shut closes, and its job. status and err are the conversation's.
func (a *app) end(ctx context.Context, j *job.Job, shut func() error, status console.Status, err error) console.Status {
	err = overBecause(j.Session, err)
	closeErr := shut()
	switch {
	case err != nil:
		status = a.fail(statusOf(err, status), err)
	case closeErr != nil:
		a.fail(status, closeErr) // reported, but the status comes from the ranks
	}
	status, err = j.End(ctx, status)
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

// converse runs the console over the session of a job, which shut closes, for a user or for scripts.
func (a *app) converse(l *lifetime, p *plan, j *job.Job, shut func() error) (console.Status, error) {
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
	cfg := a.consoleConfig(l, p, j.Session, j.Ranks)
	cfg.Start, cfg.Started, cfg.Over, cfg.AtEnd = start, j.Started, j.Over, atEnd(start, j)
	cfg.Input, cfg.InputRanks, cfg.Progress = t.input, fed.String(), t.progress
	return l.runConsole(cfg, shut)
}

// runConsole runs a console, which gets Ctrl-C until it has ended its session; then shut closes that.
func (l *lifetime) runConsole(cfg console.Config, shut func() error) (console.Status, error) {
	l.console <- true
	defer func() { l.console <- false }()
	cfg.End = func() {
		l.console <- false
		shut()
	}
	return console.Run(l.ctx, cfg)
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

// opening returns the first call of a session, and the ranks that read standard input from it; nil: there is nothing to
// start.
func (p *plan) opening(j *job.Job) (call *session.Call, fed rank.Set, err error) {
	switch {
	case j.First != nil:
		call = j.First
	case p.past:
		return nil, fed, nil
	default: // only ranks that sdm launches read standard input from it
		if fed, err = p.ranks.inputOf(j.Ranks, p.job.Only != ""); err != nil {
			return nil, fed, err
		}
		call = p.launch(j.Ranks, fed)
	}
	return present(call, j), fed, nil
}

// consoleConfig returns what all consoles have, over a session with some ranks.
func (a *app) consoleConfig(l *lifetime, p *plan, s session.Session, all rank.Set) console.Config {
	t, o, scripts := p.terminal, &p.console, p.scripts
	if t.interactive && p.greeting != nil {
		scripts = append([]console.Script{{Name: "sdm", Lines: p.greeting}}, scripts...)
	}
	cfg := console.Config{
		IsTimeout: func(err error) bool { return errors.Is(err, errTimeout) },
		Session:   s, All: all, Out: t.out, Err: t.err, Format: console.Format(o.format), WholeSets: o.wholeSets,
		AnswersOnly: p.answersOnly, Past: p.past,
		Writer: t.writer, ErrWriter: t.errWriter, StopOnError: o.stopOnError, Scripts: scripts,
		Lines: t.lines, Interactive: t.interactive, Echo: o.echo, Fold: noLimit(o.fold), Wait: noLimit(o.wait),
		Interrupts: l.interrupts, Log: p.log, Screen: t.screen, Shell: a.shellFor(o),
		FileMode: p.mode,
	}
	if !p.past {
		cfg.HangFile = func() *hangfile.File { return a.hangFile(p, all) }
	}
	return cfg
}

// hangFile begins a hang file about some ranks.
func (a *app) hangFile(p *plan, all rank.Set) *hangfile.File {
	started := startedHere(append([]string{"sdm"}, a.args...))
	if len(p.args) > 0 { // a job that runs, or the line of a starter
		started.Launcher = cmp.Or(launcherOf(p.args[0], lineOf(p.args[0])), launcherOf("", p.args))
	}
	return hangfile.New(time.Now(), startup.Build(), hangfile.Reason{Kind: hangfile.Asked}, started, all)
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
	case start == nil:
		return ""
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
