// The process of a session that front ends join and leave.

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/user"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/cmd/internal/sessions"
	"sdm/cmd/internal/startup"
	"sdm/master/frontend/console"
	"sdm/master/frontend/rpc"
	"sdm/master/hub"
	"sdm/master/session"
	"sdm/protocol"
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
	entry, door := a.register(p, j.Ranks)
	defer entry.Remove()
	begun := startWatch{command: start.Command, started: make(chan struct{})}
	output, err := openLog(p.outputLog)
	if err != nil {
		a.remark(err.Error())
	}
	if output != nil {
		defer output.Close()
	}
	h := hub.New(hub.Config{
		Output:  output,
		Session: j.Session, Ranks: j.Ranks, Observe: begun.observe,
		Welcome: session.Welcome{Session: entry.State().ID, Start: start, AtEnd: string(kind)},
	})
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	var serving sync.WaitGroup
	lost := session.Report{Servers: 1, Ranks: j.Ranks}
	if !j.Lost.IsEmpty() {
		lost.Absent, lost.Partial = []session.Absent{{Ranks: j.Lost, Cause: "no server"}}, true
	}
	serve := func(ctx context.Context, c *rpc.Conn) {
		var view *hub.View
		open := func(_ context.Context, s rpc.Setup, _ func(string)) (session.Session, session.Report, error) {
			var front protocol.FrontEnd
			if s.Front != nil {
				front = *s.Front
			}
			v, err := h.Join(front, s.Cursor)
			if err != nil {
				return nil, lost, err
			}
			view = v
			a.silence(h)
			return v, lost, nil
		}
		if err := rpc.Serve(ctx, c, open, rpc.Options{Build: startup.Build(), Summary: h.Summary, Log: p.log}); err != nil {
			p.log.Debug("a front end is gone", "err", err)
		}
		if view != nil {
			view.Close(ctx)
		}
	}
	serving.Go(func() { serve(ctx, rpc.Private(a.held.first)) })
	if door != nil {
		serving.Go(func() {
			if err := door.Serve(ctx, serve); err != nil {
				a.remark("nobody else can join any more: " + err.Error())
			}
		})
	}
	err = a.keep(ctx, h, hub.Keep{For: a.held.keep, Attached: kind == console.AtEndDetached}, j, &begun)
	return a.endShared(l, j, h, err, func() {
		cancel()
		serving.Wait()
	})
}

// openLog opens --output-log; nil: there is none.
func openLog(path string) (io.WriteCloser, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--output-log: %w", err)
	}
	return f, nil
}

// endShared ends a session and its job.
func (a *app) endShared(l *lifetime, j *job.Job, h *hub.Hub, why error, parted func()) console.Status {
	states, killed := h.States()
	if j.Over != nil {
		j.Over(states, killed)
	}
	closing, cancel := servers.Closing()
	defer cancel()
	if err := j.Session.Close(closing); err != nil {
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

// startWatch tells when the first call of the session is complete.
type startWatch struct {
	command string
	some    atomic.Bool // a rank was started
	once    sync.Once
	started chan struct{} // closed when the call is complete and some rank was started
}

// observe is for hub.Config.Observe.
func (s *startWatch) observe(e session.Event) {
	if !e.IsAnswer() || e.Command != s.command {
		return
	}
	if e.Group.Kind == protocol.KindResult && e.Done == nil {
		s.some.Store(true)
	}
	if e.Done != nil && s.some.Load() {
		s.once.Do(func() { close(s.started) })
	}
}

// keep waits until the session ends, and looks after it while nobody is there. The error is why it was ended; nil: by
// a front end, or by itself.
func (a *app) keep(ctx context.Context, h *hub.Hub, k hub.Keep, j *job.Job, begun *startWatch) error {
	started := begun.started
	absent := time.Now()
	letGo, came := false, false
	for {
		changed := h.Changed()
		var due <-chan time.Time
		if len(h.Present()) > 0 {
			absent, letGo, came = time.Time{}, false, true
		} else {
			if absent.IsZero() {
				absent = time.Now()
			}
			d := k.After(time.Since(absent), letGo)
			if d.End || came && !h.Started() { // or there is nothing to come back to
				return nil
			}
			if d.LetGo {
				letGo = true
				a.letGo(ctx, h)
			}
			if d.Next > 0 {
				due = time.After(d.Next)
			}
		}
		select {
		case <-started:
			started = nil
			if j.Started != nil {
				j.Started()
			}
		case <-h.Done():
			return nil
		case <-changed:
		case <-due:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// letGo detaches from the ranks that stand still.
func (a *app) letGo(ctx context.Context, h *hub.Hub) {
	states, _ := h.States()
	standing := states.In(session.Stopped)
	if standing.IsEmpty() {
		return
	}
	err := h.Act(ctx, session.Call{Command: "detach", Ranks: standing.String()}, "nobody is here: ranks "+standing.String()+" of a running job, which stood still, are let go")
	if err != nil {
		a.remark("ranks " + standing.String() + " stand still and could not be let go: " + err.Error())
	}
}

// userName returns the name by which others see the user.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "user"
}

// register puts the session on file and listens for front ends. Without a file it can be joined by nobody else.
func (a *app) register(p *plan, all rank.Set) (*sessions.Entry, *rpc.Listener) {
	kind := sessions.Kind(a.args[0])
	entry, err := sessions.Register(sessions.State{Kind: kind, Program: sessions.ProgramText(p.args), Ranks: all.String(),
		Keep: a.held.keep})
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
