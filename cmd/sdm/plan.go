// The way of an invocation: flags -> plan -> build -> session, which ends with its job.

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/master/frontend/console"
	"sdm/protocol"
)

// plan is an invocation whose arguments have been checked, before anything is started.
type plan struct {
	*options

	// build starts or finds the ranks, and builds the tree over them. An error without a status (job.Error) means
	// that no rank was started.
	build func(ctx context.Context) (*job.Job, error)
	// session is what is done with the session until it and its job have ended: a console drives it (app.drive), or
	// front ends join and leave it (app.share).
	session func(l *lifetime, j *job.Job) console.Status
	// serve takes the place of both: the session is in another process, or a front end asks for it. nil: neither.
	serve func(l *lifetime) console.Status
	// alone takes the place of all: there is no session. nil: there is one.
	alone func() console.Status

	program     *protocol.Job    // what is launched; nil: the ranks are there
	scripts     []console.Script // commands that are known at the start; nil: from the rc file, -x and -e
	greeting    []string         // commands that are executed first when a person opens a prompt
	answersOnly bool             // events are not shown
	past        bool             // the session is a hang file: there is no job to start and nothing to write down

	log      *slog.Logger
	logFile  io.Closer
	clock    *servers.Clock // limits the start
	terminal *terminal      // nil: not opened yet
}

// planned returns the plan of a session of this process: build begins it (see plan.build) and may use the plan.
func (a *app) planned(o *options, build func(ctx context.Context, p *plan) (*job.Job, error)) *plan {
	p := &plan{options: o}
	p.build = func(ctx context.Context) (*job.Job, error) { return build(ctx, p) }
	p.session = func(l *lifetime, j *job.Job) console.Status { return a.drive(l, p, j) }
	if a.held != nil {
		p.session = func(l *lifetime, j *job.Job) console.Status { return a.share(l, p, j) }
	}
	return p
}

// execute carries out a plan.
func (a *app) execute(p *plan) console.Status {
	if p.alone != nil {
		return p.alone()
	}
	l := newLifetime(p.console.timeout)
	defer l.stop()
	if err := a.open(l.ctx, p); err != nil {
		return a.failed(err, console.StatusUsage)
	}
	defer p.close()
	switch {
	case p.serve != nil:
		return p.serve(l)
	case a.held == nil && a.leads(p.options):
		return a.lead(l, p)
	}
	j, err := p.build(l.ctx)
	if err != nil {
		return a.failed(err, console.StatusNotStarted)
	}
	return p.session(l, j)
}

// open reads the files that the options name, opens the log and starts the clock. ctx ends the reading.
func (a *app) open(ctx context.Context, p *plan) (err error) {
	if p.scripts == nil && a.held == nil { // else the front end executes them
		if p.scripts, err = p.console.readScripts(ctx, p.lookup); err != nil {
			return err
		}
	}
	if hosts := &p.job.Servers.Hosts; *hosts != "" {
		names, err := job.ReadHosts(ctx, *hosts)
		if err != nil {
			return fmt.Errorf("--hosts: %w", err)
		}
		*hosts = strings.Join(names, ",") // a pipe is read once
	}
	if p.ranks.stdinFile != "" {
		if _, err := os.Stat(p.ranks.stdinFile); err != nil {
			return fmt.Errorf("--stdin-file: %w", err)
		}
	}
	var out io.Writer = os.Stderr
	if a.held != nil {
		out = a.held.said.lines()
	}
	if p.log, p.logFile, err = p.job.Servers.LogFlags.Open(out); err != nil {
		return err
	}
	p.clock = servers.NewClock(p.job.Servers.ConnectWait)
	return nil
}

func (p *plan) close() {
	p.clock.Stop()
	p.logFile.Close()
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
