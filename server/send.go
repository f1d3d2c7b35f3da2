// The command send.

package server

import (
	"errors"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
)

// send writes to the standard input of ranks. A rank answers when its pipe has taken all bytes, so
// that a sender waits for ranks that read slowly.
func (s *Server) send(d tree.Deliver, args protocol.Args) {
	for r := range d.Ranks.All() {
		p := s.find(r)
		if f := s.refusal(r, p); f != nil {
			s.up.reply(d.ID, faultGroup(one(r), f))
			continue
		}
		p.in.send(args.Data, args.EOF, func(err error) { s.up.reply(d.ID, sent(r, err)) })
	}
}

// refusal returns why nothing can be sent to a rank, nil if it can. p is nil if this server did
// not start the rank.
func (s *Server) refusal(r rank.ID, p *process) *protocol.Fault {
	s.mu.Lock()
	others := s.others
	s.mu.Unlock()
	f := &protocol.Fault{Kind: protocol.FaultState, Op: "send"}
	switch {
	case others.live().Contains(r) && !s.cfg.Through:
		f.Message, f.Hint = "we did not start the rank: its standard input is not ours", fromStarter
	case p == nil && !others.known.Contains(r):
		f.Message = "the rank has not been started"
	case others.ended.Contains(r) || p != nil && p.isEnded():
		f.Message = "the rank has ended"
	case p != nil && p.in != nil:
		return nil
	case s.cfg.Through:
		f.Message, f.Hint = "the standard input of the rank belongs to the starter", "leave --output starter out"
	default:
		f.Kind, f.Message, f.Hint = protocol.FaultUsage, "the rank does not read our standard input", "name it with --stdin when you start the job"
	}
	return f
}

// fromStarter is the hint about the standard input of ranks that a starter has started.
const fromStarter = "start the job by sdm run --launcher slot -- mpirun ... to send, or with --stdin-file FILE for rank 0"

func sent(r rank.ID, err error) protocol.Group {
	if err == nil {
		return done(one(r))
	}
	f := &protocol.Fault{Kind: protocol.FaultState, Op: "send", Message: err.Error()}
	if errors.Is(err, errStdinFull) {
		f.Hint = "let it run until it reads"
	}
	return faultGroup(one(r), f)
}
