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

// closeWait bounds the end of a session: killing what we started, detaching
// from the rest. Afterwards it is done without kindness.
const closeWait = 10 * time.Second

// plan is an invocation that was checked, before anything is begun.
type plan struct {
	o       *options
	scripts []console.Script
	log     *slog.Logger
	logFile io.Closer

	// Of ranks that are there already, started by a starter or left as core files:
	seat        *seat                                    // where the person sits, if it was taken before
	take        *session.Call                            // takes control of them; nil: a program is launched
	baggage     *baggage                                 // for the nodes; nil: there is none
	lost        rank.Set                                 // of these, ranks that have no server
	answersOnly bool                                     // what happens to ranks goes unsaid
	started     func()                                   // all ranks are attached, or given up
	over        func(s *session.States, killed rank.Set) // the commands are done; the ranks are as they are
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

// within does a checked invocation's work: with its plan, and until its lifetime
// ends.
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

// drive runs the console over a session whose tree stands, and ends the
// session.
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
		a.fail(status, closeErr) // said, but what the ranks did counts
	}
	return status
}

// overBecause says why a session has ended by itself, where it knows.
func overBecause(s session.Session, err error) error {
	far, ok := s.(interface{ Err() error })
	if ok && errors.Is(err, console.ErrOver) && far.Err() != nil {
		return fmt.Errorf("the session has ended: %w", far.Err())
	}
	return err
}

// converse is the conversation of a person, or of scripts, with the ranks.
func (a *app) converse(l *lifetime, p *plan, s session.Session, all rank.Set, program []string) (console.Status, error) {
	o := p.o
	var fed rank.Set
	var err error
	start := p.take
	if start == nil { // others have their standard input from elsewhere
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

// atEnd is what becomes of ranks that live when the commands are done.
func (p *plan) atEnd(start *session.Call) string {
	switch {
	case start.Command == "launch", p.over != nil: // by a starter of ours
		return "killed"
	case start.Command == "attach":
		return "detached"
	}
	return ""
}

// present is the first call for the ranks which have a server.
func (p *plan) present(call *session.Call, all rank.Set) *session.Call {
	if p.lost.IsEmpty() {
		return call
	}
	some := *call
	some.Ranks = all.Minus(p.lost).String()
	return &some
}

// launch is the call that starts the job.
func (o *options) launch(all, fed rank.Set, program []string) *session.Call {
	job := &protocol.Job{
		Program: program[0], Args: program[1:], Cwd: o.cwd, Env: o.directives,
		StopAt: o.stopAt, Stdin: fed, TTY: o.tty, Size: all.Len(),
	}
	if len(o.apps) > 0 {
		job.Env, job.Apps = o.directives[:o.jobLevel], o.applications()
	}
	if o.reverse {
		job.Env = slices.Concat(job.Env, gdb.Recordable())
	}
	return &session.Call{Command: "launch", Args: protocol.Args{Job: job}}
}

// notBuilt says why the tree does not stand, and what the servers said last.
func (a *app) notBuilt(ctx context.Context, err, trouble error) console.Status {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		err = cause
	}
	if trouble != nil {
		err = fmt.Errorf("%w\n%s", err, strings.TrimSpace(trouble.Error()))
	}
	return a.fail(statusOf(err, console.StatusNoTree), err)
}

// closing is a context for what must end even when all else is over.
func closing() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), closeWait)
}
