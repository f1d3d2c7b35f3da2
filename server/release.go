// Release of the ranks when the master is lost.

package server

import (
	"math"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// releaseID is the request number of the server's own requests to detach or kill ranks. The session
// counts its requests from 1.
const releaseID protocol.RequestID = math.MaxUint64

// letRun detaches all ranks, also those that this server started, so that they run on without the
// master. It returns when each has been detached or cannot be detached.
func (s *Server) letRun() {
	s.releaseRanks("detach", func() rank.Set {
		ranks := s.others.live()
		for r, p := range s.processes {
			if !p.isEnded() {
				ranks = ranks.Union(one(r))
			}
		}
		return ranks
	})
}

// endOwn kills the ranks of a job that the session started by a starter. The starter is lost with
// the master and may have been unable to end them.
func (s *Server) endOwn() {
	s.releaseRanks("kill", func() rank.Set { return s.own.Intersect(s.others.live()) })
}

// releaseRanks runs a command (detach or kill) on ranks, and returns when all of them have gone.
func (s *Server) releaseRanks(command string, ranks func() rank.Set) {
	over := make(chan struct{})
	s.queue.do(task{slow: true, run: func() { s.release(command, ranks); close(over) }})
	<-over
}

// release is the body of releaseRanks. It runs in the queue, and waits at most Config.CloseWait.
func (s *Server) release(command string, which func() rank.Set) {
	if s.closed {
		return
	}
	s.mu.Lock()
	ranks := which()
	s.leaving = ranks
	s.released = make(chan struct{})
	s.mu.Unlock()
	if ranks.IsEmpty() {
		return
	}
	s.backend.Do(backend.Request{ID: releaseID, Ranks: ranks, Wait: s.cfg.CloseWait,
		Command: &protocol.Command{Name: command}})
	late := time.NewTimer(s.cfg.CloseWait)
	defer late.Stop()
	select {
	case <-s.released:
	case <-late.C:
		s.cfg.Log.Warn("not all ranks have gone in time", "command", command)
	}
}

// left removes ranks that have gone, or that cannot be detached, from those that release waits
// for.
func (s *Server) left(ranks rank.Set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving.IsEmpty() {
		return
	}
	if s.leaving = s.leaving.Minus(ranks); s.leaving.IsEmpty() {
		close(s.released)
	}
}
