// The command stage.

package server

import (
	"sdm/protocol"
	"sdm/tree"
)

// stage takes a piece of the gdb that the session sends to this host. It runs in the queue, so that
// ranks that are started or attached later use that gdb. Its fault does not name the host, so that
// equal faults of several hosts are one group.
func (s *Server) stage(d tree.Deliver, args protocol.Args) {
	f := &protocol.Fault{Kind: protocol.FaultState, Op: "stage"}
	switch {
	case s.refuseWhenClosed(d, "stage"):
		return
	case args.Piece == nil || s.cfg.Stage == nil:
		f.Kind, f.Message = protocol.FaultUsage, "no gdb can be brought to this server"
	case len(s.programs) > 0:
		f.Message = "its ranks are debugged already"
	default:
		err := s.cfg.Stage(*args.Piece)
		if err == nil {
			s.up.reply(d.ID, done(d.Ranks))
			return
		}
		f.Message = err.Error()
	}
	s.up.reply(d.ID, faultGroup(d.Ranks, f))
}
