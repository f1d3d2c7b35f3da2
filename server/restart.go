// The command run: it restarts the programs of ranks.

package server

import (
	"math"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
)

// killID is the number of the server's own request to kill ranks that are restarted.
const killID protocol.RequestID = math.MaxUint64 - 1

// restart restarts programs that were launched here, in the same way. Live ranks are killed
// first, and their end is not reported: they continue in the new process.
func (s *Server) restart(d tree.Deliver, args protocol.Args) {
	if s.refuseWhenClosed(d, "run") {
		return
	}
	jobs := map[rank.ID]protocol.Job{}
	var live []*process
	var old rank.Set
	for r := range d.Ranks.All() {
		j, f := s.jobOf(r)
		if f != nil {
			s.up.reply(d.ID, errorGroup(one(r), "run", f))
			continue
		}
		if args.Arguments != nil {
			j.Args = args.Arguments
		}
		jobs[r] = j
		if p := s.find(r); p.endSilently() {
			live, old = append(live, p), old.Union(one(r))
		}
	}
	if !old.IsEmpty() {
		for _, p := range live {
			p.kill()
		}
		s.backend.Do(backend.Request{ID: killID, Ranks: old, Wait: s.cfg.CloseWait, Command: &protocol.Command{Name: "kill"}})
		s.awaitEnds(live)
	}
	b := batch{id: d.ID, limit: args.Limit}
	for r := range d.Ranks.All() {
		j, ok := jobs[r]
		if !ok {
			continue
		}
		p, err := s.start(r, j, d.ID)
		if err != nil {
			s.up.reply(d.ID, errorGroup(one(r), "run", err))
			continue
		}
		b.add(s.target(r, p, j), protocol.Started{Program: j.Program})
	}
	stopAt := args.Location
	if stopAt == "" {
		stopAt = "none"
	}
	s.handOver(b, stopAt, d, &args)
}

// jobOf returns the job that a rank was launched with, or a fault that says why the rank cannot be
// restarted.
func (s *Server) jobOf(r rank.ID) (protocol.Job, *protocol.Fault) {
	s.mu.Lock()
	p, other := s.processes[r], s.others.known.Contains(r)
	s.mu.Unlock()
	const hint = "quit, and start the job anew"
	switch {
	case other && s.cfg.Forker == nil:
		return protocol.Job{}, &protocol.Fault{Kind: protocol.FaultState, Message: "simulated ranks cannot be started again", Hint: hint}
	case other:
		return protocol.Job{}, &protocol.Fault{Kind: protocol.FaultState, Message: "sdm has not started the rank: only its starter (mpirun, srun, ...) can start it again", Hint: hint}
	case p == nil:
		return protocol.Job{}, backend.NotStarted()
	case s.cfg.Slot != nil || s.cfg.Remotes[r] != nil:
		return protocol.Job{}, &protocol.Fault{Kind: protocol.FaultState, Message: "a starter (mpirun, srun, ...) has given the rank its place in a job, and only it can start that again", Hint: hint}
	}
	return *p.job, nil
}

// awaitEnds returns when the ends of ranks have been reported to the back end, or after
// Config.CloseWait.
func (s *Server) awaitEnds(live []*process) {
	late := time.NewTimer(s.cfg.CloseWait)
	defer late.Stop()
	for _, p := range live {
		select {
		case <-p.child.Done():
			// The queue runs the task that reports the end only after this one.
			s.backend.Ended(p.rank, p.child.Wait())
		case <-late.C:
			return // then the restart is refused because the rank still has a process
		}
		select {
		case <-p.over:
		case <-late.C:
			return
		}
	}
}
