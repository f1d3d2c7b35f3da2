// The K-ary tree, numbered in preorder: the vertices below v are split into K parts
// of equal size, or, if that is not possible, the first ones are larger by one. No
// tree of the same size with at most K children for each vertex has a smaller
// height. The flat tree is a K-ary tree with K large enough.

package topology

// place is the position of a vertex in a K-ary tree.
type place struct {
	parent NodeID
	depth  int
	count  int // size of its subtree
}

// descend walks from the root to v.
func (s Shape) descend(v NodeID) place {
	at, p := NodeID(0), place{count: s.size + 1}
	for at != v {
		p.parent, p.depth = at, p.depth+1
		at, p.count = s.childSubtree(at+1, p.count-1, v)
	}
	return p
}

// childSubtree divides count vertices from first on into the subtrees of siblings, and
// returns the first vertex and the size of the one that contains v.
func (s Shape) childSubtree(first NodeID, count int, v NodeID) (NodeID, int) {
	small, larger := count/s.arity, NodeID(count%s.arity)
	large := NodeID(small + 1)
	if i := (v - first) / large; i < larger {
		return first + i*large, small + 1
	}
	first += larger * large // small is not 0, because v is in one of the smaller parts
	i := (v - first) / NodeID(small)
	return first + i*NodeID(small), small
}

// childSubtrees returns the first vertex of each subtree below v: its children.
func (s Shape) childSubtrees(v NodeID) []NodeID {
	count := s.descend(v).count - 1
	list := make([]NodeID, 0, min(count, s.arity))
	for next, last := v+1, v+NodeID(count); next <= last; {
		list = append(list, next)
		_, size := s.childSubtree(v+1, count, next)
		next += NodeID(size)
	}
	return list
}
