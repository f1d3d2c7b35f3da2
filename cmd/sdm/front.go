// The console as a front end of a session that other front ends share.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"sdm/cmd/internal/servers"
	"sdm/cmd/internal/share"
	"sdm/master/frontend/console"
	"sdm/master/frontend/rpc"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// The doors by which front ends come.
const (
	doorConsole = "console"
	doorDAP     = "dap"
	doorWhy     = "why"
	doorMCP     = "mcp"
	doorWeb     = "web"
)

// lead starts the process of a session for this invocation, and is its first front end.
func (a *app) lead(l *lifetime, p *plan) console.Status {
	begin, front := a.startHolder, introduction(doorConsole)
	if p.on != "" {
		begin, front.Host = func() (*holder, error) { return a.startHolderOn(p) }, servers.HostName()
	} else if f, err := share.OpenLog(p.outputLog); err != nil {
		return a.fail(console.StatusUsage, fmt.Errorf("--output-log: %w", err))
	} else if f != nil {
		f.Close()
	}
	typed := a.isInteractive(&p.console) // asked now: a terminal may be gone later
	h, err := begin()
	if err != nil {
		return a.fail(console.StatusNotStarted, fmt.Errorf("the process of the session: %w", err))
	}
	c := rpc.Over(h)
	stop := context.AfterFunc(l.ctx, func() {
		sig := syscall.SIGTERM
		var k killed
		if errors.As(context.Cause(l.ctx), &k) {
			sig = k.sig
		}
		h.signal(sig)
	})
	report, err := c.Initialize(l.ctx, rpc.Setup{Front: front})
	stop()
	if err != nil { // it has said why
		c.Cut()
		<-h.ended
		if p.on != "" && isOfShell(h.status()) && l.ctx.Err() == nil {
			return a.fail(console.StatusNotStarted, fmt.Errorf("--on %s: %s: %s", p.on, h.cmd.Args[0], h.cmd.ProcessState))
		}
		return statusOf(context.Cause(l.ctx), console.Status(h.status()))
	}
	status, left := a.accompany(l, p, c, report.Ranks, false)
	if left && typed {
		if p.on != "" { // the remote shell has nothing to do any more
			h.signal(syscall.SIGKILL)
			<-h.ended
		}
		return status
	}
	if left { // as in a batch script, which must not end before the session
		id := c.Welcome().Session
		a.remark(id + " goes on; sdm join " + id + " joins it, and this command ends with it")
		context.AfterFunc(l.ctx, func() { h.signal(syscall.SIGTERM) })
		<-h.ended
		return statusOf(context.Cause(l.ctx), console.Status(max(0, h.status())))
	}
	select {
	case <-h.ended:
		if own := h.status(); status == console.StatusGood && own > 0 {
			status = console.Status(own)
		}
	case <-l.ctx.Done():
		status = statusOf(context.Cause(l.ctx), status)
	}
	return status
}

// introduction tells others who we are, and by which door we come.
func introduction(door string) *protocol.FrontEnd {
	return &protocol.FrontEnd{Name: share.UserName(), Door: door, PID: os.Getpid()}
}

// accompany runs the console over a session that is shared. left reports that the session goes on; otherwise it has
// ended. guest: another has started the session.
func (a *app) accompany(l *lifetime, p *plan, c *rpc.Client, all rank.Set,
	guest bool) (status console.Status, left bool) {
	w := c.Welcome()
	if err := a.openTerminal(l.ctx, p); err != nil {
		c.Leave(w.Cursor)
		return a.fail(console.StatusUsage, err), true
	}
	a.breakPipes(l, p.terminal)
	cfg := a.consoleConfig(l, p, c, all)
	var shown uint64
	cfg.Start, cfg.AtEnd, cfg.AnswersOnly = p.clock.Tell(w.Start), console.AtEnd(w.AtEnd), p.answersOnly
	cfg.Progress, cfg.Welcome, cfg.Guest, cfg.Shown = p.terminal.progress, &w, guest || p.keepGiven, &shown
	shut := sync.OnceValue(func() error { return servers.CloseInTime(c) })
	status, err := l.runConsole(cfg, shut)
	var k killed
	switch {
	case errors.As(err, &k): // a lost terminal, or a front end that somebody kills
		c.Leave(shown)
		a.remark(k.Error() + "; " + w.Session + " goes on: sdm join " + w.Session + " comes back")
		return statusOf(err, status), true
	case errors.Is(err, console.ErrLeft):
		c.Leave(shown)
		return statusOf(err, status), true
	case errors.Is(err, console.ErrOver) && c.Err() == nil:
		err = nil // another has ended it, which was told
	}
	err = overBecause(c, err)
	closeErr := shut()
	switch {
	case err != nil:
		status = a.fail(statusOf(err, status), err)
	case closeErr != nil:
		a.fail(status, closeErr)
	}
	return status, false
}

// leads reports whether an invocation starts a session that can be left: if --keep asks for it, and at a terminal if it
// has processes.
func (a *app) leads(o *options) bool {
	if o.keepGiven && o.keep == 0 || o.ranks.stdinFile != "" {
		return false
	}
	return o.keepGiven || o.outputLog != "" || o.on != "" || o.processes && a.isInteractive(&o.console)
}
