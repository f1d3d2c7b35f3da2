// Core files in place of processes.

package server

import (
	"fmt"

	"sdm/backend"
	"sdm/launch"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
)

// openCores opens core files for ranks.
func (s *Server) openCores(d tree.Deliver, args protocol.Args) {
	if s.refuseWhenClosed(d, "core") {
		return
	}
	files := map[rank.ID]protocol.Core{}
	for _, c := range args.Cores {
		files[c.Rank] = c
	}
	b := batch{id: d.ID, limit: args.Limit}
	for r := range d.Ranks.All() {
		t, err := s.coreOf(r, files[r])
		if err != nil {
			s.up.reply(d.ID, errorGroup(one(r), "core", err))
			continue
		}
		s.addOther(r)
		b.add(t, protocol.Started{Program: t.Program, Core: true})
	}
	s.handOver(b, "", d, &args)
}

// coreOf checks the core file of a rank.
func (s *Server) coreOf(r rank.ID, c protocol.Core) (backend.Target, error) {
	t := backend.Target{Rank: r, Program: c.Program, Core: c.File}
	if err := s.isFree(r); err != nil {
		return t, err
	}
	switch {
	case c.File == "" || c.Program == "":
		return t, &protocol.Fault{Kind: protocol.FaultUsage, Message: "no core file, or no program, is named for the rank"}
	case s.cfg.Forker == nil:
		return t, &protocol.Fault{Kind: protocol.FaultLaunch, Message: "simulated ranks have no core files"}
	}
	if err := launch.CheckCore(c.File); err != nil {
		return t, &protocol.Fault{Kind: protocol.FaultLaunch, Message: fmt.Sprintf("%s on %s", err, s.cfg.Host)}
	}
	return t, nil
}
