// The process of a session that front ends join and leave.

package main

import (
	"context"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/cmd/internal/sessions"
	"sdm/cmd/internal/share"
	"sdm/cmd/internal/startup"
	"sdm/master/frontend/console"
	"sdm/master/frontend/rpc"
	"sdm/master/hub"
	"sdm/master/session"
	"sdm/protocol/rank"
)

// share holds a session for front ends until it ends, and returns the status of the job.
//
// Goroutines: one for the first front end, one that listens for others, with one for each; they end with the session.
func (a *app) share(l *lifetime, p *plan, j *job.Job) console.Status {
	start, _, err := p.opening(j)
	if err != nil {
		return a.fail(console.StatusUsage, err)
	}
	kind := atEnd(start, j)
	if p.keepGiven {
		a.held.keep = p.keep
	}
	keep := hub.Keep{
		For: a.held.keep, Attached: kind == console.AtEndDetached, Standing: min(p.keepStanding, a.held.keep),
	}
	entry, door := a.register(p, j.Ranks)
	defer entry.Remove()
	begun := share.NewBeginning(start.Command)
	output, err := share.OpenLog(p.outputLog)
	if err != nil {
		a.remark("--output-log: " + err.Error())
	}
	if output != nil {
		defer output.Close()
	}
	over := overOnce(j)
	h := hub.New(hub.Config{
		Output: output, Quitting: over,
		Session: j.Session, Ranks: j.Ranks, Observe: begun.Observe,
		Welcome: session.Welcome{Session: entry.State().ID, Start: start, AtEnd: string(kind)},
	})
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	var serving sync.WaitGroup
	lost := session.Report{Servers: 1, Ranks: j.Ranks}
	if !j.Lost.IsEmpty() {
		lost.Absent, lost.Partial = []session.Absent{{Ranks: j.Lost, Cause: "no server"}}, true
	}
	front := share.Door{
		Open: func(context.Context, rpc.Setup, func(string)) (*hub.Hub, session.Report, error) {
			return h, lost, nil
		},
		Joined: a.silence, Summary: h.Summary, Log: p.log,
	}
	serving.Go(func() { front.Serve(ctx, rpc.Private(a.held.first)) })
	if door != nil {
		serving.Go(func() {
			if err := door.Serve(ctx, front.Serve); err != nil {
				a.remark("nobody else can join any more: " + err.Error())
			}
		})
	}
	err = share.Keeper{
		Hub: h, Keep: func() hub.Keep { return keep },
		Begun: begun.Begun(), Started: j.Started, Remark: a.remark,
	}.Run(ctx)
	over(h.States())
	return a.endShared(l, j, h, err, func() {
		cancel()
		serving.Wait()
	})
}

// overOnce returns what the starter of a job is told at the end of its session: the first time that it is called. Ranks
// are still held then; after a quit they are not.
func overOnce(j *job.Job) func(states *session.States, killed rank.Set) {
	var once sync.Once
	return func(states *session.States, killed rank.Set) {
		if j.Over != nil {
			once.Do(func() { j.Over(states, killed) })
		}
	}
}

// endShared ends a session and its job.
func (a *app) endShared(l *lifetime, j *job.Job, h *hub.Hub, why error, parted func()) console.Status {
	if err := servers.CloseInTime(j.Session); err != nil {
		a.remark(err.Error())
	}
	h.Wait()
	status, err := j.End(l.ctx, console.StatusGood)
	if err == nil {
		err = why
	}
	a.held.relay.Close()
	parted()
	if err != nil {
		return statusOf(err, status)
	}
	return status
}

// silence takes the standard streams from a process whose front end shows everything from now on.
func (a *app) silence(h *hub.Hub) {
	a.held.said.handOver(h)
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		defer null.Close()
		for fd := range 3 {
			_ = unix.Dup3(int(null.Fd()), fd, 0) // at worst they stay
		}
	}
}

// register puts the session on file and listens for front ends. Without a file no other front end can join it.
func (a *app) register(p *plan, all rank.Set) (*sessions.Entry, *rpc.Listener) {
	kind := sessions.Kind(a.args[0])
	entry, err := sessions.Register(sessions.State{Kind: kind, Program: sessions.ProgramText(p.args), Ranks: all.String(),
		Keep: a.held.keep, Intent: a.held.intent})
	if err != nil {
		a.remark(err.Error())
	}
	door, err := rpc.Listen(entry.State().Addr(), rpc.Options{Build: startup.Build(), Log: p.log})
	if err != nil {
		a.remark("nobody else can join this session: " + err.Error())
		return entry, nil
	}
	return entry, door
}
