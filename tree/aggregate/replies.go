// Answers to one request.

package aggregate

import (
	"slices"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Replies folds the answers to one request and knows who still owes one. The
// zero value expects nobody. It is not safe for concurrent use.
//
// A rank that was asked is owed until its first answer; a second one is not
// taken in. An excused rank is owed too, but nobody waits for it any more.
type Replies struct {
	owed    rank.Set // asked and not answered
	excused rank.Set // of these, or answered since: not waited for
	groups  []protocol.Group
	carries []carry        // of groups: what is to be joined to each; may be shorter
	hashes  []uint64       // of groups; empty as long as there is only one
	index   map[uint64]int // of groups by hash, or the next free number; nil while few
	hash    hasher
}

// few is how many groups are found faster by looking at each hash than in a map.
const few = 8

// Expect adds ranks to those that owe an answer.
func (r *Replies) Expect(ranks rank.Set) { r.owed = r.owed.Union(ranks) }

// Excuse tells that nobody waits for these ranks any longer: somebody below said
// that they are late. They may still answer.
func (r *Replies) Excuse(ranks rank.Set) {
	r.excused = r.excused.Union(ranks.Intersect(r.owed))
}

// Await takes back an excuse: these ranks are waited for again.
func (r *Replies) Await(ranks rank.Set) { r.excused = r.excused.Minus(ranks) }

// Release takes ranks out of those that owe an answer, without one.
func (r *Replies) Release(ranks rank.Set) { r.owed = r.owed.Minus(ranks) }

// Owed gives the ranks that were asked and have not answered.
func (r *Replies) Owed() rank.Set { return r.owed }

// Complete tells whether all that were asked have answered.
func (r *Replies) Complete() bool { return r.owed.IsEmpty() }

// Waiting tells whether somebody owes an answer who is not excused.
func (r *Replies) Waiting() bool {
	if r.excused.IsEmpty() {
		return !r.owed.IsEmpty()
	}
	return !r.owed.Minus(r.excused).IsEmpty()
}

// Add takes in the answer of the ranks of g that owe one, and tells whether there
// are any. The group is kept, not copied.
//
// When only some of its ranks are new, the columns still hold the values of all:
// a summary cannot be cut by rank. It takes a broken neighbour to come to that.
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
	r.fold(g)
	return true
}

// fold joins a group to its equal, or puts it behind the others.
func (r *Replies) fold(g protocol.Group) {
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

// join joins g to group i, at once when it carries nothing but its ranks.
func (r *Replies) join(i int, g *protocol.Group) {
	if len(g.Columns) == 0 && g.Stack == nil {
		merge(&r.groups[i], g)
		return
	}
	if i >= len(r.carries) {
		r.carries = append(r.carries, make([]carry, len(r.groups)-len(r.carries))...)
	}
	r.carries[i].add(g)
}

// find gives the group that is equal, or -1.
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
		h++ // taken by another group with this hash
	}
}

// enter makes group i known under its hash, once there is more than a few.
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

// Take hands over the groups folded so far, those with the lowest rank first; no
// two have a rank in common, so that no other order is possible. Who owes an
// answer stays as it is. It gives nil when there is nothing.
func (r *Replies) Take() []protocol.Group {
	for i := range r.carries {
		r.carries[i].settle(&r.groups[i])
	}
	groups := r.groups
	r.groups, r.carries, r.hashes, r.index = nil, nil, r.hashes[:0], nil
	Sort(groups)
	return groups
}

// Sort puts groups in the order of their lowest ranks.
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
