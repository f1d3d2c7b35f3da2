// A session that several front ends join and leave, in the program of the master.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"sdm/cmd/internal/sessions"
	"sdm/cmd/internal/share"
	"sdm/master/frontend/rpc"
	"sdm/master/hub"
	"sdm/master/session"
	"sdm/protocol"
)

// kept is a session with --keep. The tree is built at once if the flags tell where the servers are, else as the first
// front end says.
//
// Goroutines: one for each front end and for each place at which they come, and one that builds the tree at once; they
// end with run.
type kept struct {
	p        *program
	entry    *sessions.Entry
	output   io.Writer // of the ranks; nil: only front ends get it
	serving  sync.WaitGroup
	attached atomic.Bool // to ranks that run already

	building sync.Mutex    // held while the tree is built
	built    chan struct{} // closed when it is there; then the following are set
	hub      *hub.Hub
	report   session.Report
}

// keepRPC serves front ends until the session ends. served and unmet are as those of talkRPC.
func (p *program) keepRPC(ctx context.Context, stdin io.Reader, stdout io.Writer) (served, unmet error) {
	k := &kept{p: p, built: make(chan struct{})}
	output, err := share.OpenLog(p.o.outputLog)
	if err != nil {
		return nil, fmt.Errorf("--output-log: %w", err)
	}
	if output != nil {
		defer output.Close()
		k.output = output
	}
	k.entry, err = sessions.Register(sessions.State{Kind: sessions.Master, Job: p.builder.job, Keep: p.o.keep})
	if err != nil {
		p.say(err.Error())
	}
	defer k.entry.Remove()
	ctx, end := context.WithCancelCause(ctx)
	defer k.serving.Wait()
	defer end(nil)
	if err := k.listen(ctx, stdin, stdout); err != nil {
		return nil, err
	}
	if p.o.hasRoutes() {
		k.serving.Go(func() {
			if _, _, err := k.open(ctx, rpc.Setup{}, p.say); err != nil {
				end(err)
			}
		})
	}
	select {
	case <-k.built:
		return k.run(ctx), nil
	case <-time.After(p.o.keep):
		return nil, fmt.Errorf("no front end has asked for a tree in %v (--keep)", p.o.keep)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// listen lets front ends come: to the socket of the session, and as the flags say.
func (k *kept) listen(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	p, door := k.p, share.Door{Open: k.open, Summary: k.summary, Job: k.p.builder.job, Log: k.p.log}
	serveAll := func(l *rpc.Listener) {
		k.serving.Go(func() {
			if err := l.Serve(ctx, door.Serve); err != nil {
				p.say("nobody else comes to " + l.Addr().String() + ": " + err.Error())
			}
		})
	}
	l, err := rpc.Listen(k.entry.State().Addr(), rpc.Options{Build: p.version, Log: p.log})
	if err != nil {
		return err
	}
	serveAll(l)
	if id := k.entry.State().ID; id != "" {
		p.say("sdm join " + id + " joins the session")
	}
	options := p.options()
	switch {
	case p.o.listen != "":
		l, err := rpc.Listen(p.o.listenAddr(), options)
		if err != nil {
			return fmt.Errorf("--listen: %w", err)
		}
		p.say(fmt.Sprintf("front ends are awaited at %s", l.Addr()))
		serveAll(l)
	case p.o.connect != "":
		c, err := p.meet(ctx, options, stdin, stdout)
		if err != nil {
			return err
		}
		k.serving.Go(func() { door.Serve(ctx, c) })
	}
	return nil
}

// open returns the hub; it builds the tree if there is none. It is for share.Door.
func (k *kept) open(ctx context.Context, s rpc.Setup, note func(string)) (*hub.Hub, session.Report, error) {
	k.building.Lock()
	defer k.building.Unlock()
	if k.hub != nil {
		return k.hub, k.report, nil
	}
	sess, report, err := k.p.builder.open(ctx, s, note)
	if err != nil {
		return nil, report, err
	}
	if err := k.entry.Update(func(s *sessions.State) { s.Ranks = report.Ranks.String() }); err != nil {
		k.p.log.Debug("the list of sessions", "err", err)
	}
	// The ranks run what the servers were given; a front end may launch something else in place of it.
	first := &session.Call{Command: "launch", Args: protocol.Args{Job: &protocol.Job{
		Program: protocol.GivenProgram, StopAt: "main", Size: report.Ranks.Len(),
	}}}
	k.report = report
	k.hub = hub.New(hub.Config{
		Session: sess, Ranks: report.Ranks, Observe: k.observe, Output: k.output,
		Welcome: session.Welcome{Session: k.entry.State().ID, Start: first, AtEnd: "killed"},
	})
	close(k.built)
	return k.hub, report, nil
}

// observe is for hub.Config.Observe.
func (k *kept) observe(e session.Event) {
	if e.IsAnswer() && e.Command == "attach" {
		k.attached.Store(true)
	}
}

// summary is for rpc.Options.Summary.
func (k *kept) summary() session.Summary {
	select {
	case <-k.built:
		return k.hub.Summary()
	default:
		return session.Summary{}
	}
}

// run looks after the session, ends it, and then lets its front ends go.
func (k *kept) run(ctx context.Context) error {
	keep := func() hub.Keep { return hub.Keep{For: k.p.o.keep, Attached: k.attached.Load()} }
	err := share.Keeper{Hub: k.hub, Keep: keep, Awaited: true, Remark: k.p.say}.Run(ctx)
	closing, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	err = errors.Join(err, k.p.builder.end(closing))
	k.hub.Wait()
	return err
}
