// Stack trees of the same ranks at several times.

package protocol

import "sdm/protocol/rank"

// Overlay joins two trees of the same threads at two times: whoever was at a
// node in one of them is there. Threads do not add up: a node has as many as it
// had at most. It is associative and commutative; nil is the empty tree.
func (s *Stack) Overlay(t *Stack) *Stack {
	if s == nil || t == nil {
		return s.Merge(t)
	}
	return &Stack{roots: overlaid(s.roots, t.roots)}
}

func overlaid(a, b []*StackNode) []*StackNode {
	return pairwise(a, b, func(n, m *StackNode) *StackNode {
		return &StackNode{
			Frame: n.Frame, Ranks: n.Ranks.Union(m.Ranks), Threads: max(n.Threads, m.Threads),
			children: overlaid(n.children, m.children),
		}
	})
}

// Moved gives the ranks that are not at the same nodes in both trees. How many
// threads of a rank are at a node is not looked at.
func (s *Stack) Moved(t *Stack) rank.Set {
	return moved(s.top(), t.top())
}

func (s *Stack) top() []*StackNode {
	if s == nil {
		return nil
	}
	return s.roots
}

func moved(a, b []*StackNode) rank.Set {
	var out rank.Set
	for len(a) > 0 || len(b) > 0 {
		order := 0
		switch {
		case len(b) == 0:
			order = -1
		case len(a) == 0:
			order = 1
		default:
			order = a[0].Frame.compare(&b[0].Frame)
		}
		switch {
		case order < 0:
			out, a = out.Union(a[0].Ranks), a[1:]
		case order > 0:
			out, b = out.Union(b[0].Ranks), b[1:]
		default:
			out = out.Union(a[0].Ranks.Xor(b[0].Ranks)).Union(moved(a[0].children, b[0].children))
			a, b = a[1:], b[1:]
		}
	}
	return out
}

// Only gives the tree of some of the ranks. Which threads at a node are theirs is
// not known where others are there too: they have one each then.
func (s *Stack) Only(ranks rank.Set) *Stack {
	return &Stack{roots: only(s.top(), ranks)}
}

func only(nodes []*StackNode, ranks rank.Set) []*StackNode {
	var out []*StackNode
	for _, n := range nodes {
		common := n.Ranks.Intersect(ranks)
		switch {
		case common.IsEmpty():
		case common.Equal(n.Ranks):
			out = append(out, n)
		default:
			out = append(out, &StackNode{Frame: n.Frame, Ranks: common, Threads: common.Len(), children: only(n.children, common)})
		}
	}
	return out
}
