// Faults and other answers as groups.

package server

import (
	"errors"
	"strconv"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// fault returns the answer of ranks for which an operation failed.
func fault(ranks rank.Set, kind protocol.FaultKind, op, message, hint string) protocol.Group {
	return faultGroup(ranks, &protocol.Fault{Kind: kind, Op: op, Message: message, Hint: hint})
}

func faultGroup(ranks rank.Set, f *protocol.Fault) protocol.Group {
	return protocol.Group{Kind: protocol.KindFault, Ranks: ranks, Body: canonical.JSON(f)}
}

// errorGroup returns the answer of ranks for which an operation failed with err, which may be a
// *protocol.Fault.
func errorGroup(ranks rank.Set, op string, err error) protocol.Group {
	var f *protocol.Fault
	if errors.As(err, &f) {
		named := *f
		named.Op = op
		return faultGroup(ranks, &named)
	}
	return fault(ranks, protocol.FaultLaunch, op, err.Error(), "")
}

// withProcess adds the process and the host to the fault of one rank, if there is a process. They
// are columns, so that the same fault of many ranks is one group.
func (s *Server) withProcess(g protocol.Group, pid, limit int) protocol.Group {
	r, _ := g.Ranks.Min()
	if pid <= 0 {
		return g
	}
	g.Columns = []column.Column{column.New("host", r, s.cfg.Host, limit), column.New("pid", r, strconv.Itoa(pid), limit)}
	return g
}

// withHost adds the host to the fault of one rank if the server runs in a slot: the ranks of such a
// job may be on several hosts.
func (s *Server) withHost(g protocol.Group, limit int) protocol.Group {
	if r, _ := g.Ranks.Min(); s.cfg.Slot != nil {
		g.Columns = []column.Column{column.New("host", r, s.cfg.Host, limit)}
	}
	return g
}

// done is a result without content.
func done(ranks rank.Set) protocol.Group {
	return protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Body: []byte("{}")}
}

func one(r rank.ID) rank.Set { return rank.Of(r) }
