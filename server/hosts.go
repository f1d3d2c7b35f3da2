// The command "info hosts", and the processes of the ranks.

package server

import (
	"maps"
	"slices"
	"strconv"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/tree"
)

// hosts answers "info hosts" with the name of the debugger and the processes of the ranks. The
// master adds the hosts. It runs in the queue.
func (s *Server) hosts(d tree.Deliver, args protocol.Args) {
	engine := ""
	if s.cfg.Engine != nil {
		engine = s.cfg.Engine()
	}
	rest := d.Ranks
	var groups []protocol.Group
	for _, program := range slices.Sorted(maps.Keys(s.programs)) {
		ranks := s.programs[program].Intersect(d.Ranks)
		if ranks.IsEmpty() {
			continue
		}
		rest = rest.Minus(ranks)
		groups = append(groups, s.hostGroup(ranks, protocol.HostInfo{Engine: engine, Program: program}, args.Limit))
	}
	if !rest.IsEmpty() {
		groups = append(groups, s.hostGroup(rest, protocol.HostInfo{Engine: engine}, args.Limit))
	}
	s.up.reply(d.ID, groups...)
}

func (s *Server) hostGroup(ranks rank.Set, info protocol.HostInfo, limit int) protocol.Group {
	g := protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Body: canonical.JSON(info)}
	var pids []column.ValueCount
	for r := range ranks.All() {
		if pid := s.pidOf(r); pid > 0 {
			pids = append(pids, column.ValueCount{Value: strconv.Itoa(pid), Ranks: rank.Of(r)})
		}
	}
	if len(pids) > 0 {
		g.Columns = []column.Column{column.OfValues("pid", pids, limit)}
	}
	return g
}

// pidOf returns the process ID of a rank, 0 if it has none, or none any more: another process may have
// the number of one that has ended, or that runs detached and is not watched. It runs in the queue.
func (s *Server) pidOf(r rank.ID) int {
	if s.isOver(r) {
		return 0
	}
	if s.cfg.SimulatedPID != nil {
		return s.cfg.SimulatedPID(r)
	}
	return s.pids[r]
}

// isOver reports whether the process of a rank has ended, or may have without being seen.
func (s *Server) isOver(r rank.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.processes[r]
	return s.others.ended.Contains(r) || p != nil && p.isEnded() && !p.runsDetached()
}

// noteTargets records program and process of the ranks that are handed to the back end. It runs in
// the queue.
func (s *Server) noteTargets(targets []backend.Target) {
	byProgram := map[string][]rank.ID{}
	for _, t := range targets {
		byProgram[t.Program] = append(byProgram[t.Program], t.Rank)
		if s.cfg.SimulatedPID == nil {
			s.pids[t.Rank] = t.PID
		}
	}
	for program, ids := range byProgram {
		ranks := rank.Of(ids...)
		for other, have := range s.programs { // a restarted rank may have another program
			if other != program && have.Intersects(ranks) {
				s.programs[other] = have.Minus(ranks)
			}
		}
		s.programs[program] = s.programs[program].Union(ranks)
	}
}
