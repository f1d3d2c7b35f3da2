package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"sdm/backend/gdb"
	"sdm/master/frontend/console"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// closeWait is the grace period for the end of a session: killing the ranks that sdm has started
// and detaching from the others. Then all is ended by force.
const closeWait = 10 * time.Second

// plan is an invocation whose arguments have been checked, before anything is started.
type plan struct {
	o       *options
	scripts []console.Script
	log     *slog.Logger
	logFile io.Closer

	// For ranks that exist already, started by a starter or left as core files:
	seat        *seat                                    // the terminal; nil: not opened yet
	take        *session.Call                            // first call; nil: launch
	baggage     *baggage                                 // gdb for the nodes; nil: none
	lost        rank.Set                                 // ranks that have no server
	answersOnly bool                                     // events are not shown
	started     func()                                   // all ranks are attached or given up
	over        func(s *session.States, killed rank.Set) // after the last command
}

func newPlan(o *options) (*plan, error) {
	p := &plan{o: o}
	var err error
	if p.scripts, err = o.readScripts(); err != nil {
		return nil, err
	}
	if o.stdinFile != "" {
		if _, err := os.Stat(o.stdinFile); err != nil {
			return nil, fmt.Errorf("--stdin-file: %w", err)
		}
	}
	p.log, p.logFile, err = o.log.Open(os.Stderr)
	return p, err
}

// within makes the plan of checked options and the lifetime of the invocation, calls do and ends
// the lifetime.
func (a *app) within(o *options, do func(l *lifetime, p *plan) console.Status) console.Status {
	p, err := newPlan(o)
	if err != nil {
		return a.fail(console.StatusUsage, err)
	}
	defer p.logFile.Close()
	o.clock = o.startClock()
	l := newLifetime(o.timeout)
	defer l.stop()
	return do(l, p)
}

// drive runs the console over a session whose tree is built, and closes the session.
func (a *app) drive(l *lifetime, p *plan, s session.Session, all rank.Set, program []string) console.Status {
	status, err := a.converse(l, p, s, all, program)
	err = overBecause(s, err)
	ctx, cancel := closing()
	defer cancel()
	closeErr := s.Close(ctx)
	switch {
	case err != nil:
		return a.fail(statusOf(err, status), err)
	case closeErr != nil:
		a.fail(status, closeErr) // reported, but the status is that of the ranks
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

// converse runs the console, for a user or for scripts.
func (a *app) converse(l *lifetime, p *plan, s session.Session, all rank.Set, program []string) (console.Status, error) {
	o := p.o
	var fed rank.Set
	var err error
	start := p.take
	if start == nil { // other ranks have their standard input from elsewhere
		if fed, err = o.inputOf(all); err != nil {
			return console.StatusUsage, err
		}
		start = o.launch(all, fed, program)
	}
	start = o.clock.tell(p.present(start, all))
	seat := p.seat
	if seat == nil {
		if seat, err = a.newSeat(o); err != nil {
			return console.StatusUsage, err
		}
	}
	if !seat.interactive {
		a.out.onBroken(func(err error) {
			a.cannotWrite(err)
			if errors.Is(err, syscall.EPIPE) {
				l.end(errPipe)
			}
		})
	}
	l.console <- true
	defer func() { l.console <- false }()
	return console.Run(l.ctx, console.Config{
		IsTimeout: func(err error) bool { return errors.Is(err, errTimeout) },
		Session:   s, All: all, Out: seat.out, Err: seat.err, Format: console.Format(o.format), WholeSets: o.wholeSets,
		Writer: seat.writer, ErrWriter: seat.errWriter,
		Start: start, Started: p.started, Over: p.over, AtEnd: p.atEnd(start), StopOnError: o.stopOnError, AnswersOnly: p.answersOnly, Scripts: p.scripts,
		Lines: seat.lines, Interactive: seat.interactive, Echo: o.echo, Fold: o.foldWait(),
		Input: seat.input, InputRanks: fed.String(), Wait: o.answerWait(),
		Interrupts: l.interrupts, Log: p.log, Progress: seat.progress, Screen: seat.screen, Shell: a.shellFor(o),
	})
}

// atEnd tells what happens to live ranks after the last command: "killed", "detached" or nothing.
func (p *plan) atEnd(start *session.Call) string {
	switch {
	case start.Command == "launch", p.over != nil: // by a starter under our control
		return "killed"
	case start.Command == "attach":
		return "detached"
	}
	return ""
}

// present restricts the first call to the ranks that have a server.
func (p *plan) present(call *session.Call, all rank.Set) *session.Call {
	if p.lost.IsEmpty() {
		return call
	}
	some := *call
	some.Ranks = all.Minus(p.lost).String()
	return &some
}

// launch returns the call that starts the job.
func (o *options) launch(all, fed rank.Set, program []string) *session.Call {
	job := &protocol.Job{
		Program: program[0], Args: program[1:], Cwd: o.cwd, Env: o.directives,
		StopAt: o.stopAt, Stdin: fed, TTY: o.tty, Size: all.Len(),
	}
	if len(o.apps) > 0 {
		job.Env, job.Apps = o.directives[:o.jobLevel], o.applications()
	}
	if o.gdb.Reverse {
		job.Env = slices.Concat(job.Env, gdb.Recordable())
	}
	return &session.Call{Command: "launch", Args: protocol.Args{Job: job}}
}

// notBuilt reports why the tree could not be built, with the last messages of the servers.
func (a *app) notBuilt(ctx context.Context, err, trouble error) console.Status {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		err = cause
	}
	if trouble != nil {
		err = fmt.Errorf("%w\n%s", err, strings.TrimSpace(trouble.Error()))
	}
	return a.fail(statusOf(err, console.StatusNoTree), err)
}

// closing returns the context for work that must be done even after all others are cancelled.
func closing() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), closeWait)
}
