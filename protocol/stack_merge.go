// Joining two stack trees.

package protocol

import (
	"slices"

	"sdm/protocol/rank"
)

// Merge joins two trees; neither argument is changed; nil is the empty tree. It
// is associative and commutative to the byte of AppendWire. Threads add up, so
// no thread may be in both.
func (s *Stack) Merge(t *Stack) *Stack {
	return s.join(t, func(n, m int) int { return n + m })
}

// Overlay joins two trees of the same threads at two times: whoever was at a
// node in one of them is there. Threads do not add up: a node has as many as it
// had at most. It is associative and commutative; nil is the empty tree.
func (s *Stack) Overlay(t *Stack) *Stack {
	return s.join(t, func(n, m int) int { return max(n, m) })
}

func (s *Stack) join(t *Stack, threads func(n, m int) int) *Stack {
	switch {
	case s == nil || t != nil && len(s.nodes) == 0:
		return t
	case t == nil || len(t.nodes) == 0:
		return s
	}
	j := joiner{s: s.nodes, t: t.nodes, threads: threads}
	most := max(len(s.nodes), len(t.nodes))
	if j.frames, j.ofS, j.ofT = joinFrames(s.frames, t.frames); j.ofS != nil {
		most = len(s.nodes) + len(t.nodes)
	}
	j.nodes = make([]stackNode, 0, most)
	j.siblings(extent{0, len(s.nodes)}, extent{0, len(t.nodes)}, nil, nil, rank.Set{})
	return &Stack{j.frames, j.nodes}
}

// joinFrames joins two lists of frames, and tells which number each has got; nil
// where all numbers have stayed as they are.
func joinFrames(a, b []*StackFrame) (out []*StackFrame, ofA, ofB []uint32) {
	if slices.EqualFunc(a, b, func(f, g *StackFrame) bool { return f == g || *f == *g }) {
		return a, nil, nil
	}
	numbers := make([]uint32, len(a)+len(b))
	ofA, ofB = numbers[:len(a)], numbers[len(a):]
	out = make([]*StackFrame, 0, len(a)+len(b))
	for i, j := 0, 0; i < len(a) || j < len(b); {
		order := 0
		switch {
		case i == len(a):
			order = 1
		case j == len(b):
			order = -1
		default:
			order = a[i].compare(b[j])
		}
		number := uint32(len(out))
		if order <= 0 {
			out = append(out, a[i])
			ofA[i] = number
			i++
		} else {
			out = append(out, b[j])
		}
		if order >= 0 {
			ofB[j] = number
			j++
		}
	}
	return out, ofA, ofB
}

// joiner joins the nodes of two trees. Numbers of its frames are those of ofS and
// ofT; nil: the same as in the tree.
type joiner struct {
	treeBuilder
	s, t     []stackNode
	ofS, ofT []uint32
	threads  func(n, m int) int // of a node that is in both
}

// extent is some siblings with all that is below them.
type extent struct{ at, end int }

func renumbered(frame uint32, to []uint32) uint32 {
	if to == nil {
		return frame
	}
	return to[frame]
}

// siblings joins siblings of both trees; x and y are their parents, which have
// become one with the ranks above; nil: there are none.
func (j *joiner) siblings(a, b extent, x, y *stackNode, above rank.Set) {
	for a.at < a.end && b.at < b.end {
		n, m := &j.s[a.at], &j.t[b.at]
		f, g := renumbered(n.frame, j.ofS), renumbered(m.frame, j.ofT)
		if f < g {
			j.copy(j.s[a.at:n.end], a.at, j.ofS)
		}
		if f > g {
			j.copy(j.t[b.at:m.end], b.at, j.ofT)
		}
		if f == g {
			ranks := above
			if x == nil || !n.ranks.Is(x.ranks) || !m.ranks.Is(y.ranks) {
				ranks = n.ranks.Union(m.ranks)
			}
			at := j.open(f, ranks, j.threads(n.threads, m.threads))
			j.siblings(extent{a.at + 1, int(n.end)}, extent{b.at + 1, int(m.end)}, n, m, ranks)
			j.close(at)
		}
		if f <= g {
			a.at = int(n.end)
		}
		if f >= g {
			b.at = int(m.end)
		}
	}
	j.copy(j.s[a.at:a.end], a.at, j.ofS)
	j.copy(j.t[b.at:b.end], b.at, j.ofT)
}

// Moved gives the ranks that are not at the same nodes in both trees. How many
// threads of a rank are at a node is not looked at.
func (s *Stack) Moved(t *Stack) rank.Set {
	var d differ
	d.framesS, d.s = s.top()
	d.framesT, d.t = t.top()
	d.siblings(extent{0, len(d.s)}, extent{0, len(d.t)})
	return d.moved
}

// differ looks for the ranks that are at a node of one tree only.
type differ struct {
	framesS, framesT []*StackFrame
	s, t             []stackNode
	moved            rank.Set
}

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
		below, beside := a, b
		if order <= 0 {
			n := &d.s[a.at]
			left, below, a.at = n.ranks, extent{a.at + 1, int(n.end)}, int(n.end)
		}
		if order >= 0 {
			m := &d.t[b.at]
			right, beside, b.at = m.ranks, extent{b.at + 1, int(m.end)}, int(m.end)
		}
		d.moved = d.moved.Union(left.Xor(right))
		if order == 0 {
			d.siblings(below, beside)
		}
	}
}
