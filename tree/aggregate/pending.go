// Events and output that wait to be sent up.

package aggregate

import (
	"slices"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Pending is an ordered list of events and output that wait to be sent up. The zero
// value is empty. It is not safe for concurrent use.
//
// A group is merged with the earliest equal group that comes after all groups with
// a rank of its own. So the groups of one rank keep their order, and none is lost:
//
//	0: "tick" 0-3   rank 4 says "tick": merged with 0
//	1: "tock" 0-3   rank 3 says "tick": merged with 2, not with 0
//	2: "tick" 0-2   rank 2 says "tick": appended as 3
//
// A group of KindRunning is inserted as far to the front as this order allows.
// Otherwise it would separate stops that occurred before it from equal stops that
// follow it:
//
//	0: "stopped" 0-3   ranks 4-7 run: inserted before 0; rank 4 stops: merged with 1
//
// The search costs some nanoseconds for each group in the list. The owner bounds
// the list (Len, Bytes) with Take.
type Pending struct {
	groups    []protocol.Group
	summaries []summary // one for each group
	bytes     int
	hash      hasher
}

// summary is compared before the group itself.
type summary struct {
	hash        uint64 // 0 while the list has one group only
	first, last rank.ID
}

// groupCost is the size of a group in Bytes without its body: approximately the size of its
// envelope in a packet.
const groupCost = 32

// Len returns the number of groups.
func (p *Pending) Len() int { return len(p.groups) }

// Bytes returns the approximate size of the list in a packet, without columns.
func (p *Pending) Bytes() int { return p.bytes }

// Add adds a group. It is kept, not copied.
func (p *Pending) Add(g protocol.Group) {
	if g.Ranks.IsEmpty() {
		return
	}
	m := p.summarize(&g)
	i, after := p.place(m, &g)
	if i >= 0 {
		merge(&p.groups[i], &g)
		p.summaries[i].first = min(p.summaries[i].first, m.first)
		p.summaries[i].last = max(p.summaries[i].last, m.last)
		return
	}
	if g.Kind != protocol.KindRunning {
		after = len(p.groups)
	}
	p.groups = slices.Insert(p.groups, after, g)
	p.summaries = slices.Insert(p.summaries, after, m)
	p.bytes += len(g.Body) + groupCost
}

// summarize returns the summary of a new group. The first group of the list is hashed only
// when there is a second.
func (p *Pending) summarize(g *protocol.Group) (m summary) {
	m.first, _ = g.Ranks.Min()
	m.last, _ = g.Ranks.Max()
	if len(p.groups) == 0 {
		return m
	}
	if len(p.groups) == 1 && p.summaries[0].hash == 0 {
		p.summaries[0].hash = p.hash.sum(&p.groups[0])
	}
	m.hash = p.hash.sum(g)
	return m
}

// place returns the index of the group that g is merged with, or -1, and the index
// from which the list has no rank of g.
func (p *Pending) place(m summary, g *protocol.Group) (found, after int) {
	found = -1
	for i := len(p.summaries) - 1; i >= 0; i-- {
		at := &p.summaries[i]
		if at.first <= m.last && m.first <= at.last && p.groups[i].Ranks.Intersects(g.Ranks) {
			return found, i + 1
		}
		if at.hash == m.hash && equal(&p.groups[i], g) {
			found = i
		}
	}
	return found, 0
}

// Take returns the list, in order, and empties it. It returns nil if the list is
// empty.
func (p *Pending) Take() []protocol.Group {
	groups := p.groups
	p.groups, p.summaries, p.bytes = nil, p.summaries[:0], 0
	return groups
}
