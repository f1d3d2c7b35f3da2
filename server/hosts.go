package server

import (
	"strconv"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
)

// hosts says what the engine is, and which processes the ranks are. The master
// knows the rest of "info hosts". It runs in the lane.
func (s *Server) hosts(d tree.Deliver, args protocol.Args) {
	engine := ""
	if s.cfg.Engine != nil {
		engine = s.cfg.Engine()
	}
	type row struct {
		ranks []rank.ID
		pids  []protocol.ValueCount
	}
	rows, programs := map[string]*row{}, []string(nil)
	for r := range d.Ranks.All() {
		program, pid := "", 0
		if p := s.find(r); p != nil {
			program, pid = p.program, p.pid
		}
		if rows[program] == nil {
			rows[program], programs = &row{}, append(programs, program)
		}
		one := rows[program]
		one.ranks = append(one.ranks, r)
		if pid > 0 {
			one.pids = append(one.pids, protocol.ValueCount{Value: strconv.Itoa(pid), Ranks: rank.Of(r)})
		}
	}
	groups := make([]protocol.Group, 0, len(programs))
	for _, program := range programs {
		g := protocol.Group{Kind: protocol.KindResult, Ranks: rank.Of(rows[program].ranks...),
			Body: protocol.Canonical(protocol.HostInfo{Engine: engine, Program: program})}
		if pids := rows[program].pids; len(pids) > 0 {
			g.Columns = []protocol.Column{protocol.ColumnOfValues("pid", pids, args.Limit)}
		}
		groups = append(groups, g)
	}
	s.up.reply(d.ID, groups...)
}
