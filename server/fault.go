package server

import (
	"errors"
	"strconv"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// fault is the answer of ranks that failed.
func fault(ranks rank.Set, kind protocol.FaultKind, op, message, hint string) protocol.Group {
	return faultGroup(ranks, &protocol.Fault{Kind: kind, Op: op, Message: message, Hint: hint})
}

func faultGroup(ranks rank.Set, f *protocol.Fault) protocol.Group {
	return protocol.Group{Kind: protocol.KindFault, Ranks: ranks, Body: canonical.JSON(f)}
}

// errorGroup is the same for an error, which may be a fault already.
func errorGroup(ranks rank.Set, op string, err error) protocol.Group {
	var f *protocol.Fault
	if errors.As(err, &f) {
		named := *f
		named.Op = op
		return faultGroup(ranks, &named)
	}
	return fault(ranks, protocol.FaultLaunch, op, err.Error(), "")
}

// ofProcess adds to the fault of one rank which process on which host it is about, if
// there is one: as columns, so that the same fault of many ranks is one group.
func (s *Server) ofProcess(g protocol.Group, pid, limit int) protocol.Group {
	r, _ := g.Ranks.Min()
	if pid <= 0 {
		return g
	}
	g.Columns = []column.Column{column.New("host", r, s.cfg.Host, limit), column.New("pid", r, strconv.Itoa(pid), limit)}
	return g
}

// inSlot adds to the fault of one rank the host, where the ranks of a job may be on several.
func (s *Server) inSlot(g protocol.Group, limit int) protocol.Group {
	if r, _ := g.Ranks.Min(); s.cfg.Slot != nil {
		g.Columns = []column.Column{column.New("host", r, s.cfg.Host, limit)}
	}
	return g
}

// done is the answer that says nothing but that it was done.
func done(ranks rank.Set) protocol.Group {
	return protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Body: []byte("{}")}
}

func one(r rank.ID) rank.Set { return rank.Of(r) }
