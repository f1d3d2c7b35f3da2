// Jobs of starters that run our servers in place of the ranks.

package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/term"

	"sdm/cmd/internal/relay"
	"sdm/cmd/internal/servers"
	"sdm/launch/slot"
	"sdm/launch/slurm"
	"sdm/master/frontend/console"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// slotJob is a job of a starter that runs our servers in its slots in place of the ranks.
//
// Goroutines: the ones of rendezvous, relay and queue.
type slotJob struct {
	*start
	rendezvous *servers.Rendezvous
	starter    *slot.Starter
	relay      relay.Relay // passes on what the starter writes to standard output
	queue      *queue
	alone      bool // no rank is under control any more, and no command has killed one
	free       bool // alone, and ranks may still run: some were detached, or never controlled
}

// inSlots starts the starter with our servers in its slots.
func (t *start) inSlots(ctx context.Context, line slot.Line) (*Job, error) {
	r, err := t.b.Open(false) // a starter ends its job when a slot fails
	if err != nil {
		return nil, failed(console.StatusNoTree, err)
	}
	s := &slotJob{start: t, rendezvous: r}
	inTime, expire := context.WithCancelCause(ctx)
	defer expire(nil)
	if err := s.run(inTime, line, expire); err != nil {
		s.close(false)
		return nil, failed(console.StatusNotStarted, err)
	}
	report, err := s.build(inTime)
	if err == nil {
		r.Sweep(report.Servers)
		err = t.b.BringGDB(inTime, r.Master)
	}
	if err != nil {
		return nil, s.abandon(ctx, err)
	}
	return &Job{Session: r.Master, Ranks: report.Ranks, Over: s.observe, end: s.end}, nil
}

// run starts the starter.
func (s *slotJob) run(ctx context.Context, line slot.Line, expire context.CancelCauseFunc) error {
	server, err := s.rendezvous.Line()
	if err != nil {
		return err
	}
	server = append(server, "--per-node") // there is one in each slot
	if s.Only != "" {
		server = append(server, "--ranks", s.Only)
	}
	if StarterName(line.Argv[0]) == "srun" && InAllocation(s.Servers.Env) {
		server = s.rendezvous.Broadcast(ctx, slurm.Broadcast, server)
	}
	if s.queue, err = watchQueue(s.IO, s.QueueWait, expire); err != nil {
		return err
	}
	defer s.queue.started()
	argv := slices.Concat(s.Front, line.Wrap(func(int) []string { return server }))
	spec := slot.Spec{Argv: argv, Group: len(s.Front) > 0, Env: s.Servers.StarterEnv, Stdout: s.Out, Stderr: s.queue.write}
	if s.JSON != nil {
		spec.Stdout = s.relay.Pipe(relay.Writer{Out: s.JSON, From: fromStarter, Kind: protocol.KindStdout})
		defer s.relay.Inherited()
	}
	if s.Servers.Output == servers.OutputStarter && !term.IsTerminal(int(s.In.Fd())) {
		spec.Stdin = s.In
	}
	s.starter, err = slot.Start(spec)
	return err
}

// build waits for the servers and builds the tree over them. It returns an error if the starter
// ends before that.
func (s *slotJob) build(ctx context.Context) (session.Report, error) {
	defer s.queue.done()
	running, cancel := context.WithCancelCause(ctx) // ends with the starter
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-s.starter.Done():
			cancel(s.starter.Ended())
		case <-running.Done():
		}
	})
	defer watching.Wait()
	defer cancel(nil)
	only, err := s.awaited()
	if err != nil {
		return session.Report{}, err
	}
	show := s.b.ShowProgress("ranks")
	return s.rendezvous.Gather(running, only, func(have, want int) {
		s.queue.arrived()
		if show != nil {
			show(have, want)
		}
	})
}

// abandon ends a job whose tree could not be built and returns the error for the user.
func (s *slotJob) abandon(ctx context.Context, err error) error {
	job, queued := s.queue.isQueued()
	s.close(false)
	if queued && ctx.Err() != nil {
		s.report(protocol.JobState{State: "cancelled", Job: job})
	}
	var ended *slot.Ended
	if line := s.queue.failedProlog(); line != "" {
		return failed(console.StatusNotStarted, fmt.Errorf("a task prolog has failed: %s: its ranks were not started", line))
	}
	if errors.As(err, &ended) {
		return failed(console.StatusNotStarted, err) // the starter has reported the reason
	}
	return NotBuilt(ctx, err, nil)
}

// observe records the states of the ranks after the last command.
func (s *slotJob) observe(states *session.States, killed rank.Set) {
	s.alone = killed.IsEmpty() && states.All().Minus(states.Ended()).IsEmpty()
	s.free = s.alone && states.In(session.Lost).IsEmpty() && (s.Only != "" || !states.In(session.Detached).IsEmpty())
}

// end waits for the end of the job if ranks run on by themselves.
func (s *slotJob) end(ctx context.Context, status console.Status) (console.Status, error) {
	if s.free && !s.ended(ctx) {
		s.close(false)
		return status, context.Cause(ctx)
	}
	s.close(true)
	if own := s.starter.Status(); s.alone && (s.free && status == console.StatusGood ||
		status == console.StatusRankFailed) && own > 0 && own < 128 {
		return console.Status(own), nil // of MPI_Abort, or derived from the statuses of the ranks
	}
	return status, nil
}

// ended waits for the end of the starter, without limit. It returns false if ctx ends first.
func (s *slotJob) ended(ctx context.Context) bool {
	select {
	case <-s.starter.Done():
		return true
	case <-ctx.Done():
		return false
	}
}

// close ends the master, unless it has ended already, and then waits for the starter, which ends
// with its slots. Without a tree the starter is told to end.
func (s *slotJob) close(built bool) {
	ctx, cancel := servers.Closing()
	defer cancel()
	s.rendezvous.Close(ctx)
	if s.starter != nil {
		if !built {
			cancel()
		}
		s.starter.End(ctx)
		s.relay.Close()
		s.reportEnd(s.starter.Status())
	}
	if s.queue != nil {
		s.queue.close()
	}
}
