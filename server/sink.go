// What the back end reports.

package server

import (
	"slices"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// sink receives the replies and events of the back end: it is a backend.Sink. None of its methods
// blocks.
type sink struct{ s *Server }

// Reply keeps answers for expand and passes them on. It kills a rank that this server started for
// the request but that could not be brought under control.
func (k sink) Reply(id protocol.RequestID, groups ...protocol.Group) {
	if !id.IsInternal() {
		k.s.mu.Lock()
		k.s.history.add(id, groups)
		k.s.mu.Unlock()
	}
	for _, g := range groups {
		switch {
		case g.Kind == protocol.KindFault && id == releaseID:
			k.s.left(g.Ranks)
		case g.Kind == protocol.KindFault:
			k.killRefused(id, g.Ranks)
		}
	}
	k.s.up.reply(id, limited(groups)...)
}

// limited returns groups with each column cut to the values that it may keep. The history has all
// of them.
func limited(groups []protocol.Group) []protocol.Group {
	out := groups
	for i, g := range groups {
		for j, c := range g.Columns {
			if f := c.Limited(); f.Complete() != c.Complete() {
				if &out[0] == &groups[0] {
					out = slices.Clone(groups)
				}
				if &out[i].Columns[0] == &g.Columns[0] {
					out[i].Columns = slices.Clone(g.Columns)
				}
				out[i].Columns[j] = f
			}
		}
	}
	return out
}

// killRefused kills the ranks that this server started for a request which failed.
func (k sink) killRefused(id protocol.RequestID, ranks rank.Set) {
	for r := range ranks.All() {
		if p := k.s.find(r); p != nil && p.launch == id {
			p.kill()
		}
	}
}

// Event passes events on, after all output that the ranks wrote before. The end of a restarted
// rank is not reported.
func (k sink) Event(groups ...protocol.Group) {
	reported := k.withoutSilentEnds(groups) // before the ranks can have a new process
	for _, g := range groups {
		if g.Kind == protocol.KindStopped || g.Kind.IsEnd() {
			k.passOutputBefore(g)
		}
	}
	if len(reported) > 0 {
		k.s.up.events(reported...)
	}
	for _, g := range groups {
		if g.Kind.IsEnd() {
			k.s.left(g.Ranks)
		}
	}
}

func (k sink) withoutSilentEnds(groups []protocol.Group) []protocol.Group {
	reported := groups
	for i, g := range groups {
		if silent := k.silentEnds(g); !silent.IsEmpty() {
			if &reported[0] == &groups[0] {
				reported = slices.Clone(groups)
			}
			reported[i].Ranks = g.Ranks.Minus(silent)
		}
	}
	if len(groups) > 0 && &reported[0] != &groups[0] {
		reported = slices.DeleteFunc(reported, func(g protocol.Group) bool { return g.Ranks.IsEmpty() })
	}
	return reported
}

// silentEnds returns the ranks of a group whose end is not reported, because they are restarted.
func (k sink) silentEnds(g protocol.Group) rank.Set {
	var ranks rank.Set
	if !g.Kind.IsEnd() {
		return ranks
	}
	for r := range g.Ranks.All() {
		if p := k.s.find(r); p != nil && p.endsSilently() {
			ranks = ranks.Union(one(r))
		}
	}
	return ranks
}

// passOutputBefore passes on the output that ranks have written before they stopped or ended.
func (k sink) passOutputBefore(g protocol.Group) {
	k.s.mu.Lock()
	if g.Kind.IsEnd() {
		k.s.others.end(g.Ranks)
	}
	ours := len(k.s.processes) > 0
	k.s.mu.Unlock()
	if !ours {
		return
	}
	for r := range g.Ranks.All() {
		p := k.s.find(r)
		if p == nil {
			continue
		}
		if p.out != nil {
			p.out.drain()
		}
		p.noteEnd(g.Kind)
	}
}
