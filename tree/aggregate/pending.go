// What ranks do unasked, waiting to go up.

package aggregate

import (
	"slices"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Pending is a list of events and output that wait to go up, in order. The zero
// value is empty. It is not safe for concurrent use.
//
// A group joins the earliest equal one behind the last that has a rank of its
// own, so that for one rank nothing is overtaken and nothing is lost:
//
//	0: "tick" 0-3   rank 4 says "tick": joins 0
//	1: "tock" 0-3   rank 3 says "tick": joins 2, not 0
//	2: "tick" 0-2   rank 2 says "tick": comes behind, as 3
//
// That ranks run goes as far to the front as it may, so that it stands not between
// others that have stopped before and what it lets stop:
//
//	0: "stopped" 0-3   ranks 4-7 run: comes before 0; rank 4 has stopped: joins 1
//
// Looking for that place costs some nanoseconds for each group in the list: the
// owner bounds the list (Len, Bytes) by taking it away.
type Pending struct {
	groups []protocol.Group
	marks  []mark // one for each group
	bytes  int
	hash   hasher
}

// mark is what is looked at before the group itself.
type mark struct {
	hash        uint64 // not set while the group is alone
	first, last rank.ID
}

// groupCost is what a group counts in Bytes besides its body: about what its
// envelope costs on the wire.
const groupCost = 32

// Len counts the groups in the list.
func (p *Pending) Len() int { return len(p.groups) }

// Bytes is about what the list will cost on the wire, without its columns.
func (p *Pending) Bytes() int { return p.bytes }

// Add takes in one group. It is kept, not copied.
func (p *Pending) Add(g protocol.Group) {
	if g.Ranks.IsEmpty() {
		return
	}
	m := p.mark(&g)
	i, behind := p.place(m, &g)
	if i >= 0 {
		merge(&p.groups[i], &g)
		p.marks[i].first = min(p.marks[i].first, m.first)
		p.marks[i].last = max(p.marks[i].last, m.last)
		return
	}
	if g.Kind != protocol.KindRunning {
		behind = len(p.groups)
	}
	p.groups = slices.Insert(p.groups, behind, g)
	p.marks = slices.Insert(p.marks, behind, m)
	p.bytes += len(g.Body) + groupCost
}

// mark makes the mark of a group that is to be added. The first in the list is
// hashed only when there is a second.
func (p *Pending) mark(g *protocol.Group) (m mark) {
	m.first, _ = g.Ranks.Min()
	m.last, _ = g.Ranks.Max()
	if len(p.groups) == 0 {
		return m
	}
	if len(p.groups) == 1 && p.marks[0].hash == 0 {
		p.marks[0].hash = p.hash.sum(&p.groups[0])
	}
	m.hash = p.hash.sum(g)
	return m
}

// place gives the group that g joins, or -1, and where the list is free of g's ranks:
// from there to the end.
func (p *Pending) place(m mark, g *protocol.Group) (found, behind int) {
	found = -1
	for i := len(p.marks) - 1; i >= 0; i-- {
		at := &p.marks[i]
		if at.first <= m.last && m.first <= at.last && p.groups[i].Ranks.Intersects(g.Ranks) {
			return found, i + 1
		}
		if at.hash == m.hash && equal(&p.groups[i], g) {
			found = i
		}
	}
	return found, 0
}

// Take hands over the list, in order, and leaves it empty. It gives nil when
// there is nothing.
func (p *Pending) Take() []protocol.Group {
	groups := p.groups
	p.groups, p.marks, p.bytes = nil, p.marks[:0], 0
	return groups
}
