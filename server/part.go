package server

import (
	"math"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// parting is the number of a request that nobody has made: the session's are
// counted from 1.
const parting protocol.RequestID = math.MaxUint64

// letRun lets go of all ranks, those that we started included: the master is lost,
// and they are to run on. It returns when they have been let go, or could not be.
func (s *Server) letRun() {
	s.partFrom("detach", func() rank.Set {
		ranks := s.others.live()
		for r, p := range s.processes {
			if !p.isEnded() {
				ranks = ranks.Union(one(r))
			}
		}
		return ranks
	})
}

// endOwn kills the ranks that a starter of the session has started: the master is lost, and the starter with it,
// which perhaps could not end them.
func (s *Server) endOwn() {
	s.partFrom("kill", func() rank.Set { return s.own.Intersect(s.others.live()) })
}

// partFrom carries out a command on ranks, and returns when they have gone.
func (s *Server) partFrom(command string, ranks func() rank.Set) {
	over := make(chan struct{})
	s.lane.do(job{slow: true, run: func() { s.part(command, ranks); close(over) }})
	<-over
}

// part runs in the lane.
func (s *Server) part(command string, which func() rank.Set) {
	if s.closed {
		return
	}
	s.mu.Lock()
	ranks := which()
	s.leaving = ranks
	s.parted = make(chan struct{})
	s.mu.Unlock()
	if ranks.IsEmpty() {
		return
	}
	s.backend.Do(backend.Request{ID: parting, Ranks: ranks, Wait: s.cfg.CloseWait, Command: &protocol.Command{Name: command}})
	late := time.NewTimer(s.cfg.CloseWait)
	defer late.Stop()
	select {
	case <-s.parted:
	case <-late.C:
		s.cfg.Log.Warn("not all ranks have gone in time", "command", command)
	}
}

// left notes ranks that have gone, or that cannot be let go.
func (s *Server) left(ranks rank.Set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving.IsEmpty() {
		return
	}
	if s.leaving = s.leaving.Minus(ranks); s.leaving.IsEmpty() {
		close(s.parted)
	}
}
