// Merging of two trees.

package stack

import (
	"fmt"

	"sdm/protocol/rank"
)

// Merge merges two trees; it modifies neither; nil is the empty tree. It is
// associative and commutative to the byte of AppendWire. The numbers of threads of a
// rank in both are added, up to decode.MaxCount, so no thread may be in both, unless
// the sum is wanted: the hits of several samples.
func (s *Tree) Merge(t *Tree) *Tree {
	return s.join(t)
}

func (s *Tree) join(t *Tree) *Tree {
	switch {
	case s == nil || t != nil && s.isEmpty():
		return t
	case t.isEmpty():
		return s
	}
	var j joiner
	j.s.Rest, j.t.Rest = s.nodes, t.nodes
	out, room := &Tree{}, max(len(s.nodes), len(t.nodes))*5/4
	if out.count, out.frames = j.joinFrames(s, t); j.s.to != nil {
		room = len(s.nodes) + len(t.nodes)
	}
	j.out = make([]byte, 0, room)
	j.siblings(true, true, false, &entry{}, &entry{}, &entry{})
	if j.s.Err != nil || j.t.Err != nil {
		panic(fmt.Sprintf("stack: a stack tree has become unreadable: %v, %v", j.s.Err, j.t.Err))
	}
	out.nodes = j.out
	return out
}

// joiner merges the nodes of two trees. Its cursors translate the numbers of their frames to
// numbers of the result.
type joiner struct {
	s, t nodeCursor
	out  []byte
}

// joinFrames merges the lists of frames, and sets the translations of the cursors,
// unless no number changes.
func (j *joiner) joinFrames(s, t *Tree) (count int, frames string) {
	if s.frames == t.frames {
		return s.count, s.frames
	}
	numbers := make([]uint32, s.count+t.count)
	j.s.to, j.t.to = numbers[:s.count], numbers[s.count:]
	out := make([]byte, 0, len(s.frames)+len(t.frames))
	a, b := s.frameCursor(), t.frameCursor()
	var before Frame
	for hasA, hasB := a.next(), b.next(); hasA || hasB; count++ {
		order := 0
		switch {
		case !hasA:
			order = 1
		case !hasB:
			order = -1
		default:
			order = a.now.compare(&b.now)
		}
		f := &a.now
		if order > 0 {
			f = &b.now
		}
		out = f.appendWire(out, &before)
		before = *f
		if order <= 0 {
			j.s.to[s.count-a.left-1] = uint32(count)
			hasA = a.next()
		}
		if order >= 0 {
			j.t.to[t.count-b.left-1] = uint32(count)
			hasB = b.next()
		}
	}
	return count, string(out)
}

// siblings merges siblings; hasS and hasT tell which tree has any. x and y are their
// parents, which were merged to above; disjoint is true if x and y have no common rank.
func (j *joiner) siblings(hasS, hasT, disjoint bool, x, y, above *entry) {
	var n, m, e entry // the next node of each tree, and the merged one
	if hasS {
		n = j.s.next(x)
	}
	if hasT {
		m = j.t.next(y)
	}
	for hasS || hasT {
		ofS := hasS && (!hasT || n.frame <= m.frame)
		ofT := hasT && (!hasS || m.frame <= n.frame)
		alone := disjoint // whether the two nodes have no common rank
		switch {
		case ofS && ofT:
			e = entry{frame: n.frame, ranks: above.ranks, below: n.below || m.below, more: n.more || m.more}
			if !n.ranks.Is(x.ranks) || !m.ranks.Is(y.ranks) {
				e.ranks = n.ranks.Union(m.ranks)
			}
			if alone = disjoint || !n.ranks.Intersects(m.ranks); alone {
				e.threads = n.threads.union(n.ranks, m.threads, m.ranks)
			} else {
				e.threads = n.threads.plus(n.ranks, m.threads, m.ranks)
			}
		case ofS:
			e = n
			e.more = n.more || hasT
		default:
			e = m
			e.more = m.more || hasS
		}
		j.out = e.appendWire(j.out, above)
		if e.below {
			j.siblings(ofS && n.below, ofT && m.below, alone, &n, &m, &e)
		}
		if ofS {
			if hasS = n.more; hasS {
				n = j.s.next(x)
			}
		}
		if ofT {
			if hasT = m.more; hasT {
				m = j.t.next(y)
			}
		}
	}
}

// Moved returns the ranks that are not at the same nodes with as many threads in both
// trees.
func (s *Tree) Moved(t *Tree) rank.Set {
	var d differ
	d.framesS, d.s = s.split()
	d.framesT, d.t = t.split()
	d.siblings(extent{0, len(d.s)}, extent{0, len(d.t)})
	return d.moved
}

// differ finds the ranks that are at a node of one tree only, or have different numbers
// of threads there.
type differ struct {
	framesS, framesT []*Frame
	s, t             []node
	moved            rank.Set
}

// extent is a list of siblings with their subtrees: the nodes from at to end.
type extent struct{ at, end int }

// siblings compares siblings of both trees.
func (d *differ) siblings(a, b extent) {
	for a.at < a.end || b.at < b.end {
		order := 0
		switch {
		case b.at == b.end:
			order = -1
		case a.at == a.end:
			order = 1
		default:
			order = d.framesS[d.s[a.at].frame].compare(d.framesT[d.t[b.at].frame])
		}
		var left, right rank.Set
		var was, now counts
		below, beside := a, b
		if order <= 0 {
			n := &d.s[a.at]
			left, was, below, a.at = n.ranks, n.threads, extent{a.at + 1, int(n.end)}, int(n.end)
		}
		if order >= 0 {
			m := &d.t[b.at]
			right, now, beside, b.at = m.ranks, m.threads, extent{b.at + 1, int(m.end)}, int(m.end)
		}
		d.moved = d.moved.Union(left.Xor(right))
		if order == 0 {
			d.moved = d.moved.Union(was.differing(left, now, right))
			d.siblings(below, beside)
		}
	}
}
