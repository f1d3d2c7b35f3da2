package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"sdm/launch"
	"sdm/launch/mpir"
	"sdm/master/frontend/console"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// held is a job whose starter runs under control until all its ranks are attached.
//
// Goroutines: those of relay.
type held struct {
	launch *mpir.Launch
	come   *slots   // rendezvous of the servers that the starter starts; nil: it starts none
	refuse error    // why it starts none
	relay  relay    // passes on what the starter writes
	input  *os.File // what the starter reads, until it is started; nil: not a file that we opened

	mu     sync.Mutex
	free   rank.Set // ranks that have ended, were detached, or are lost
	killed rank.Set // by a command
	lost   rank.Set // whose servers are lost
	all    rank.Set
}

// runHeld takes control of a starter's job by MPIR. An error of type *mpir.Mute means that nothing
// was started and another way may be tried.
func (a *app) runHeld(l *lifetime, p *plan) (console.Status, error) {
	seat, err := a.newSeat(p.o)
	if err != nil {
		return console.StatusUsage, err
	}
	p.seat = seat
	h := &held{}
	spec := h.spec(a, p, seat)
	switch {
	case p.o.starterArgs != "":
		if err := h.inject(p, &spec); err != nil {
			h.abandon(p, seat)
			return console.StatusNotStarted, err
		}
	case p.o.spansHosts():
		spec.Prepare = h.coLaunch(p)
	}
	h.launch = mpir.New(spec)
	local, err := startCluster(p.forOneServer(), p.log) // meanwhile: most jobs are tried on one host
	if err != nil {
		h.abandon(p, seat)
		return console.StatusNoTree, err
	}
	whole, err := h.acquire(l, a, p.o)
	h.handed()
	j := job{whole: whole}
	if err == nil {
		j.table, err = p.o.chosen(whole)
	}
	j.coming, j.passed = h.comes(p)
	if err != nil {
		if j.coming != nil {
			j.coming.close(a, p.o, false)
		}
		local.close()
		killHere(j.whole)
		h.undo()
		seat.leave()
		return statusOf(err, console.StatusNotStarted), early(err)
	}
	j.id = h.launch.JobID()
	p.o.ownTool(h.launch.StarterPID())
	status, err := a.driveHeld(l, p, h, j, local)
	if err != nil {
		killHere(j.whole)
		h.undo()
		seat.leave()
		return a.notBuilt(l.ctx, err, nil), nil
	}
	return status, nil
}

// acquire waits until the starter holds all ranks. This includes the time in the queue of a
// resource manager, and what the ranks do before MPI_Init.
func (h *held) acquire(l *lifetime, a *app, o *options) (protocol.Proctable, error) {
	ctx, cancel := bounded(l.ctx, o.queueWait, "--queue-wait")
	defer cancel()
	defer o.clock.restart()
	return h.launch.Acquire(ctx, a.remark)
}

// early adds a hint to the error that a starter has ended before its ranks were held: a rank that
// ends before MPI_Init makes the starter end the job.
func early(err error) error {
	var e *mpir.Ended
	if !errors.As(err, &e) || e.Status.ExitStatus() == 0 {
		return err
	}
	return fmt.Errorf("%w (should a rank have ended before MPI_Init: --launcher slot holds the ranks from their first instruction)", err)
}

// killHere kills the held ranks on this host before the starter is released and ends the job. No
// debugger is attached to them, so they would run until then. Ranks on other hosts wait for these
// in MPI_Init.
func killHere(table protocol.Proctable) {
	for _, n := range table.Nodes() {
		if !isHere(n.Host) {
			continue
		}
		for _, p := range n.Pids {
			syscall.Kill(p.PID, syscall.SIGKILL)
		}
	}
}

// abandon undoes what was done before the starter was started.
func (h *held) abandon(p *plan, s *seat) {
	if h.come != nil {
		h.come.close(nil, p.o, false)
	}
	h.handed()
	h.close()
	s.leave()
}

// driveHeld attaches to all ranks, releases the starter and runs the console.
func (a *app) driveHeld(l *lifetime, p *plan, h *held, j job, local *cluster) (console.Status, error) {
	p.take, p.started, p.over = attaching(j.table), func() { h.launch.Release() }, h.look
	p.take.Args.Own = true
	c, err := a.assemble(l.ctx, p, j, local)
	if err != nil {
		return 0, err
	}
	h.all = c.ranks
	status := a.driveCrew(l, p, c)
	c.close()
	status = h.end(a, l, status)
	a.starterEnded(p.o, h.launch.Status())
	return status, nil
}

// forOneServer returns the options for a single server on this host.
func (p *plan) forOneServer() *options {
	o := *p.o
	o.np, o.ranksPerServer = 1, 0
	return &o
}

// spec gives the starter our own standard streams. With a prompt its output goes to pipes and is
// shown above the prompt, and its input is empty. With ndjson its output becomes events.
func (h *held) spec(a *app, p *plan, s *seat) mpir.Spec {
	spec := mpir.Spec{Argv: p.o.args, Env: quietly(p.o.starterEnv()), Names: starters, Stdout: a.stdout, Stderr: a.stderr}
	if s.input != nil {
		s.input.Close()
		s.input = nil
		spec.Stdin = a.stdin
		if p.o.stdinFile != "" {
			if f, err := os.Open(p.o.stdinFile); err == nil {
				spec.Stdin, h.input = f, f
			}
		}
	}
	switch {
	case s.interactive:
		spec.Stdout, spec.Stderr = h.relay.pipe(s.out), h.relay.pipe(s.err)
	case p.o.ndjson():
		spec.Stdout, spec.Stderr = h.relay.events(s.out, fromStarter)
	}
	return spec
}

// quietly switches off Open MPI's warning that MPIR is deprecated, which would stand in the output
// of the program.
func quietly(env []string) []string {
	quiet, err := launch.Environ(env, []protocol.EnvDirective{{Op: "add", Name: "OMPI_MPIR_DO_NOT_WARN", Value: "1"}})
	if err != nil {
		return env
	}
	return quiet
}

// look records the states of the ranks after the last command. If the job is not over, the starter
// ends it while gdbs still hold its ranks: Open MPI kills ranks one second after it was told to,
// and ranks that were detached before would run on during that time.
func (h *held) look(s *session.States, killed rank.Set) {
	h.mu.Lock()
	h.free, h.killed, h.lost = s.Ended(), killed, s.In(session.Lost)
	over := s.All().Minus(h.free).IsEmpty()
	h.mu.Unlock()
	if over {
		return
	}
	h.launch.Stop()
	select {
	case <-h.launch.Done():
	case <-time.After(holdWait):
	}
}

// holdWait is how long gdbs hold the ranks while the starter ends the job.
const holdWait = 3 * time.Second

// end lets the starter end the job. If all ranks have ended, were detached, or are lost, it waits
// instead until the job ends by itself or by a signal to us, and the status is the starter's.
func (h *held) end(a *app, l *lifetime, status console.Status) console.Status {
	h.mu.Lock()
	over, killed, lost := status != console.StatusNotStarted && h.all.Minus(h.free).IsEmpty(), !h.killed.IsEmpty(), h.lost
	h.mu.Unlock()
	if !over {
		h.undo()
		return status
	}
	if !lost.IsEmpty() {
		a.remark("ranks " + lost.String() + " run on without a debugger: waiting for the end of their starter (Ctrl-C ends the job)")
	}
	select {
	case <-h.launch.Done():
	case <-l.ctx.Done():
		h.undo()
		return statusOf(context.Cause(l.ctx), status)
	}
	h.close()
	if own := console.Status(h.launch.Status()); own != 0 && !killed && (status == console.StatusGood || status == console.StatusRankFailed) {
		return own
	}
	return status
}

// undo ends the starter now, and thereby its job.
func (h *held) undo() {
	ctx, cancel := closing()
	defer cancel()
	h.launch.End(ctx)
	h.close()
}

// handed closes our copies of the files that the starter has inherited.
func (h *held) handed() {
	h.relay.given()
	if h.input != nil {
		h.input.Close()
		h.input = nil
	}
}

func (h *held) close() { h.relay.close() }

// leave releases the terminal if the console was not run.
func (s *seat) leave() {
	if s.lines != nil {
		s.lines.Close()
	}
	if s.input != nil {
		s.input.Close()
	}
}

// isMute returns the *mpir.Mute in err, if there is one. Then nothing was started.
func isMute(err error) (*mpir.Mute, bool) {
	var m *mpir.Mute
	return m, errors.As(err, &m)
}
