// Splitting of a flush into two packets: events and unrelated output. On a
// congested link a packet of events may overtake one of output (package sendqueue).

package tree

import (
	"sdm/protocol"
	"sdm/protocol/rank"
)

// bundle is one of the two packets: groups and their marks.
type bundle struct {
	groups []protocol.Group
	marks  map[protocol.ServerID]uint64
}

// maxClosure bounds the iterations of closure. Output lines that are equal for many
// ranks connect these ranks, so more iterations would soon include all ranks.
const maxClosure = 4

// splitUrgent splits a list: urgent contains the events and all output of their ranks,
// rest the output of other ranks. The numbered events of one server stay together,
// so that the mark of each packet is correct. ok is false if there is nothing to
// split, or if a server is lost: the loss has a number of another server than the server of its
// ranks.
func (u *upstream) splitUrgent(groups []protocol.Group, below *subtree) (urgent, rest bundle, ok bool) {
	about, outputs := rank.Set{}, 0
	for i := range groups {
		switch g := &groups[i]; {
		case g.Kind.IsOutput():
			outputs++
		case g.Kind == protocol.KindLost:
			return urgent, rest, false
		default:
			about = about.Union(g.Ranks)
		}
	}
	if outputs == 0 || outputs == len(groups) || !u.gone.IsEmpty() {
		return urgent, rest, false
	}
	about, ok = u.closure(about, groups, below)
	if !ok {
		return urgent, rest, false
	}
	for i := range groups {
		if groups[i].Ranks.Intersects(about) {
			urgent.groups = append(urgent.groups, groups[i])
		} else {
			rest.groups = append(rest.groups, groups[i])
		}
	}
	urgent.marks, rest.marks = make(map[protocol.ServerID]uint64), make(map[protocol.ServerID]uint64)
	for s, last := range u.marks {
		if below.routeOf(s).Ranks.Intersects(about) {
			urgent.marks[s] = last
		} else {
			rest.marks[s] = last
		}
	}
	return urgent, rest, len(rest.groups) > 0
}

// closure extends a set by all ranks that share a group, or a server with numbered
// events, with a rank of the set, until nothing is added. It fails after maxClosure
// iterations.
func (u *upstream) closure(about rank.Set, groups []protocol.Group, below *subtree) (rank.Set, bool) {
	for range maxClosure {
		before, more := about.Len(), about
		for s := range u.marks { // the order does not matter: about is not changed here
			if ranks := below.routeOf(s).Ranks; ranks.Intersects(about) {
				more = more.Union(ranks)
			}
		}
		about = more
		for i := range groups {
			if groups[i].Ranks.Intersects(about) {
				about = about.Union(groups[i].Ranks)
			}
		}
		if about.Len() == before {
			return about, true
		}
	}
	return about, false
}
