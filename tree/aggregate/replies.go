// Answers to one request.

package aggregate

import (
	"slices"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Replies merges the answers to one request and records which ranks still owe one.
// The zero value expects none. It is not safe for concurrent use.
//
// A rank owes an answer until its first one; a second one is ignored. An excused
// rank still owes its answer but is not waited for.
type Replies struct {
	owed    rank.Set // requested and not answered
	excused rank.Set // late ranks: not waited for; may have answered since
	groups  []protocol.Group
	carries []carry        // by group: equal groups to be merged with it; may be shorter than groups
	hashes  []uint64       // by group; empty while there is only one
	index   map[uint64]int // groups by hash, with linear probing; nil while there are few
	hash    hasher
}

// few is the number of groups up to which a linear search is faster than a map.
const few = 8

// Expect adds ranks that owe an answer.
func (r *Replies) Expect(ranks rank.Set) { r.owed = r.owed.Union(ranks) }

// Excuse records that ranks are late, as a vertex below has reported. They are not
// waited for any more, but may still answer.
func (r *Replies) Excuse(ranks rank.Set) {
	r.excused = r.excused.Union(ranks.Intersect(r.owed))
}

// Await reverts Excuse.
func (r *Replies) Await(ranks rank.Set) { r.excused = r.excused.Minus(ranks) }

// Release removes ranks that owe an answer.
func (r *Replies) Release(ranks rank.Set) { r.owed = r.owed.Minus(ranks) }

// Owed returns the ranks that owe an answer.
func (r *Replies) Owed() rank.Set { return r.owed }

// Complete reports whether no rank owes an answer.
func (r *Replies) Complete() bool { return r.owed.IsEmpty() }

// Waiting reports whether a rank that is not excused owes an answer.
func (r *Replies) Waiting() bool {
	if r.excused.IsEmpty() {
		return !r.owed.IsEmpty()
	}
	return !r.owed.Minus(r.excused).IsEmpty()
}

// Add adds the answer of the ranks of g that owe one, and reports whether there are
// any. The group is kept, not copied.
//
// If only some of its ranks owe an answer, the columns still contain the values of
// all: a summary cannot be restricted to ranks. Only a faulty neighbour causes
// this.
func (r *Replies) Add(g protocol.Group) bool {
	if g.Ranks.IsEmpty() {
		return false
	}
	if g.Ranks.Equal(r.owed) {
		r.owed = rank.Set{}
	} else {
		g.Ranks = g.Ranks.Intersect(r.owed)
		if g.Ranks.IsEmpty() {
			return false
		}
		r.owed = r.owed.Minus(g.Ranks)
	}
	r.mergeOrAppend(g)
	return true
}

// mergeOrAppend merges a group with an equal one, or appends it.
func (r *Replies) mergeOrAppend(g protocol.Group) {
	if len(r.groups) == 0 {
		r.groups = append(r.groups, g)
		return
	}
	if len(r.groups) == 1 && len(r.hashes) == 0 {
		r.hashes = append(r.hashes, r.hash.sum(&r.groups[0]))
	}
	h := r.hash.sum(&g)
	if i := r.find(h, &g); i >= 0 {
		r.join(i, &g)
		return
	}
	r.groups = append(r.groups, g)
	r.hashes = append(r.hashes, h)
	r.enter(h, len(r.groups)-1)
}

// join merges g with group i: at once if it has only ranks, else later.
func (r *Replies) join(i int, g *protocol.Group) {
	if len(g.Columns) == 0 && g.Stack == nil && g.Waits == nil {
		merge(&r.groups[i], g)
		return
	}
	if i >= len(r.carries) {
		r.carries = append(r.carries, make([]carry, len(r.groups)-len(r.carries))...)
	}
	r.carries[i].add(g)
}

// find returns the index of the equal group, or -1.
func (r *Replies) find(h uint64, g *protocol.Group) int {
	if r.index == nil {
		for i, other := range r.hashes {
			if other == h && equal(&r.groups[i], g) {
				return i
			}
		}
		return -1
	}
	for {
		i, ok := r.index[h]
		if !ok {
			return -1
		}
		if equal(&r.groups[i], g) {
			return i
		}
		h++ // the entry belongs to another group
	}
}

// enter adds group i to the index, once there are more than few.
func (r *Replies) enter(h uint64, i int) {
	if r.index == nil {
		if len(r.groups) <= few {
			return
		}
		r.index = make(map[uint64]int, 4*few)
		for j, other := range r.hashes[:i] {
			r.enter(other, j)
		}
	}
	for {
		if _, taken := r.index[h]; !taken {
			r.index[h] = i
			return
		}
		h++
	}
}

// Take returns the groups merged so far, ordered by lowest rank; no two have a rank
// in common, so the order is unique. The owed ranks do not change. It returns nil
// if there is no group.
func (r *Replies) Take() []protocol.Group {
	for i := range r.carries {
		r.carries[i].mergeInto(&r.groups[i])
	}
	groups := r.groups
	r.groups, r.carries, r.hashes, r.index = nil, nil, r.hashes[:0], nil
	Sort(groups)
	return groups
}

// Sort orders groups by lowest rank.
func Sort(groups []protocol.Group) {
	if len(groups) < 2 {
		return
	}
	slices.SortFunc(groups, func(a, b protocol.Group) int {
		x, _ := a.Ranks.Min()
		y, _ := b.Ranks.Min()
		return int(x - y)
	})
}
